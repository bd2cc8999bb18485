"""GROUPING SETS, ROLLUP and CUBE: one aggregate for each set of columns, put together.

As in Spark, the set of no columns has no row when the input has none, unless it is the only set.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product

from sqlglot import exp

from streamtables.compiler.algebra import (
    Aggregate,
    AggregateCall,
    Node,
    Project,
    Projection,
    UnionAll,
)
from streamtables.compiler.algebra.expressions import null_of
from streamtables.compiler.frontend.binding import Binding, column
from streamtables.compiler.frontend.probes import with_column
from streamtables.compiler.types import BIGINT, INT, SqlType

Sets = list[tuple[exp.Expr, ...]]

TINYINT = SqlType("tinyint")


def expanded(group: exp.Group) -> Sets | None:
    """Return the sets of expressions that a GROUP BY asks for; None for a plain one."""
    plain: list[Sets] = []
    found = False
    for item in group.expressions:
        if isinstance(item, exp.Rollup | exp.Cube | exp.GroupingSets):
            found = True
            plain.append(_sets_of(item, item.expressions))
        else:
            plain.append([(item,)])
    for word, kind in (("rollup", exp.Rollup), ("cube", exp.Cube)):
        for item in group.args.get(word) or ():
            # WITH ROLLUP behind the list takes all of it.
            found = True
            listed = item.expressions or group.expressions
            plain = [_sets_of(kind(), listed)]
    for item in group.args.get("grouping_sets") or ():
        found = True
        plain = [_sets_of(item, item.expressions)]
    if not found:
        return None
    return [tuple(e for part in choice for e in part) for choice in product(*plain)]


def _sets_of(kind: exp.Expr, items: list[exp.Expr]) -> Sets:
    units = [_unit(item) for item in items]
    if isinstance(kind, exp.Rollup):
        chosen = [units[:count] for count in range(len(units), -1, -1)]
    elif isinstance(kind, exp.Cube):
        chosen = [
            list(some) for count in range(len(units), -1, -1) for some in combinations(units, count)
        ]
    else:
        return [
            inner
            for item, unit in zip(items, units, strict=True)
            for inner in (
                _sets_of(item, item.expressions)
                if isinstance(item, exp.Rollup | exp.Cube | exp.GroupingSets)
                else [unit]
            )
        ]
    return [tuple(e for unit in some for e in unit) for some in chosen]


def _unit(item: exp.Expr) -> tuple[exp.Expr, ...]:
    bare = item.unnest()
    return tuple(bare.expressions) if isinstance(bare, exp.Tuple) else (bare,)


@dataclass(frozen=True)
class Branches:
    """The aggregates of all sets as one relation."""

    node: Node
    groups: tuple[str, ...]
    """The columns that show the grouped expressions, NULL where a set leaves one out."""


def aggregate_sets(
    prepared: Node,
    columns: tuple[str, ...],
    sets: list[frozenset[str]],
    calls: tuple[AggregateCall, ...],
    groupings: list[tuple[str, tuple[str, ...]]],
    binding: Binding,
) -> Branches:
    """Return one row per group of each set.

    `groupings` are the calls of GROUPING and GROUPING_ID: a name, and the columns it asks about.
    """
    shown = tuple(binding.namer.fresh(name) for name in columns)
    # Over no rows an aggregate in Python has no row, even of all of them.
    alone = len(sets) == 1 and not any(call.own for call in calls)
    branches = [
        _branch(prepared, columns, shown, chosen, calls, groupings, binding, alone=alone)
        for chosen in sets
    ]
    return Branches(UnionAll(tuple(branches)), shown)


def _branch(
    prepared: Node,
    columns: tuple[str, ...],
    shown: tuple[str, ...],
    chosen: frozenset[str],
    calls: tuple[AggregateCall, ...],
    groupings: list[tuple[str, tuple[str, ...]]],
    binding: Binding,
    *,
    alone: bool,
) -> Node:
    group = tuple(name for name in columns if name in chosen)
    source = prepared
    if not group and not alone:
        every = binding.namer.fresh("every")
        source = with_column(prepared, Projection(every, exp.Literal.number(1), INT))
        group = (every,)
    aggregate = Aggregate(source, group, calls)
    values = [
        Projection(out, _group_value(name, chosen, prepared), prepared.type_of(name))
        for name, out in zip(columns, shown, strict=True)
    ]
    values += [Projection(call.name, column(call.name), call.type) for call in calls]
    values += [_grouping(name, asked, chosen) for name, asked in groupings]
    return Project(aggregate, tuple(values))


def _group_value(name: str, chosen: frozenset[str], prepared: Node) -> exp.Expr:
    return column(name) if name in chosen else null_of(prepared.type_of(name))


def _grouping(name: str, asked: tuple[str, ...], chosen: frozenset[str]) -> Projection:
    value = 0
    for column_name in asked:
        value = 2 * value + (column_name not in chosen)
    type_ = TINYINT if name.startswith("grouping_bit") else BIGINT
    return Projection(name, exp.cast(exp.Literal.number(value), type_, dialect="spark"), type_)
