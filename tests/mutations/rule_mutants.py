"""Wrong rules of joins, groups, nets and versions: what every delta is built of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlglot import exp

from streamtables.compiler.algebra import (
    Distinct,
    Filter,
    InnerJoin,
    Keys,
    Negate,
    Net,
    Node,
    Repeat,
    Restrict,
    Scan,
    Sum,
    UnionAll,
    at,
    differentiate,
)
from streamtables.compiler.algebra.node import delta_rule, node_at
from streamtables.compiler.backend import combine, operators
from streamtables.compiler.backend.operators import render
from streamtables.compiler.backend.select import ref, select
from streamtables.compiler.frontend import (
    joins,
)
from streamtables.compiler.maintenance import forms, stored_state
from streamtables.compiler.maintenance.root_chain import RootChain
from streamtables.compiler.rewrites import before_from_after, prune_columns
from streamtables.compiler.rewrites.mark_unchanged import mark_unchanged
from tests.mutations.mutants import Patches, mutant

JOIN = "SELECT r.id, u.b FROM r JOIN u ON r.a = u.a"
JOIN_OF_THREE = "SELECT u.b, v.f FROM u JOIN v USING (a) JOIN r ON r.b = u.b"
STATE = "SELECT a, sum(b) AS s, count(b) AS n FROM u GROUP BY a"
GLOBAL = "SELECT count(*) AS n, sum(b) AS s FROM u"
HAVING = "SELECT a, count(*) AS n FROM u GROUP BY a HAVING count(*) > 1"
GROUPS = "SELECT a, max(b) AS m FROM u GROUP BY a"
UNION = "SELECT a FROM r UNION ALL SELECT b FROM u"
DISTINCT = "SELECT x.a FROM (SELECT DISTINCT a, b FROM u) AS x"
SELF_JOIN = "SELECT x.b, y.b AS c FROM u AS x JOIN u AS y ON x.a = y.a"


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
