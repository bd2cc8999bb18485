-- title: one window by partition, one over all rows
-- sources: orders(id int, customer int, amount decimal(10,2), price double) key id; customers(id int, region int, name string) key id; regions(id int, name string) key id
SELECT id, rank() OVER (PARTITION BY customer ORDER BY amount) AS own, rank() OVER (ORDER BY amount) AS overall
FROM orders
---- text
output    id int, own int, overall int
key       id
kept by   signed rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
reads     orders

plan
  Project id, rank as own, rank_2 as overall  [linear]
    Window rank() OVER (ORDER BY amount) as rank_2  [whole]
      Window rank() OVER (PARTITION BY customer ORDER BY amount) as rank  [keyed]
        Scan orders (id, customer, amount)  [linear]

cost of a change
  orders  O(whole)  "Window rank() OVER (ORDER BY amount) as rank_2" is computed from whole tables

thresholds
  part3_max_scan_count  2 of 60  within  no statement is split for its width

advice
  Add PARTITION BY, if what is computed may start anew in each partition.
    "Window rank() OVER (ORDER BY amount) as rank_2" has one partition of all rows
---- data
tables: ["orders"]
incremental: true
output:
  {"name": "id", "type": "int"}
  {"name": "own", "type": "int"}
  {"name": "overall", "type": "int"}
key: ["id"]
refusals: []
notes: []
columns_read: {"orders": ["id", "customer", "amount"]}
operators:
  {"operator": "Project", "kind": "linear", "detail": "id, rank as own, rank_2 as overall", "depth": 0}
  {"operator": "Window", "kind": "whole", "detail": "rank() OVER (ORDER BY amount) as rank_2", "depth": 1}
  {"operator": "Window", "kind": "keyed", "detail": "rank() OVER (PARTITION BY customer ORDER BY amount) as rank", "depth": 2}
  {"operator": "Scan", "kind": "linear", "detail": "orders (id, customer, amount)", "depth": 3}
joins: []
aggregates: []
complexity:
  {"source": "orders", "class": "O(whole)", "reason": "\"Window rank() OVER (ORDER BY amount) as rank_2\" is computed from whole tables"}
thresholds:
  {"name": "deep_join_l0_scan_threshold", "limit": 8, "value": 0, "effect": "tables before a change are taken as after minus changes", "advice": "Keep old versions of the sources for longer than the time between two refreshes, or make a stream table of a part of the join.", "crossed": false}
  {"name": "part3_max_scan_count", "limit": 60, "value": 2, "effect": "no statement is split for its width", "advice": "Make a stream table of a part of the query that joins several tables, so that its changes are computed once.", "crossed": false}
advice:
  {"code": "whole-window", "text": "Add PARTITION BY, if what is computed may start anew in each partition.", "reason": "\"Window rank() OVER (ORDER BY amount) as rank_2\" has one partition of all rows"}
form: "signed-rows"
form_reason: "no aggregate or DISTINCT stands at the root, so the changed rows are computed"
stored_columns: ["id", "own", "overall"]
