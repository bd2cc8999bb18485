-- title: the first rows of all
-- sources: orders(id int, customer int, amount decimal(10,2), price double) key id; customers(id int, region int, name string) key id; regions(id int, name string) key id
SELECT id, amount FROM orders ORDER BY amount DESC LIMIT 10
---- text
output    id int, amount decimal(10,2)
key       id
kept by   first rows: the first rows follow from those that are stored and those that changed; they are taken from all rows where too many of the first went
reads     orders

plan
  Project id_2 as id, amount_2 as amount  [linear]
    TopK first 10 after 0 in order amount_2 DESC, id_2 ASC  [whole]
      Project id as id_2, amount as amount_2  [linear]
        Scan orders (id, amount)  [linear]

cost of a change
  orders  O(lost groups)  the first are taken of stored and changed rows; all rows are looked at where those do not tell which move up
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
  {"operator": "Project", "kind": "linear", "detail": "id_2 as id, amount_2 as amount", "depth": 0}
  {"operator": "TopK", "kind": "whole", "detail": "first 10 after 0 in order amount_2 DESC, id_2 ASC", "depth": 1}
  {"operator": "Project", "kind": "linear", "detail": "id as id_2, amount as amount_2", "depth": 2}
  {"operator": "Scan", "kind": "linear", "detail": "orders (id, amount)", "depth": 3}
joins: []
aggregates: []
complexity:
  {"source": "orders", "class": "O(lost groups)", "reason": "the first are taken of stored and changed rows; all rows are looked at where those do not tell which move up"}
thresholds:
  {"name": "deep_join_l0_scan_threshold", "limit": 8, "value": 0, "effect": "tables before a change are taken as after minus changes", "advice": "Keep old versions of the sources for longer than the time between two refreshes, or make a stream table of a part of the join.", "crossed": false}
  {"name": "part3_max_scan_count", "limit": 60, "value": 0, "effect": "no statement is split for its width", "advice": "Make a stream table of a part of the query that joins several tables, so that its changes are computed once.", "crossed": false}
advice: []
form: "first-rows"
form_reason: "the first rows follow from those that are stored and those that changed; they are taken from all rows where too many of the first went"
stored_columns: ["id", "amount"]
