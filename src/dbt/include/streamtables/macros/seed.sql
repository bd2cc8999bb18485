{# A seed that stays the same table is followed by its changes; one that is made anew is read as a whole. #}
{% macro streamtables__reset_csv_table(model, full_refresh, old_relation, agate_table) %}
  {% set before = adapter.get_columns_in_relation(old_relation) | map(attribute='name') | list %}
  {% if full_refresh or not old_relation.is_delta or before != agate_table.column_names | list %}
    {{ return(spark__reset_csv_table(model, full_refresh, old_relation, agate_table)) }}
  {% endif %}
  {% set sql = 'delete from ' ~ old_relation %}
  {% do run_query(sql) %}
  {{ return(sql) }}
{% endmacro %}
