-- title: a filtered scan
-- sources: orders(id int, customer int, amount decimal(10,2), price double) key id; customers(id int, region int, name string) key id; regions(id int, name string) key id
SELECT id, amount FROM orders WHERE amount > 10
---- text
output    id int, amount decimal(10,2)
key       id
kept by   signed rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
reads     orders

plan
  Project id, amount  [linear]
    Filter amount > 10  [linear]
      Scan orders (id, amount)  [linear]

cost of a change
  orders  O(changed rows)  each changed row is looked at by itself
---- data
tables: ["orders"]
incremental: true
output:
  {"name": "id", "type": "int"}
  {"name": "amount", "type": "decimal(10,2)"}
key: ["id"]
refusals: []
notes: []
columns_read: {"orders": ["id", "amount"]}
operators:
  {"operator": "Project", "kind": "linear", "detail": "id, amount", "depth": 0}
  {"operator": "Filter", "kind": "linear", "detail": "amount > 10", "depth": 1}
  {"operator": "Scan", "kind": "linear", "detail": "orders (id, amount)", "depth": 2}
joins: []
aggregates: []
complexity:
  {"source": "orders", "class": "O(changed rows)", "reason": "each changed row is looked at by itself"}
thresholds:
  {"name": "deep_join_l0_scan_threshold", "limit": 8, "value": 0, "effect": "tables before a change are taken as after minus changes", "advice": "Keep old versions of the sources for longer than the time between two refreshes, or make a stream table of a part of the join.", "crossed": false}
  {"name": "part3_max_scan_count", "limit": 60, "value": 0, "effect": "no statement is split for its width", "advice": "Make a stream table of a part of the query that joins several tables, so that its changes are computed once.", "crossed": false}
advice: []
form: "signed-rows"
form_reason: "no aggregate or DISTINCT stands at the root, so the changed rows are computed"
stored_columns: ["id", "amount"]
