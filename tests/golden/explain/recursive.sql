-- title: a recursion over a table of edges
-- sources: edges(parent int, child int)
WITH RECURSIVE reach AS (
  SELECT parent, child, 1 AS depth FROM edges
  UNION ALL
  SELECT reach.parent, edges.child, depth + 1 FROM reach JOIN edges ON reach.child = edges.parent WHERE depth < 5
)
SELECT parent, child, depth FROM reach
---- text
output    parent int, child int, depth int
key       none: equal rows are counted
kept by   signed rows: no aggregate or DISTINCT stands at the root, so the changed rows are computed
reads     edges

plan
  Project parent_3 as parent, child_3 as child, depth_2 as depth  [linear]
    Recursive  [whole]
      Project parent as parent_3, child as child_3, 1 as depth_2  [linear]
        Scan edges (parent, child)  [linear]
      Project parent_4 as parent_3, child_5 as child_3, depth_3 + 1 as depth_2  [linear]
        InnerJoin child_4 = parent_5  [multilinear]
          Filter depth_3 < 5  [linear]
            Project parent_3 as parent_4, child_3 as child_4, depth_2 as depth_3  [linear]
              Itself
          Scan edges (parent as parent_5, child as child_5)  [linear]

joins
  InnerJoin child_4 = parent_5: recursive, 1 term when every table changes
    it is part of a recursion, which is walked once over both versions of what changed
    the recursion  rows by child_4
    edges          rows by parent_5

cost of a change
  edges  O(whole)  "Recursive" is computed from whole tables

thresholds
  deep_join_l0_scan_threshold  2 of 8   within  tables before a change are taken as after minus changes
  part3_max_scan_count         2 of 60  within  no statement is split for its width

advice
  Group the rows, or write SELECT DISTINCT, if equal rows should be one.
    the result has no key, so equal rows are counted, and a row is found by all columns
---- data
tables: ["edges"]
incremental: true
output:
  {"name": "parent", "type": "int"}
  {"name": "child", "type": "int"}
  {"name": "depth", "type": "int"}
key: null
refusals: []
notes: []
columns_read: {"edges": ["parent", "child"]}
operators:
  {"operator": "Project", "kind": "linear", "detail": "parent_3 as parent, child_3 as child, depth_2 as depth", "depth": 0}
  {"operator": "Recursive", "kind": "whole", "detail": "", "depth": 1}
  {"operator": "Project", "kind": "linear", "detail": "parent as parent_3, child as child_3, 1 as depth_2", "depth": 2}
  {"operator": "Scan", "kind": "linear", "detail": "edges (parent, child)", "depth": 3}
  {"operator": "Project", "kind": "linear", "detail": "parent_4 as parent_3, child_5 as child_3, depth_3 + 1 as depth_2", "depth": 2}
  {"operator": "InnerJoin", "kind": "multilinear", "detail": "child_4 = parent_5", "depth": 3}
  {"operator": "Filter", "kind": "linear", "detail": "depth_3 < 5", "depth": 4}
  {"operator": "Project", "kind": "linear", "detail": "parent_3 as parent_4, child_3 as child_4, depth_2 as depth_3", "depth": 5}
  {"operator": "Itself", "kind": null, "detail": "", "depth": 6}
  {"operator": "Scan", "kind": "linear", "detail": "edges (parent as parent_5, child as child_5)", "depth": 4}
joins:
  {"operator": "InnerJoin", "condition": "child_4 = parent_5", "way": "recursive", "terms": 1, "reason": "it is part of a recursion, which is walked once over both versions of what changed", "inputs": [{"name": "the recursion", "met": "rows by child_4"}, {"name": "edges", "met": "rows by parent_5"}]}
aggregates: []
complexity:
  {"source": "edges", "class": "O(whole)", "reason": "\"Recursive\" is computed from whole tables"}
thresholds:
  {"name": "deep_join_l0_scan_threshold", "limit": 8, "value": 2, "effect": "tables before a change are taken as after minus changes", "advice": "Keep old versions of the sources for longer than the time between two refreshes, or make a stream table of a part of the join.", "crossed": false}
  {"name": "part3_max_scan_count", "limit": 60, "value": 2, "effect": "no statement is split for its width", "advice": "Make a stream table of a part of the query that joins several tables, so that its changes are computed once.", "crossed": false}
advice:
  {"code": "no-key", "text": "Group the rows, or write SELECT DISTINCT, if equal rows should be one.", "reason": "the result has no key, so equal rows are counted, and a row is found by all columns"}
form: "signed-rows"
form_reason: "no aggregate or DISTINCT stands at the root, so the changed rows are computed"
stored_columns: ["parent", "child", "depth"]
