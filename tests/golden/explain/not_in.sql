-- title: NOT IN, which minds every NULL
-- sources: orders(id int, customer int, amount decimal(10,2), price double) key id; customers(id int, region int, name string) key id; regions(id int, name string) key id
SELECT id FROM orders WHERE customer NOT IN (SELECT id FROM customers)
---- text
output    id int
key       id
kept by   signed rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
reads     orders, customers

plan
  Project id  [linear]
    Filter NOT any  [linear]
      Project id, CASE WHEN found THEN TRUE WHEN gap OR ((customer) IS NULL AND some) THEN TRUE ELSE FALSE END as any  [linear]
        InnerJoin every pair  [multilinear]
          Existence mark customer = id_3  [keyed]
            Scan orders (id, customer)  [linear]
            Project id_2 as id_3 (#1)  [linear]
              Scan customers (id as id_2)  [linear]
          Project rows > 0 as some, present < rows as gap  [linear]
            Aggregate of all rows: count(*) as rows, count(id_3) as present  [whole]
              #1

joins
  InnerJoin every pair: telescoped, 2 terms when every table changes
    one term for each changed input, walked from its changes
    what is computed from orders, customers  every row
    what is computed from customers          its one row
  Existence mark customer = id_3: mark, 3 terms when every table changes
    changed left rows, and touched ones with their answers after and before
    orders     rows by customer
    customers  one row by id_3

aggregates
  count(*): whole
    it stands below another operator, and its old value is not stored
  count(id_3): whole
    it stands below another operator, and its old value is not stored

cost of a change
  orders     O(whole)  "Aggregate of all rows: count(*) as rows, count(id_3) as present" is computed from whole tables
  customers  O(whole)  "Aggregate of all rows: count(*) as rows, count(id_3) as present" is computed from whole tables

thresholds
  deep_join_l0_scan_threshold  2 of 8   within  tables before a change are taken as after minus changes
  part3_max_scan_count         3 of 60  within  no statement is split for its width

advice
  Write NOT EXISTS instead of NOT IN, if neither side can be NULL: it means the same there.
    NOT IN has to count the NULLs of the whole subquery at each refresh
---- data
tables: ["orders", "customers"]
incremental: true
output:
  {"name": "id", "type": "int"}
key: ["id"]
refusals: []
notes: []
columns_read: {"orders": ["id", "customer"], "customers": ["id"]}
operators:
  {"operator": "Project", "kind": "linear", "detail": "id", "depth": 0}
  {"operator": "Filter", "kind": "linear", "detail": "NOT any", "depth": 1}
  {"operator": "Project", "kind": "linear", "detail": "id, CASE WHEN found THEN TRUE WHEN gap OR ((customer) IS NULL AND some) THEN TRUE ELSE FALSE END as any", "depth": 2}
  {"operator": "InnerJoin", "kind": "multilinear", "detail": "every pair", "depth": 3}
  {"operator": "Existence", "kind": "keyed", "detail": "mark customer = id_3", "depth": 4}
  {"operator": "Scan", "kind": "linear", "detail": "orders (id, customer)", "depth": 5}
  {"operator": "Project", "kind": "linear", "detail": "id_2 as id_3 (#1)", "depth": 5}
  {"operator": "Scan", "kind": "linear", "detail": "customers (id as id_2)", "depth": 6}
  {"operator": "Project", "kind": "linear", "detail": "rows > 0 as some, present < rows as gap", "depth": 4}
  {"operator": "Aggregate", "kind": "whole", "detail": "of all rows: count(*) as rows, count(id_3) as present", "depth": 5}
  {"operator": "#1", "kind": null, "detail": "", "depth": 6}
joins:
  {"operator": "InnerJoin", "condition": "every pair", "way": "telescoped", "terms": 2, "reason": "one term for each changed input, walked from its changes", "inputs": [{"name": "what is computed from orders, customers", "met": "every row"}, {"name": "what is computed from customers", "met": "its one row"}]}
  {"operator": "Existence", "condition": "mark customer = id_3", "way": "mark", "terms": 3, "reason": "changed left rows, and touched ones with their answers after and before", "inputs": [{"name": "orders", "met": "rows by customer"}, {"name": "customers", "met": "one row by id_3"}]}
aggregates:
  {"call": "count(*)", "groups": [], "way": "whole", "reason": "it stands below another operator, and its old value is not stored", "exact": true}
  {"call": "count(id_3)", "groups": [], "way": "whole", "reason": "it stands below another operator, and its old value is not stored", "exact": true}
complexity:
  {"source": "orders", "class": "O(whole)", "reason": "\"Aggregate of all rows: count(*) as rows, count(id_3) as present\" is computed from whole tables"}
  {"source": "customers", "class": "O(whole)", "reason": "\"Aggregate of all rows: count(*) as rows, count(id_3) as present\" is computed from whole tables"}
thresholds:
  {"name": "deep_join_l0_scan_threshold", "limit": 8, "value": 2, "effect": "tables before a change are taken as after minus changes", "advice": "Keep old versions of the sources for longer than the time between two refreshes, or make a stream table of a part of the join.", "crossed": false}
  {"name": "part3_max_scan_count", "limit": 60, "value": 3, "effect": "no statement is split for its width", "advice": "Make a stream table of a part of the query that joins several tables, so that its changes are computed once.", "crossed": false}
advice:
  {"code": "not-in", "text": "Write NOT EXISTS instead of NOT IN, if neither side can be NULL: it means the same there.", "reason": "NOT IN has to count the NULLs of the whole subquery at each refresh"}
form: "signed-rows"
form_reason: "no aggregate or DISTINCT stands at the root, so the changed rows are computed"
stored_columns: ["id"]
