-- title: eight tables in a row without keys, beyond both thresholds
-- sources: a(k int, v int); b(k int, v int); c(k int, v int); d(k int, v int); e(k int, v int); f(k int, v int); g(k int, v int); h(k int, v int)
-- limits: 6 join inputs, 40 scans
SELECT a.v AS a, b.v AS b, c.v AS c, d.v AS d, e.v AS e, f.v AS f, g.v AS g, h.v AS h
FROM a
JOIN b ON a.v = b.k
JOIN c ON b.v = c.k
JOIN d ON c.v = d.k
JOIN e ON d.v = e.k
JOIN f ON e.v = f.k
JOIN g ON f.v = g.k
JOIN h ON g.v = h.k
---- text
output    a int, b int, c int, d int, e int, f int, g int, h int
key       none: equal rows are counted
kept by   signed rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
reads     a, b, c, d, e, f, g, h

plan
  Project v as a, v_2 as b, v_3 as c, v_4 as d, v_5 as e, v_6 as f, v_7 as g, v_8 as h  [linear]
    InnerJoin v = k_2 and v_2 = k_3 and v_3 = k_4 and v_4 = k_5 and v_5 = k_6 and v_6 = k_7 and v_7 = k_8  [multilinear]
      Scan a (v)  [linear]
      Scan b (k as k_2, v as v_2)  [linear]
      Scan c (k as k_3, v as v_3)  [linear]
      Scan d (k as k_4, v as v_4)  [linear]
      Scan e (k as k_5, v as v_5)  [linear]
      Scan f (k as k_6, v as v_6)  [linear]
      Scan g (k as k_7, v as v_7)  [linear]
      Scan h (k as k_8, v as v_8)  [linear]

joins
  InnerJoin v = k_2 and v_2 = k_3 and v_3 = k_4 and v_4 = k_5 and v_5 = k_6 and v_6 = k_7 and v_7 = k_8: telescoped, 8 terms when every table changes
    one term for each changed input, walked from its changes
    a  rows by v
    b  rows by k_2, v_2
    c  rows by k_3, v_3
    d  rows by k_4, v_4
    e  rows by k_5, v_5
    f  rows by k_6, v_6
    g  rows by k_7, v_7
    h  rows by k_8

cost of a change
  a  O(changed rows × matches)  "InnerJoin v = k_2 and v_2 = k_3 and v_3 = k_4 and v_4 = k_5 and v_5 = k…" may match many rows
  b  O(changed rows × matches)  "InnerJoin v = k_2 and v_2 = k_3 and v_3 = k_4 and v_4 = k_5 and v_5 = k…" may match many rows
  c  O(changed rows × matches)  "InnerJoin v = k_2 and v_2 = k_3 and v_3 = k_4 and v_4 = k_5 and v_5 = k…" may match many rows
  d  O(changed rows × matches)  "InnerJoin v = k_2 and v_2 = k_3 and v_3 = k_4 and v_4 = k_5 and v_5 = k…" may match many rows
  e  O(changed rows × matches)  "InnerJoin v = k_2 and v_2 = k_3 and v_3 = k_4 and v_4 = k_5 and v_5 = k…" may match many rows
  f  O(changed rows × matches)  "InnerJoin v = k_2 and v_2 = k_3 and v_3 = k_4 and v_4 = k_5 and v_5 = k…" may match many rows
  g  O(changed rows × matches)  "InnerJoin v = k_2 and v_2 = k_3 and v_3 = k_4 and v_4 = k_5 and v_5 = k…" may match many rows
  h  O(changed rows × matches)  "InnerJoin v = k_2 and v_2 = k_3 and v_3 = k_4 and v_4 = k_5 and v_5 = k…" may match many rows

thresholds
  deep_join_l0_scan_threshold  8 of 6    crossed  tables before a change are read at their old version
  part3_max_scan_count         56 of 40  crossed  3 parts are computed first; no statement reads more than 35 tables

advice
  Declare the key of "a", "b", "c", "d", "e", "f", "g", "h": the result would have one too.
    the result has no key, so equal rows are counted, and a row is found by all columns
  Keep old versions of the sources for longer than the time between two refreshes, or make a stream table of a part of the join.
    deep_join_l0_scan_threshold is 6, and the query has 8
  Make a stream table of a part of the query that joins several tables, so that its changes are computed once.
    part3_max_scan_count is 40, and the query has 56
---- data
tables: ["a", "b", "c", "d", "e", "f", "g", "h"]
incremental: true
output:
  {"name": "a", "type": "int"}
  {"name": "b", "type": "int"}
  {"name": "c", "type": "int"}
  {"name": "d", "type": "int"}
  {"name": "e", "type": "int"}
  {"name": "f", "type": "int"}
  {"name": "g", "type": "int"}
  {"name": "h", "type": "int"}
key: null
refusals: []
notes: []
columns_read: {"a": ["v"], "b": ["k", "v"], "c": ["k", "v"], "d": ["k", "v"], "e": ["k", "v"], "f": ["k", "v"], "g": ["k", "v"], "h": ["k", "v"]}
operators:
  {"operator": "Project", "kind": "linear", "detail": "v as a, v_2 as b, v_3 as c, v_4 as d, v_5 as e, v_6 as f, v_7 as g, v_8 as h", "depth": 0}
  {"operator": "InnerJoin", "kind": "multilinear", "detail": "v = k_2 and v_2 = k_3 and v_3 = k_4 and v_4 = k_5 and v_5 = k_6 and v_6 = k_7 and v_7 = k_8", "depth": 1}
  {"operator": "Scan", "kind": "linear", "detail": "a (v)", "depth": 2}
  {"operator": "Scan", "kind": "linear", "detail": "b (k as k_2, v as v_2)", "depth": 2}
  {"operator": "Scan", "kind": "linear", "detail": "c (k as k_3, v as v_3)", "depth": 2}
  {"operator": "Scan", "kind": "linear", "detail": "d (k as k_4, v as v_4)", "depth": 2}
  {"operator": "Scan", "kind": "linear", "detail": "e (k as k_5, v as v_5)", "depth": 2}
  {"operator": "Scan", "kind": "linear", "detail": "f (k as k_6, v as v_6)", "depth": 2}
  {"operator": "Scan", "kind": "linear", "detail": "g (k as k_7, v as v_7)", "depth": 2}
  {"operator": "Scan", "kind": "linear", "detail": "h (k as k_8, v as v_8)", "depth": 2}
joins:
  {"operator": "InnerJoin", "condition": "v = k_2 and v_2 = k_3 and v_3 = k_4 and v_4 = k_5 and v_5 = k_6 and v_6 = k_7 and v_7 = k_8", "way": "telescoped", "terms": 8, "reason": "one term for each changed input, walked from its changes", "inputs": [{"name": "a", "met": "rows by v"}, {"name": "b", "met": "rows by k_2, v_2"}, {"name": "c", "met": "rows by k_3, v_3"}, {"name": "d", "met": "rows by k_4, v_4"}, {"name": "e", "met": "rows by k_5, v_5"}, {"name": "f", "met": "rows by k_6, v_6"}, {"name": "g", "met": "rows by k_7, v_7"}, {"name": "h", "met": "rows by k_8"}]}
aggregates: []
complexity:
  {"source": "a", "class": "O(changed rows × matches)", "reason": "\"InnerJoin v = k_2 and v_2 = k_3 and v_3 = k_4 and v_4 = k_5 and v_5 = k…\" may match many rows"}
  {"source": "b", "class": "O(changed rows × matches)", "reason": "\"InnerJoin v = k_2 and v_2 = k_3 and v_3 = k_4 and v_4 = k_5 and v_5 = k…\" may match many rows"}
  {"source": "c", "class": "O(changed rows × matches)", "reason": "\"InnerJoin v = k_2 and v_2 = k_3 and v_3 = k_4 and v_4 = k_5 and v_5 = k…\" may match many rows"}
  {"source": "d", "class": "O(changed rows × matches)", "reason": "\"InnerJoin v = k_2 and v_2 = k_3 and v_3 = k_4 and v_4 = k_5 and v_5 = k…\" may match many rows"}
  {"source": "e", "class": "O(changed rows × matches)", "reason": "\"InnerJoin v = k_2 and v_2 = k_3 and v_3 = k_4 and v_4 = k_5 and v_5 = k…\" may match many rows"}
  {"source": "f", "class": "O(changed rows × matches)", "reason": "\"InnerJoin v = k_2 and v_2 = k_3 and v_3 = k_4 and v_4 = k_5 and v_5 = k…\" may match many rows"}
  {"source": "g", "class": "O(changed rows × matches)", "reason": "\"InnerJoin v = k_2 and v_2 = k_3 and v_3 = k_4 and v_4 = k_5 and v_5 = k…\" may match many rows"}
  {"source": "h", "class": "O(changed rows × matches)", "reason": "\"InnerJoin v = k_2 and v_2 = k_3 and v_3 = k_4 and v_4 = k_5 and v_5 = k…\" may match many rows"}
thresholds:
  {"name": "deep_join_l0_scan_threshold", "limit": 6, "value": 8, "effect": "tables before a change are read at their old version", "advice": "Keep old versions of the sources for longer than the time between two refreshes, or make a stream table of a part of the join.", "crossed": true}
  {"name": "part3_max_scan_count", "limit": 40, "value": 56, "effect": "3 parts are computed first; no statement reads more than 35 tables", "advice": "Make a stream table of a part of the query that joins several tables, so that its changes are computed once.", "crossed": true}
advice:
  {"code": "declare-key", "text": "Declare the key of \"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\": the result would have one too.", "reason": "the result has no key, so equal rows are counted, and a row is found by all columns"}
  {"code": "threshold-crossed", "text": "Keep old versions of the sources for longer than the time between two refreshes, or make a stream table of a part of the join.", "reason": "deep_join_l0_scan_threshold is 6, and the query has 8"}
  {"code": "threshold-crossed", "text": "Make a stream table of a part of the query that joins several tables, so that its changes are computed once.", "reason": "part3_max_scan_count is 40, and the query has 56"}
form: "signed-rows"
form_reason: "no aggregate or DISTINCT stands at the root, so the changed rows are computed"
stored_columns: ["a", "b", "c", "d", "e", "f", "g", "h"]
