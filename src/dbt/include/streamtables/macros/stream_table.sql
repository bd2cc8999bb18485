{# What a model reads: every node that is no stream table is a source of the warehouse. #}
{% macro stream_table_inputs() %}
  {% set found = [] %}
  {% for id in model.depends_on.nodes %}
    {% set node = graph.nodes.get(id) or graph.sources.get(id) %}
    {% if node and node.config.get('materialized') not in ('stream_table', 'ephemeral') %}
      {% do found.append({
          'schema': node.schema,
          'identifier': node.get('identifier') or node.get('alias') or node.name,
      }) %}
    {% endif %}
  {% endfor %}
  {{ return(found) }}
{% endmacro %}

{% materialization stream_table, adapter='streamtables' %}
  {%- set target = this.incorporate(type='view') -%}
  {%- set existing = load_cached_relation(this) -%}
  {{ run_hooks(pre_hooks) }}

  {%- set asked = {} -%}
  {%- for key in ('schedule', 'mode', 'full', 'tier', 'options', 'on_schema_change', 'refresh', 'enable_change_feed') -%}
    {%- if config.get(key) is not none -%}{%- do asked.update({key: config.get(key)}) -%}{%- endif -%}
  {%- endfor -%}
  {%- set kept = adapter.keep_stream_table(this, compiled_code, stream_table_inputs(), asked, should_full_refresh()) -%}

  {%- if existing is not none and not existing.is_view -%}
    {%- do adapter.drop_relation(existing) -%}
  {%- endif -%}
  {# Hidden columns stay hidden: readers see the query's. #}
  {%- set shown -%}
    create or replace view {{ target }} as
    select {% for column in kept['columns'] %}{{ adapter.quote(column) }}{{ ', ' if not loop.last }}{% endfor %}
    from delta.`{{ kept['location'] }}`
  {%- endset -%}
  {%- if config.get('refresh', true) -%}
    {%- do run_query(shown) -%}
  {%- endif -%}
  {% do store_raw_result(name='main', message=kept['message'], code='OK', rows_affected=kept['rows']) %}

  {% do persist_docs(target, model) %}
  {{ run_hooks(post_hooks) }}
  {{ return({'relations': [target]}) }}
{% endmaterialization %}
