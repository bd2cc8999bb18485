-- title: a bag, from a table without a key
-- sources: log(at timestamp, level string, text string)
SELECT level, text FROM log WHERE level <> 'debug'
---- text
output    level string, text string
key       none: equal rows are counted
kept by   signed rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
reads     log

plan
  Project level, text  [linear]
    Filter level <> 'debug'  [linear]
      Scan log (level, text)  [linear]

cost of a change
  log  O(changed rows)  each changed row is looked at by itself

advice
  Declare the key of "log": the result would have one too.
    the result has no key, so equal rows are counted, and a row is found by all columns
---- data
tables: ["log"]
incremental: true
output:
  {"name": "level", "type": "string"}
  {"name": "text", "type": "string"}
key: null
refusals: []
notes: []
columns_read: {"log": ["level", "text"]}
operators:
  {"operator": "Project", "kind": "linear", "detail": "level, text", "depth": 0}
  {"operator": "Filter", "kind": "linear", "detail": "level <> 'debug'", "depth": 1}
  {"operator": "Scan", "kind": "linear", "detail": "log (level, text)", "depth": 2}
joins: []
aggregates: []
complexity:
  {"source": "log", "class": "O(changed rows)", "reason": "each changed row is looked at by itself"}
thresholds:
  {"name": "deep_join_l0_scan_threshold", "limit": 8, "value": 0, "effect": "tables before a change are taken as after minus changes", "advice": "Keep old versions of the sources for longer than the time between two refreshes, or make a stream table of a part of the join.", "crossed": false}
  {"name": "part3_max_scan_count", "limit": 60, "value": 0, "effect": "no statement is split for its width", "advice": "Make a stream table of a part of the query that joins several tables, so that its changes are computed once.", "crossed": false}
advice:
  {"code": "declare-key", "text": "Declare the key of \"log\": the result would have one too.", "reason": "the result has no key, so equal rows are counted, and a row is found by all columns"}
form: "signed-rows"
form_reason: "no aggregate or DISTINCT stands at the root, so the changed rows are computed"
stored_columns: ["level", "text"]
