-- title: a part that no rule follows
-- sources: orders(id int, customer int, amount decimal(10,2), price double) key id; customers(id int, region int, name string) key id; regions(id int, name string) key id
SELECT id, rand() AS luck FROM orders
---- text
output    known to Spark alone
kept by   full refreshes
reads     orders

refused[ST-1201]: the query cannot be maintained incrementally
  SELECT id, rand() AS luck FROM orders
             ^^^^
"rand" may give another answer each time.
hint: Use mode 'full', or take this part out of the query.

cost of a change
  orders  O(whole)  every refresh computes the whole query

advice
  Use mode 'full', or take this part out of the query.
    every refresh computes the whole query: "rand" may give another answer each time
---- data
tables: ["orders"]
incremental: false
output: []
key: null
refusals:
  {"code": "ST-1201", "message": "the query cannot be maintained incrementally", "reason": "\"rand\" may give another answer each time.", "hint": "Use mode 'full', or take this part out of the query.", "place": "SELECT id, rand() AS luck FROM orders\n           ^^^^", "line": 1, "column": 12}
notes: []
joins: []
aggregates: []
complexity:
  {"source": "orders", "class": "O(whole)", "reason": "every refresh computes the whole query"}
thresholds: []
advice:
  {"code": "refused", "text": "Use mode 'full', or take this part out of the query.", "reason": "every refresh computes the whole query: \"rand\" may give another answer each time"}
