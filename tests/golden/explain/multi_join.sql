-- title: three tables by their keys, then sums
-- sources: orders(id int, customer int, amount decimal(10,2), price double) key id; customers(id int, region int, name string) key id; regions(id int, name string) key id
SELECT regions.name, sum(amount) AS total, count(*) AS orders
FROM orders
JOIN customers ON customer = customers.id
JOIN regions ON region = regions.id
GROUP BY regions.name
---- text
output    name string, total decimal(20,2), orders bigint
key       name
kept by   stored state: every aggregate at the root follows from sums and counts, which add up
reads     orders, customers, regions

plan
  Project name_2 as name, sum as total, count as orders  [linear]
    Aggregate by name_2: sum(amount) as sum, count(*) as count  [keyed]
      InnerJoin customer = id_2 and region = id_3  [multilinear]
        Scan orders (customer, amount)  [linear]
        Scan customers (id as id_2, region)  [linear]
        Scan regions (id as id_3, name as name_2)  [linear]

joins
  InnerJoin customer = id_2 and region = id_3: from widest, 2 terms when every table changes
    one pass over orders finds all that changes elsewhere concern
    orders     rows by customer
    customers  one row by id_2, region
    regions    one row by id_3

aggregates
  sum(amount) by name_2: stored state
    its change is added to the stored sums and counts
  count(*) by name_2: stored state
    its change is added to the stored sums and counts

cost of a change
  orders     O(changed rows)            each changed row is looked at by itself
  customers  O(changed rows × matches)  "InnerJoin customer = id_2 and region = id_3" may match many rows
  regions    O(changed rows × matches)  "InnerJoin customer = id_2 and region = id_3" may match many rows

thresholds
  deep_join_l0_scan_threshold  3 of 8   within  tables before a change are taken as after minus changes
  part3_max_scan_count         4 of 60  within  no statement is split for its width
---- data
tables: ["orders", "customers", "regions"]
incremental: true
output:
  {"name": "name", "type": "string"}
  {"name": "total", "type": "decimal(20,2)"}
  {"name": "orders", "type": "bigint"}
key: ["name"]
refusals: []
notes: []
columns_read: {"orders": ["customer", "amount"], "customers": ["id", "region"], "regions": ["id", "name"]}
operators:
  {"operator": "Project", "kind": "linear", "detail": "name_2 as name, sum as total, count as orders", "depth": 0}
  {"operator": "Aggregate", "kind": "keyed", "detail": "by name_2: sum(amount) as sum, count(*) as count", "depth": 1}
  {"operator": "InnerJoin", "kind": "multilinear", "detail": "customer = id_2 and region = id_3", "depth": 2}
  {"operator": "Scan", "kind": "linear", "detail": "orders (customer, amount)", "depth": 3}
  {"operator": "Scan", "kind": "linear", "detail": "customers (id as id_2, region)", "depth": 3}
  {"operator": "Scan", "kind": "linear", "detail": "regions (id as id_3, name as name_2)", "depth": 3}
joins:
  {"operator": "InnerJoin", "condition": "customer = id_2 and region = id_3", "way": "from-widest", "terms": 2, "reason": "one pass over orders finds all that changes elsewhere concern", "inputs": [{"name": "orders", "met": "rows by customer"}, {"name": "customers", "met": "one row by id_2, region"}, {"name": "regions", "met": "one row by id_3"}]}
aggregates:
  {"call": "sum(amount)", "groups": ["name_2"], "way": "stored-state", "reason": "its change is added to the stored sums and counts", "exact": true}
  {"call": "count(*)", "groups": ["name_2"], "way": "stored-state", "reason": "its change is added to the stored sums and counts", "exact": true}
complexity:
  {"source": "orders", "class": "O(changed rows)", "reason": "each changed row is looked at by itself"}
  {"source": "customers", "class": "O(changed rows × matches)", "reason": "\"InnerJoin customer = id_2 and region = id_3\" may match many rows"}
  {"source": "regions", "class": "O(changed rows × matches)", "reason": "\"InnerJoin customer = id_2 and region = id_3\" may match many rows"}
thresholds:
  {"name": "deep_join_l0_scan_threshold", "limit": 8, "value": 3, "effect": "tables before a change are taken as after minus changes", "advice": "Keep old versions of the sources for longer than the time between two refreshes, or make a stream table of a part of the join.", "crossed": false}
  {"name": "part3_max_scan_count", "limit": 60, "value": 4, "effect": "no statement is split for its width", "advice": "Make a stream table of a part of the query that joins several tables, so that its changes are computed once.", "crossed": false}
advice: []
form: "stored-state"
form_reason: "every aggregate at the root follows from sums and counts, which add up"
stored_columns: ["name", "total", "orders", "__st_rows", "__st_sum_2", "__st_count_1"]
