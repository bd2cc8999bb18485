-- title: an outer join whose right side may match many rows
-- sources: orders(id int, customer int, amount decimal(10,2), price double) key id; customers(id int, region int, name string) key id; regions(id int, name string) key id
SELECT customers.id, name, orders.id AS order_id
FROM customers
LEFT JOIN orders ON customer = customers.id
---- text
output    id int, name string, order_id int
key       id, order_id
kept by   signed rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
reads     customers, orders

plan
  Project id, name, id_2 as order_id  [linear]
    LeftJoin id = customer  [keyed]
      Scan customers (id, name)  [linear]
      Scan orders (id as id_2, customer)  [linear]

joins
  LeftJoin id = customer: keyed, 3 terms when every table changes
    changed left rows, and touched ones with their answers after and before
    customers  one row by id
    orders     rows by customer

cost of a change
  customers  O(changed rows × matches)  "LeftJoin id = customer" may match many rows
  orders     O(changed rows × matches)  rows of the left side that "LeftJoin id = customer" matches are answered again

thresholds
  part3_max_scan_count  1 of 60  within  no statement is split for its width
---- data
tables: ["customers", "orders"]
incremental: true
output:
  {"name": "id", "type": "int"}
  {"name": "name", "type": "string"}
  {"name": "order_id", "type": "int"}
key: ["id", "order_id"]
refusals: []
notes: []
columns_read: {"customers": ["id", "name"], "orders": ["id", "customer"]}
operators:
  {"operator": "Project", "kind": "linear", "detail": "id, name, id_2 as order_id", "depth": 0}
  {"operator": "LeftJoin", "kind": "keyed", "detail": "id = customer", "depth": 1}
  {"operator": "Scan", "kind": "linear", "detail": "customers (id, name)", "depth": 2}
  {"operator": "Scan", "kind": "linear", "detail": "orders (id as id_2, customer)", "depth": 2}
joins:
  {"operator": "LeftJoin", "condition": "id = customer", "way": "keyed", "terms": 3, "reason": "changed left rows, and touched ones with their answers after and before", "inputs": [{"name": "customers", "met": "one row by id"}, {"name": "orders", "met": "rows by customer"}]}
aggregates: []
complexity:
  {"source": "customers", "class": "O(changed rows × matches)", "reason": "\"LeftJoin id = customer\" may match many rows"}
  {"source": "orders", "class": "O(changed rows × matches)", "reason": "rows of the left side that \"LeftJoin id = customer\" matches are answered again"}
thresholds:
  {"name": "deep_join_l0_scan_threshold", "limit": 8, "value": 0, "effect": "tables before a change are taken as after minus changes", "advice": "Keep old versions of the sources for longer than the time between two refreshes, or make a stream table of a part of the join.", "crossed": false}
  {"name": "part3_max_scan_count", "limit": 60, "value": 1, "effect": "no statement is split for its width", "advice": "Make a stream table of a part of the query that joins several tables, so that its changes are computed once.", "crossed": false}
advice: []
form: "signed-rows"
form_reason: "no aggregate or DISTINCT stands at the root, so the changed rows are computed"
stored_columns: ["id", "name", "order_id"]
