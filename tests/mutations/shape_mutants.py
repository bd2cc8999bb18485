"""Wrong rules of what makes rows of rows: generators, marks, full joins, sets, pivots, peers."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streamtables.compiler.algebra import (
    Existence,
    Generate,
    Negate,
    Net,
    Node,
    Sum,
    UnionAll,
    at,
    differentiate,
)
from streamtables.compiler.algebra.node import delta_rule
from streamtables.compiler.frontend import peers, pivot, set_operations
from tests.mutations.mutants import Patches, mutant

OUTER = """SELECT r.id, e.x FROM r
    LATERAL VIEW OUTER explode(CASE WHEN b > 0 THEN array(a, b) END) e AS x"""
MARK = "SELECT id, EXISTS (SELECT 1 FROM u WHERE u.a = r.a) AS e FROM r"
FULL_JOIN = "SELECT r.id, u.b FROM r FULL JOIN u ON r.a = u.a"
INTERSECT = "SELECT a, b FROM u INTERSECT SELECT a, b FROM r"
UNION = "SELECT a FROM r UNION SELECT b FROM u"
PIVOT = "SELECT * FROM (SELECT a, b FROM u) PIVOT (sum(b) FOR a IN (0, 1))"
UNPIVOT = "SELECT id, k, w FROM r UNPIVOT (w FOR k IN (a, b))"
RUNNING = "SELECT id, sum(CAST(a AS DOUBLE) / 3) OVER (PARTITION BY s ORDER BY b) AS n FROM r"


@mutant("rows for which a generator makes none go without a trace", OUTER)
def _(patch: Patches) -> None:
    def wrong(node: Generate) -> Node:
        return replace(node, input=differentiate(node.input), outer=False)

    patch.rule(delta_rule, Generate, wrong)


@mutant("a mark is not looked at again when the other side changes", MARK)
def _(patch: Patches) -> None:
    def wrong(node: Existence) -> Node:
        return Net(node.with_inputs(differentiate(node.left), at("after", node.right)))

    patch.rule(delta_rule, Existence, wrong)


@mutant("changes of a later branch are no changes", FULL_JOIN)
def _(patch: Patches) -> None:
    patch.rule(delta_rule, UnionAll, lambda node: differentiate(node.inputs[0]))


@mutant("what goes from a branch comes", FULL_JOIN)
def _(patch: Patches) -> None:
    def wrong(node: UnionAll) -> Node:
        first, *others = (differentiate(item) for item in node.inputs)
        return Sum((first, *map(Negate, others)))

    patch.rule(delta_rule, UnionAll, wrong)


@mutant("INTERSECT shows what is on the left", INTERSECT)
def _(patch: Patches) -> None:
    def left_alone(query: exp.SetOperation, on_left: str, *_: str, everywhere: bool) -> exp.Expr:
        return exp.GT(this=exp.column(on_left), expression=exp.Literal.number(0))

    patch.function(set_operations, "_is_shown", left_alone)


@mutant("UNION shows a row as often as it is there", UNION)
def _(patch: Patches) -> None:
    patch.function(set_operations, "Distinct", lambda node: node)


@mutant("a cell of a pivot adds up all values", PIVOT)
def _(patch: Patches) -> None:
    patch.function(pivot, "_cell", lambda call, same: call)


@mutant("UNPIVOT shows values that are not there", UNPIVOT)
def _(patch: Patches) -> None:
    patch.function(pivot, "_any_present", lambda parts: exp.true())


@mutant("of the peers the first has what all show", RUNNING)
def _(patch: Patches) -> None:
    wrong = {**peers._PICKERS, peers._UP_TO_HERE: "min_by"}
    patch.function(peers, "_PICKERS", wrong)  # type: ignore[arg-type]  # a table, not a function
