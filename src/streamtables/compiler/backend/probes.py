"""How joins that look up each left row by itself are written: LEFT, SEMI, ANTI and mark joins."""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra import WEIGHT, Existence, LeftJoin, Probe, Touched
from streamtables.compiler.algebra.bounded import is_bounded
from streamtables.compiler.backend.operators import Surroundings, broadcast, key_equality, render
from streamtables.compiler.backend.select import aliased, name, ref, refs, select

_FOUND = "__st_found"


@render.register
def _(node: LeftJoin, around: Surroundings) -> exp.Query:
    columns = [ref(item, "l") for item in node.left.names]
    columns += [ref(item, "r") for item in node.right.names]
    return _joined(node, [*columns, *_weight(node)], around, side="LEFT")


@render.register
def _(node: Existence, around: Surroundings) -> exp.Query:
    if node.mode != "mark":
        return _matching(node, node.mode, [], around)
    if len(node.equalities) == len(node.conditions):
        return _marked_by_key(node, around)
    # Spark cannot plan EXISTS in a select list below a UNION, so each answer is a query.
    found = _matching(node, "semi", [aliased(exp.true(), node.mark)], around)
    missing = _matching(node, "anti", [aliased(exp.false(), node.mark)], around)
    return exp.Union(this=found, expression=missing, distinct=False)


def _matching(node: Existence, mode: str, more: list[exp.Expr], around: Surroundings) -> exp.Select:
    columns: list[exp.Expr] = [ref(item, "l") for item in node.left.names]
    columns += [*more, *_weight(node)]
    return _joined(node, columns, around, side="LEFT", kind=mode.upper())


def _marked_by_key(node: Existence, around: Surroundings) -> exp.Query:
    """Look each row up among the distinct keys of the right side."""
    keys: list[exp.Expr] = [ref(right) for _, right in node.equalities]
    distinct = select([*keys, aliased(exp.true(), _FOUND)], around.source(node.right, "k"))
    distinct.set("distinct", exp.Distinct())
    found = exp.Anonymous(this="coalesce", expressions=[ref(_FOUND, "r"), exp.false()])
    columns: list[exp.Expr] = [ref(item, "l") for item in node.left.names]
    columns += [aliased(found, node.mark), *_weight(node)]
    query = select(columns, around.source(node.left, "l"))
    right = exp.Subquery(this=distinct, alias=exp.TableAlias(this=name("r")))
    query.set("joins", [exp.Join(this=right, on=_all(node), side="LEFT")])
    if around.small_changes and is_bounded(node.right):
        query.set("hint", broadcast("r"))
    return query


@render.register
def _(node: Touched, around: Surroundings) -> exp.Query:
    """One pass: every key set is looked up beside each row."""
    query = select(refs(node, "t"), around.source(node.input, "t"))
    lookups, found = [], []
    for number, (keys, pairs) in enumerate(zip(node.key_sets, node.pairs, strict=True), start=1):
        alias, flag = f"k{number}", f"{_FOUND}_{number}"
        columns: list[exp.Expr] = [ref(item) for item in keys.names]
        marked = select([*columns, aliased(exp.true(), flag)], around.source(keys, "k"))
        subquery = exp.Subquery(this=marked, alias=exp.TableAlias(this=name(alias)))
        same = key_equality(keys)
        equal = [same(this=ref(column, "t"), expression=ref(key, alias)) for column, key in pairs]
        lookups.append(exp.Join(this=subquery, on=exp.and_(*equal), side="LEFT"))
        found.append(ref(flag, alias))
    query.set("joins", lookups)
    query.set("where", exp.Where(this=exp.or_(*found)))
    if around.small_changes:
        query.set("hint", broadcast(*(f"k{number + 1}" for number in range(len(node.key_sets)))))
    return query


def _joined(node: Probe, columns: list[exp.Expr], around: Surroundings, **words: str) -> exp.Select:
    query = select(columns, around.source(node.left, "l"))
    right = around.source(node.right, "r")
    query.set("joins", [exp.Join(this=right, on=_all(node), **words)])
    if around.small_changes and is_bounded(node.right):
        query.set("hint", broadcast("r"))
    return query


def _all(node: Probe) -> exp.Expr:
    return exp.and_(*node.conditions) if node.conditions else exp.true()


def _weight(node: Probe) -> list[exp.Expr]:
    return [ref(WEIGHT, "l")] if node.signed else []
