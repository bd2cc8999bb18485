-- title: an aggregate that does not add up, beside one that would
-- sources: orders(id int, customer int, amount decimal(10,2), price double) key id; customers(id int, region int, name string) key id; regions(id int, name string) key id
SELECT customer, percentile(amount, 0.5) AS middle, sum(amount) AS total, avg(price) AS mean
FROM orders
GROUP BY customer
---- text
output    customer int, middle unknown, total decimal(20,2), mean double
key       customer
kept by   touched groups: groups that changed are computed again: "percentile" does not follow from sums and counts
reads     orders

plan
  Project customer, percentile as middle, sum as total, avg as mean  [linear]
    Aggregate by customer: percentile(amount, 0.5) as percentile, sum(amount) as sum, avg(price) as avg  [keyed]
      Scan orders (customer, amount, price)  [linear]

aggregates
  percentile(amount, 0.5) by customer: touched groups
    "percentile" does not follow from sums and counts
  sum(amount) by customer: touched groups
    "percentile" does not follow from sums and counts
  avg(price) by customer: touched groups
    "avg" of double has no exact sum to add to; its last digits depend on the order of rows

cost of a change
  orders  O(touched groups)  "Aggregate by customer: percentile(amount, 0.5) as percentile, sum(amoun…" is computed for touched groups

thresholds
  part3_max_scan_count  1 of 60  within  no statement is split for its width

advice
  Cast the argument of "avg" to DECIMAL, if it is money or a measure with fixed digits, or set the option approximate_floats.
    sums of floats depend on the order of rows, so touched groups are computed again
  Keep percentile(amount, 0.5), avg(price) in a stream table of its own.
    sum(amount) could be kept by stored state; beside the others all groups that changed are computed again
---- data
tables: ["orders"]
incremental: true
output:
  {"name": "customer", "type": "int"}
  {"name": "middle", "type": "unknown"}
  {"name": "total", "type": "decimal(20,2)"}
  {"name": "mean", "type": "double"}
key: ["customer"]
refusals: []
notes: []
columns_read: {"orders": ["customer", "amount", "price"]}
operators:
  {"operator": "Project", "kind": "linear", "detail": "customer, percentile as middle, sum as total, avg as mean", "depth": 0}
  {"operator": "Aggregate", "kind": "keyed", "detail": "by customer: percentile(amount, 0.5) as percentile, sum(amount) as sum, avg(price) as avg", "depth": 1}
  {"operator": "Scan", "kind": "linear", "detail": "orders (customer, amount, price)", "depth": 2}
joins: []
aggregates:
  {"call": "percentile(amount, 0.5)", "groups": ["customer"], "way": "touched-groups", "reason": "\"percentile\" does not follow from sums and counts", "exact": true}
  {"call": "sum(amount)", "groups": ["customer"], "way": "touched-groups", "reason": "\"percentile\" does not follow from sums and counts", "exact": true}
  {"call": "avg(price)", "groups": ["customer"], "way": "touched-groups", "reason": "\"avg\" of double has no exact sum to add to", "exact": false}
complexity:
  {"source": "orders", "class": "O(touched groups)", "reason": "\"Aggregate by customer: percentile(amount, 0.5) as percentile, sum(amoun…\" is computed for touched groups"}
thresholds:
  {"name": "deep_join_l0_scan_threshold", "limit": 8, "value": 0, "effect": "tables before a change are taken as after minus changes", "advice": "Keep old versions of the sources for longer than the time between two refreshes, or make a stream table of a part of the join.", "crossed": false}
  {"name": "part3_max_scan_count", "limit": 60, "value": 1, "effect": "no statement is split for its width", "advice": "Make a stream table of a part of the query that joins several tables, so that its changes are computed once.", "crossed": false}
advice:
  {"code": "float-aggregate", "text": "Cast the argument of \"avg\" to DECIMAL, if it is money or a measure with fixed digits, or set the option approximate_floats.", "reason": "sums of floats depend on the order of rows, so touched groups are computed again"}
  {"code": "mixed-aggregates", "text": "Keep percentile(amount, 0.5), avg(price) in a stream table of its own.", "reason": "sum(amount) could be kept by stored state; beside the others all groups that changed are computed again"}
form: "touched-groups"
form_reason: "groups that changed are computed again: \"percentile\" does not follow from sums and counts"
stored_columns: ["customer", "middle", "total", "mean"]
