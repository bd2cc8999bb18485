"""Wrong rules, each a small edit of a right one; the oracle must see every one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from sqlglot import exp

from streamtables.compiler.algebra import (
    Clock,
    Distinct,
    Empty,
    Filter,
    InnerJoin,
    Keys,
    Negate,
    Net,
    Node,
    Probe,
    Recursive,
    Repeat,
    Restrict,
    Scan,
    Sum,
    TopK,
    UnionAll,
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
from streamtables.compiler.backend import combine, operators
from streamtables.compiler.backend.operators import render
from streamtables.compiler.backend.select import ref, select
from streamtables.compiler.frontend import (
    attach,
    grouping_sets,
    joins,
    scalar_subquery,
    set_operations,
)
from streamtables.compiler.frontend.binding import column
from streamtables.compiler.maintenance import FirstRows, forms, stored_state
from streamtables.compiler.maintenance.root_chain import RootChain
from streamtables.compiler.rewrites import before_from_after, prune_columns
from streamtables.compiler.rewrites.mark_unchanged import mark_unchanged
from streamtables.engine import combine_state, first_rows
from tests.support import maintained_table


class Patches:
    """Edits that are all taken back at the end."""

    def __init__(self, attributes: pytest.MonkeyPatch, stack: ExitStack) -> None:
        self._attributes = attributes
        self._stack = stack

    def function(self, module: object, name: str, wrong: Callable[..., Any]) -> None:
        """Replace a function of a module or class."""
        self._attributes.setattr(module, name, wrong)

    def rule(self, dispatch: Any, kind: type[Node], wrong: Callable[..., Any]) -> None:
        """Replace the rule of one operator."""
        self._stack.callback(dispatch.register, kind, dispatch.dispatch(kind))
        dispatch.register(kind, wrong)


@dataclass(frozen=True)
class Mutant:
    """A wrong rule and how to put it in place of the right one."""

    name: str
    query: str
    apply: Callable[[Patches], None]


MUTANTS: list[Mutant] = []

JOIN = "SELECT r.id, u.b FROM r JOIN u ON r.a = u.a"
JOIN_OF_THREE = "SELECT u.b, v.f FROM u JOIN v USING (a) JOIN r ON r.b = u.b"
STATE = "SELECT a, sum(b) AS s, count(b) AS n FROM u GROUP BY a"
GLOBAL = "SELECT count(*) AS n, sum(b) AS s FROM u"
HAVING = "SELECT a, count(*) AS n FROM u GROUP BY a HAVING count(*) > 1"
GROUPS = "SELECT a, max(b) AS m FROM u GROUP BY a"
UNION = "SELECT a FROM r UNION ALL SELECT b FROM u"
DISTINCT = "SELECT x.a FROM (SELECT DISTINCT a, b FROM u) AS x"
NESTED = "SELECT r.a, g.n FROM r JOIN (SELECT a, count(*) AS n FROM u GROUP BY a) AS g ON r.a = g.a"
SELF_JOIN = "SELECT x.b, y.b AS c FROM u AS x JOIN u AS y ON x.a = y.a"

GROUPED_RANKS = """SELECT a, max(n) AS m FROM (
    SELECT a, row_number() OVER (PARTITION BY b ORDER BY a) AS n FROM u) GROUP BY a"""
COUNTED_MATCHES = "SELECT r.a, max(u.b) AS m FROM r LEFT JOIN u ON r.a = u.a GROUP BY r.a"
GROUPED_JOIN = "SELECT r.a, max(u.b) AS m FROM r JOIN u ON r.a = u.a GROUP BY r.a"
STATE_OF_MATCHES = """SELECT a, count(*) AS n FROM r
    WHERE EXISTS (SELECT 1 FROM u WHERE u.a = r.a AND u.b > 0) GROUP BY a"""


EXTREMES = "SELECT a, min(b) AS l, max(b) AS h, count(b) AS n FROM u GROUP BY a"
EXTREMES_OF_PAIRS = """SELECT x.a % 2 AS g, max(x.b * y.b) AS m, min(x.b - y.b) AS n
    FROM u AS x JOIN u AS y ON x.a = y.a GROUP BY x.a % 2"""


def mutant(name: str, query: str) -> Callable[[Callable[[Patches], None]], None]:
    """List a function as the mutant of this name; `query` uses the rule that it breaks."""

    def listed(apply: Callable[[Patches], None]) -> None:
        MUTANTS.append(Mutant(name, query, apply))

    return listed


@contextmanager
def mutated(wrong: Mutant) -> Iterator[None]:
    """Put a mutant in place for a while."""
    with pytest.MonkeyPatch.context() as attributes, ExitStack() as stack:
        wrong.apply(Patches(attributes, stack))
        yield


def _join_terms(join: InnerJoin, left: Any, right: Any) -> Node:
    terms = []
    for index, part in enumerate(join.parts):
        before = [at(left, item) for item in join.parts[:index]]
        after = [at(right, item) for item in join.parts[index + 1 :]]
        terms.append(join.with_inputs(*before, differentiate(part), *after))
    return Sum(tuple(terms))


@mutant("a join reads both sides after the refresh", JOIN)
def _(patch: Patches) -> None:
    patch.rule(delta_rule, InnerJoin, lambda join: _join_terms(join, "after", "after"))


@mutant("a join reads both sides before the refresh", SELF_JOIN)
def _(patch: Patches) -> None:
    patch.rule(delta_rule, InnerJoin, lambda join: _join_terms(join, "before", "before"))


@mutant("a join loses its last term", JOIN_OF_THREE)
def _(patch: Patches) -> None:
    def wrong(join: InnerJoin) -> Node:
        whole = _join_terms(join, "before", "after")
        assert isinstance(whole, Sum)
        return Sum(whole.terms[:-1])

    patch.rule(delta_rule, InnerJoin, wrong)


@mutant("the weights of a join are not multiplied", SELF_JOIN)
def _(patch: Patches) -> None:
    patch.function(operators, "_product", lambda weights: weights[0])


@mutant("the old version is read as the new one", JOIN)
def _(patch: Patches) -> None:
    patch.rule(node_at, Scan, lambda scan, when: replace(scan, version="after"))


@mutant("before is derived without taking the changes away", SELF_JOIN)
def _(patch: Patches) -> None:
    right = before_from_after._replace

    def wrong(old: Node, new: Node) -> Node:
        if isinstance(new, Scan) and new.version == "before":
            return replace(new, version="after")
        return right(old, new)

    patch.function(before_from_after, "_replace", wrong)


@mutant(
    "groups over after − changes are computed without netting",
    "SELECT r.a, g.m FROM r JOIN (SELECT a, max(b) AS m FROM u GROUP BY a) AS g ON r.a = g.a",
)
def _(patch: Patches) -> None:
    right = before_from_after._replace

    def wrong(old: Node, new: Node) -> Node:
        made = right(old, new)
        below = made.inputs[0] if made.inputs else None
        if isinstance(below, Repeat) and isinstance(below.input, Net):
            return made.with_inputs(Repeat(below.input.input))
        return made

    patch.function(before_from_after, "_replace", wrong)


@mutant("netting keeps rows of weight zero", STATE)
def _(patch: Patches) -> None:
    right = render.dispatch(Net)

    def wrong(node: Net, around: Any) -> exp.Query:
        query = right(node, around)
        query.set("where", None)
        return query

    patch.rule(render, Net, wrong)


@mutant("a NULL key is compared with =", GROUPS)
def _(patch: Patches) -> None:
    right = render.dispatch(Restrict)

    def wrong(node: Restrict, around: Any) -> exp.Query:
        query = right(node, around)
        for equal in list(query.args["joins"][0].find_all(exp.NullSafeEQ)):
            equal.replace(exp.EQ(this=equal.this, expression=equal.expression))
        return query

    patch.rule(render, Restrict, wrong)


@mutant("touched keys come from inserted rows only", GROUPS)
def _(patch: Patches) -> None:
    def wrong(node: Keys, around: Any) -> exp.Query:
        appeared = exp.GT(this=ref("__st_weight"), expression=exp.Literal.number(0))
        where = appeared if node.input.signed else None
        source = around.source(node.input, "t")
        query = select([ref(name) for name in node.key_columns], source, where=where)
        query.set("distinct", exp.Distinct())
        return query

    patch.rule(render, Keys, wrong)


@mutant("what goes is added instead of taken away", GROUPS)
def _(patch: Patches) -> None:
    right = render.dispatch(Negate)

    def wrong(node: Negate, around: Any) -> exp.Query:
        query = right(node, around)
        for minus in list(query.find_all(exp.Neg)):
            minus.replace(minus.this)
        return query

    patch.rule(render, Negate, wrong)


@mutant("the row of a global aggregate goes with the last row of its table", GLOBAL)
def _(patch: Patches) -> None:
    right = combine.combined_rows

    def wrong(state: stored_state.StoredState) -> Node:
        return right(replace(state, single_row=False))

    patch.function(forms, "combined_rows", wrong)


@mutant("HAVING is forgotten when groups are computed again", HAVING)
def _(patch: Patches) -> None:
    def wrong(chain: RootChain, keyed: Node) -> Node:
        result = keyed
        for node in reversed(chain.above):
            result = result if isinstance(node, Filter) else node.with_inputs(result)
        return result

    patch.function(RootChain, "rebuilt", wrong)


@mutant("UNION ALL loses a branch", UNION)
def _(patch: Patches) -> None:
    patch.rule(delta_rule, UnionAll, lambda node: node.with_inputs(differentiate(node.branches[0])))


@mutant("a stored sum ignores what is taken away", STATE)
def _(patch: Patches) -> None:
    right = stored_state._parts

    def wrong(*arguments: Any) -> Any:
        parts = right(*arguments)
        return replace(parts, states=tuple(replace(s, minus=None) for s in parts.states))

    patch.function(stored_state, "_parts", wrong)


@mutant("a stored count counts NULL", STATE)
def _(patch: Patches) -> None:
    patch.function(stored_state, "_is_not_null", lambda argument: exp.true())


@mutant("a row of weight two contributes once", STATE)
def _(patch: Patches) -> None:
    right = render.dispatch(Repeat)

    def wrong(node: Repeat, around: Any) -> exp.Query:
        query = right(node, around)
        for call in list(query.find_all(exp.Anonymous)):
            if call.this == "sequence":
                call.set("expressions", [call.expressions[0], call.expressions[0].copy()])
        return query

    patch.rule(render, Repeat, wrong)


@mutant("an extremum is taken from rows that only seem to come", EXTREMES_OF_PAIRS)
def _(patch: Patches) -> None:
    patch.function(stored_state, "_netted", lambda changes: changes)


@mutant("values that went count as values that came", EXTREMES)
def _(patch: Patches) -> None:
    right = stored_state._signed
    other = {exp.GT: exp.LT, exp.LT: exp.GT}
    patch.function(stored_state, "_signed", lambda call, sign: right(call, other[sign]))


@mutant("a greatest value is kept as a least one", EXTREMES)
def _(patch: Patches) -> None:
    right = stored_state._extremum_parts

    def wrong(*arguments: Any) -> Any:
        parts = right(*arguments)
        kept, count = parts.states
        return replace(parts, states=(replace(kept, kind="min"), count))

    patch.function(stored_state, "_extremum_parts", wrong)


@mutant("an extremum that went stays", EXTREMES)
def _(patch: Patches) -> None:
    right = combine_state._improved

    def wrong(*arguments: Any) -> Any:
        found = right(*arguments)
        return replace(found, lost=pc.and_(found.lost, False))

    patch.function(combine_state, "_improved", wrong)


@mutant("a value as good as the extremum takes nothing with it", EXTREMES)
def _(patch: Patches) -> None:
    def wrong(value: pa.ChunkedArray, than: pa.ChunkedArray, kind: str) -> pa.ChunkedArray:
        compared = pc.less(value, than) if kind == "min" else pc.greater(value, than)
        return pc.and_(pc.is_valid(value), pc.fill_null(compared, True))

    patch.function(combine_state, "_is_as_good", wrong)


@mutant("the extremum of no values is the last one", EXTREMES)
def _(patch: Patches) -> None:
    right = combine_state._improved

    def wrong(item: Any, contributions: pa.Table, stored: Any, sums: Any) -> Any:
        some = {name: pc.add(values, 1) for name, values in sums.items()}
        return right(item, contributions, stored, some)

    patch.function(combine_state, "_improved", wrong)


@mutant("lost groups are computed as they were before", EXTREMES)
def _(patch: Patches) -> None:
    right = forms.ChangedTables._filled

    def wrong(programs: forms.ChangedTables, keys: Keys | None) -> Node:
        return at("before", right(programs, keys))

    patch.function(forms.ChangedTables, "_filled", wrong)


@mutant("the columns of a DISTINCT are pruned like those of a projection", DISTINCT)
def _(patch: Patches) -> None:
    right = prune_columns._reads

    def wrong(node: Node, needed: set[str]) -> list[set[str]]:
        if isinstance(node, Distinct):
            return [needed or {node.names[0]}]
        return right(node, needed)

    patch.function(prune_columns, "_reads", wrong)


@mutant("changed tables are taken for unchanged ones", JOIN)
def _(patch: Patches) -> None:
    right = mark_unchanged

    def wrong(root: Node, changed: frozenset[str]) -> Node:
        return right(root, frozenset(sorted(changed)[1:]))

    patch.function(forms, "mark_unchanged", wrong)


@mutant("USING joins every pair", JOIN_OF_THREE)
def _(patch: Patches) -> None:
    patch.function(joins, "_equal", lambda pairs: [])


LEFT_JOIN = "SELECT r.id, u.b FROM r LEFT JOIN u ON r.a = u.a"
SEMI_JOIN = "SELECT r.id FROM r WHERE EXISTS (SELECT 1 FROM u WHERE u.a = r.a)"
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
