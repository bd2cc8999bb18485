"""Wrong rules of single operators: probes, set operations, recursion, orders."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlglot import exp

from streamtables.compiler.algebra import (
    Clock,
    Empty,
    Filter,
    InnerJoin,
    Keys,
    LeftJoin,
    Negate,
    Net,
    Node,
    Probe,
    Recursive,
    Repeat,
    Sum,
    TopK,
    Window,
    at,
    differentiate,
    probe_delta,
    recursive_delta,
    recursive_sides,
    restrict,
)
from streamtables.compiler.algebra.candidates import candidates_below
from streamtables.compiler.algebra.keyed import touched_keys
from streamtables.compiler.algebra.node import When, delta_rule, may_change, node_at
from streamtables.compiler.backend.operators import render
from streamtables.compiler.frontend import (
    attach,
    grouping_sets,
    scalar_subquery,
    set_operations,
)
from streamtables.compiler.frontend.binding import column
from streamtables.compiler.maintenance import FirstRows, forms
from streamtables.compiler.rewrites import prune_columns
from streamtables.engine import first_rows
from tests.mutations.mutants import Patches, mutant
from tests.support import maintained_table

JOIN = "SELECT r.id, u.b FROM r JOIN u ON r.a = u.a"
UNION = "SELECT a FROM r UNION ALL SELECT b FROM u"
GROUPED_RANKS = """SELECT a, max(n) AS m FROM (
    SELECT a, row_number() OVER (PARTITION BY b ORDER BY a) AS n FROM u) GROUP BY a"""
COUNTED_MATCHES = "SELECT r.a, max(u.b) AS m FROM r LEFT JOIN u ON r.a = u.a GROUP BY r.a"
GROUPED_JOIN = "SELECT r.a, max(u.b) AS m FROM r JOIN u ON r.a = u.a GROUP BY r.a"
STATE_OF_MATCHES = """SELECT a, count(*) AS n FROM r
    WHERE EXISTS (SELECT 1 FROM u WHERE u.a = r.a AND u.b > 0) GROUP BY a"""


LEFT_JOIN = "SELECT r.id, u.b FROM r LEFT JOIN u ON r.a = u.a"
SEMI_JOIN = "SELECT r.id FROM r WHERE EXISTS (SELECT 1 FROM u WHERE u.a = r.a)"
PADDED_GROUPS = "SELECT u.b, median(r.id) AS m FROM r LEFT JOIN u ON r.a = u.a GROUP BY u.b"
CHAIN = """SELECT r.id, v.f FROM r LEFT JOIN u ON r.a = u.a AND r.b > u.b
    LEFT JOIN v ON u.b = v.a"""
RANGE_JOIN = "SELECT r.id, u.b FROM r LEFT JOIN u ON r.a < u.a"


def _probe_delta(
    node: Probe, left_meets: When = "after", touched: When = "before", old: bool = True
) -> Node:
    """The rule of a probe, with what a mutant changes as parameters."""
    changes = differentiate(node.right)
    rows = at(touched, node.left)
    met = node.with_inputs(differentiate(node.left), at(left_meets, node.right))
    if node.equalities:
        keys = Keys(changes, tuple(right for _, right in node.equalities))
        rows = restrict(rows, keys, node.equalities)
    new = node.with_inputs(rows, at("after", node.right))
    gone = Negate(node.with_inputs(rows, at("before", node.right)))
    return Net(Sum((met, new, gone) if old else (met, new)))


@mutant("changed left rows meet the old right side", LEFT_JOIN)
def _(patch: Patches) -> None:
    patch.rule(delta_rule, Probe, lambda node: _probe_delta(node, left_meets="before"))


@mutant("touched left rows are read after the change", SEMI_JOIN)
def _(patch: Patches) -> None:
    patch.rule(delta_rule, Probe, lambda node: _probe_delta(node, touched="after"))


@mutant("old answers of touched rows stay", SEMI_JOIN)
def _(patch: Patches) -> None:
    patch.rule(delta_rule, Probe, lambda node: _probe_delta(node, old=False))


@mutant("a condition that is no equality touches nothing", RANGE_JOIN)
def _(patch: Patches) -> None:
    def nothing(node: Probe) -> Node:
        return Filter(at("before", node.left), exp.false())

    patch.function(probe_delta, "_touched_rows", nothing)


@mutant("a NULL that is looked for on a padded side is taken for a match", PADDED_GROUPS)
def _(patch: Patches) -> None:
    patch.function(probe_delta, "_holds_no_null", lambda keys: True)


@mutant("matches that are looked for on a padded side keep no condition", CHAIN)
def _(patch: Patches) -> None:
    right = probe_delta._restrict_matches

    def wrong(node: LeftJoin, *args: Any) -> Node:
        return right(replace(node, conditions=node.conditions[:1]), *args)

    patch.function(probe_delta, "_restrict_matches", wrong)


@mutant("changes are cut to a key before they are netted", GROUPED_RANKS)
def _(patch: Patches) -> None:
    patch.function(prune_columns, "_below_keys", lambda root: set())


@mutant("a key that changed on the right touches no group", COUNTED_MATCHES)
def _(patch: Patches) -> None:
    patch.rule(candidates_below, Probe, lambda node, names: differentiate(node.left))


@mutant("a key that changed in a later input touches no group", GROUPED_JOIN)
def _(patch: Patches) -> None:
    patch.rule(candidates_below, InnerJoin, lambda node, names: differentiate(node.parts[0]))


@mutant("groups that a change may concern lose their state", STATE_OF_MATCHES)
def _(patch: Patches) -> None:
    wider: Any = property(lambda self: touched_keys(self.table.chain.keyed))
    patch.function(forms.ChangedTables, "touched", wider)


@mutant("NOT IN passes over NULLs", "SELECT id FROM r WHERE a NOT IN (SELECT b FROM u)")
def _(patch: Patches) -> None:
    patch.function(attach, "_with_unknown", lambda node, *_: (exp.false(), node))


@mutant(
    "a count over nothing is NULL",
    "SELECT id, (SELECT count(*) FROM u WHERE u.a = r.a) AS n FROM r",
)
def _(patch: Patches) -> None:
    patch.function(scalar_subquery, "value_of_nothing", lambda call: exp.null())


@mutant("EXCEPT ALL shows each row once", "SELECT a, b FROM u EXCEPT ALL SELECT a, b FROM r")
def _(patch: Patches) -> None:
    patch.function(set_operations, "_times", lambda *_: exp.Literal.number(1))


REACHED = (
    "WITH RECURSIVE p(a, d) AS (SELECT b, 1 FROM u UNION ALL "
    "SELECT u.b, p.d + 1 FROM p JOIN u ON u.a = p.a WHERE p.d < 3) SELECT a, d FROM p"
)


@mutant("a recursion has no changes", REACHED)
def _(patch: Patches) -> None:
    patch.rule(delta_rule, Recursive, lambda node: Empty(node.columns, signed=True))


@mutant("in a recursion, rows of opposite sides meet", REACHED)
def _(patch: Patches) -> None:
    patch.function(recursive_delta, "_agree", lambda sides: exp.true())


@mutant("in a recursion, a row forgets the side of what it joins", REACHED)
def _(patch: Patches) -> None:
    patch.function(recursive_delta, "_common", lambda sides: recursive_sides.column(sides[0]))


@mutant("in a recursion, a changed row is the same in both versions as well", REACHED)
def _(patch: Patches) -> None:
    right = recursive_sides._split
    patch.function(recursive_sides, "_split", lambda node: (at("after", node), *right(node)[1:]))


@mutant("in a recursion, no copy of a changed row was there before", REACHED)
def _(patch: Patches) -> None:
    right = recursive_sides._split

    def wrong(node: Node) -> tuple[Node, ...]:
        same, new, old = right(node)
        return same, new, Filter(old, exp.false())

    patch.function(recursive_sides, "_split", wrong)


@mutant("a recursion starts from changes though its step changed", REACHED)
def _(patch: Patches) -> None:
    start = recursive_sides.moved_rows
    patch.function(recursive_delta, "_start", lambda node: start(node.base))


@mutant(
    "a window looks at the whole relation",
    "SELECT id, sum(b) OVER (PARTITION BY a) AS n FROM r",
)
def _(patch: Patches) -> None:
    right = render.dispatch(Window)
    patch.rule(render, Window, lambda node, around: right(replace(node, partition=()), around))


@mutant("the first rows are those of a part", "SELECT a, b FROM u ORDER BY b, a LIMIT 2")
def _(patch: Patches) -> None:
    def wrong(node: TopK) -> Node:
        changes = differentiate(node.input)
        return node.with_inputs(Repeat(Filter(changes, exp.true())))

    patch.rule(delta_rule, TopK, wrong)


@mutant(
    "a set of columns groups by those that it leaves out",
    "SELECT a, b, count(*) AS n FROM u GROUP BY ROLLUP (a, b)",
)
def _(patch: Patches) -> None:
    patch.function(grouping_sets, "_where_chosen", lambda name, *_: column(name))


@mutant(
    "sets of columns are one group where they show the same",
    "SELECT a, b, count(*) AS n FROM u GROUP BY GROUPING SETS ((a), (b))",
)
def _(patch: Patches) -> None:
    right = grouping_sets._number
    patch.function(grouping_sets, "_number", lambda value: right(0))


FIRST = "SELECT id, b FROM r ORDER BY b DESC, id LIMIT 2"


@mutant("the first of the stored rows and the changes are always the first of all", FIRST)
def _(patch: Patches) -> None:
    right = first_rows.first_of
    patch.function(
        maintained_table,
        "first_of",
        lambda candidates, stored, limit: right(candidates, stored.slice(0, 0), limit),
    )


@mutant("rows that went are still among the first", FIRST)
def _(patch: Patches) -> None:
    right = FirstRows.candidates
    patch.function(
        FirstRows,
        "candidates",
        lambda first, stored, changes: right(first, Sum((stored, stored)), changes),
    )


@mutant("the first rows are chosen by the last part of their order", FIRST)
def _(patch: Patches) -> None:
    right = FirstRows.candidates
    patch.function(
        FirstRows,
        "candidates",
        lambda first, stored, changes: right(
            replace(first, order=first.order[1:]), stored, changes
        ),
    )


RECENT = "SELECT id, a FROM ev WHERE ts > now() - INTERVAL 1 DAY"


@mutant("time that moves is no change", RECENT)
def _(patch: Patches) -> None:
    patch.rule(may_change, Clock, lambda clock: False)


@mutant("the old moment stays beside the new one", RECENT)
def _(patch: Patches) -> None:
    patch.rule(delta_rule, Clock, lambda clock: Sum((at("after", clock),)))


@mutant(
    "rows before the refresh are judged by the new moment",
    "SELECT x.a FROM (SELECT a, max(ts) AS m FROM ev WHERE ts <= now() GROUP BY a) AS x",
)
def _(patch: Patches) -> None:
    patch.rule(node_at, Clock, lambda clock, when: replace(clock, version="after"))
