"""GROUPING SETS, ROLLUP and CUBE: each row once for every set of columns, and one aggregate of all.

    γ(S₁), …, γ(Sₙ) of X  =  γ(number, columns) of ⋃ᵢ (X, i, columns that are NULL outside Sᵢ)

So sums and counts of sets are kept as state like those of any other groups.  The trap: an aggregate
reads the values that a subtotal hides, so the columns that group stand beside those that are read.
As in Spark, the set of no columns has no row when the input has none, unless it is the only set.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product

from sqlglot import exp

from streamtables.compiler.algebra import (
    Aggregate,
    AggregateCall,
    Column,
    Generate,
    Node,
    Project,
    Projection,
    UnionAll,
)
from streamtables.compiler.algebra.expressions import null_of
from streamtables.compiler.frontend.binding import Binding, column
from streamtables.compiler.frontend.probes import with_column
from streamtables.compiler.types import INT, SqlType

Sets = list[tuple[exp.Expr, ...]]
Named = tuple[tuple[str, str], ...]
"""Pairs of a column that is grouped by, and the column that shows it."""


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
class GroupedSets:
    """The groups of all sets as one relation."""

    node: Node
    groups: tuple[str, ...]
    """The columns that show the grouped expressions, NULL where a set leaves one out."""


@dataclass(frozen=True)
class Asked:
    """A call of GROUPING or GROUPING_ID: the column of its answer, and those it asks about."""

    name: str
    columns: tuple[str, ...]
    type: SqlType

    def answer(self, chosen: frozenset[str]) -> exp.Expr:
        """Return the bits of the columns that a set leaves out."""
        value = 0
        for name in self.columns:
            value = 2 * value + (name not in chosen)
        return exp.Literal.number(value)


def aggregate_sets(
    prepared: Node,
    columns: tuple[str, ...],
    sets: list[frozenset[str]],
    calls: tuple[AggregateCall, ...],
    asked: list[Asked],
    binding: Binding,
) -> GroupedSets:
    """Return one row per group of each set."""
    shown = tuple(binding.namer.fresh(name) for name in columns)
    if len(sets) == 1:
        aggregate, answers = _of_one_set(prepared, columns, sets[0], calls, asked, binding)
        groups = [
            Projection(out, _group_value(name, sets[0], prepared), prepared.type_of(name))
            for name, out in zip(columns, shown, strict=True)
        ]
    else:
        number = binding.namer.fresh("grouping_set")
        named = tuple(zip(columns, shown, strict=True))
        # Where all rows are one of the groups, no key spares reading them: once is enough.
        numbered = _in_one_pass if frozenset() in sets else _set_by_set
        aggregate = Aggregate(numbered(prepared, named, sets, number), (number, *shown), calls)
        answers = [_by_number(item, number, sets) for item in asked]
        groups = [Projection(out, column(out), aggregate.type_of(out)) for out in shown]
    values = [Projection(call.name, column(call.name), call.type) for call in calls]
    return GroupedSets(Project(aggregate, (*groups, *values, *answers)), shown)


def _of_one_set(
    prepared: Node,
    columns: tuple[str, ...],
    chosen: frozenset[str],
    calls: tuple[AggregateCall, ...],
    asked: list[Asked],
    binding: Binding,
) -> tuple[Aggregate, list[Projection]]:
    group = tuple(name for name in columns if name in chosen)
    if not group and any(call.own for call in calls):
        # Over no rows an aggregate in Python has no row, even of all of them.
        every = binding.namer.fresh("every")
        prepared, group = with_column(prepared, Projection(every, _number(1), INT)), (every,)
    answers = [_typed(item, item.answer(chosen)) for item in asked]
    return Aggregate(prepared, group, calls), answers


def _set_by_set(prepared: Node, named: Named, sets: list[frozenset[str]], number: str) -> Node:
    """Return the rows of all sets, of which keys reach those of each by its own columns."""
    rows = []
    for place, chosen in enumerate(sets):
        groups = (
            Projection(out, _group_value(name, chosen, prepared), prepared.type_of(name))
            for name, out in named
        )
        mark = Projection(number, _number(place), INT)
        rows.append(Project(prepared, (*_all_columns(prepared), *groups, mark)))
    return UnionAll(tuple(rows))


def _in_one_pass(prepared: Node, named: Named, sets: list[frozenset[str]], number: str) -> Node:
    """Return the rows of all sets, each made as often as there are sets."""
    bounds = [_number(0), _number(len(sets) - 1)]
    numbers = exp.Anonymous(this="sequence", expressions=bounds)
    call = exp.Anonymous(this="explode", expressions=[numbers])
    repeated = Generate(prepared, call, (Column(number, INT),))
    groups = (
        Projection(out, _where_chosen(name, sets, number, prepared), prepared.type_of(name))
        for name, out in named
    )
    return Project(repeated, (*_all_columns(repeated), *groups))


def _where_chosen(name: str, sets: list[frozenset[str]], number: str, prepared: Node) -> exp.Expr:
    """Return a column, NULL in the sets that leave it out."""
    places = [_number(place) for place, chosen in enumerate(sets) if name in chosen]
    if len(places) == len(sets):
        return column(name)
    chosen = exp.In(this=column(number), expressions=places)
    return exp.Case(
        ifs=[exp.If(this=chosen, true=column(name))], default=null_of(prepared.type_of(name))
    )


def _all_columns(node: Node) -> tuple[Projection, ...]:
    return tuple(Projection(item.name, column(item.name), item.type) for item in node.columns)


def _group_value(name: str, chosen: frozenset[str], prepared: Node) -> exp.Expr:
    return column(name) if name in chosen else null_of(prepared.type_of(name))


def _by_number(item: Asked, number: str, sets: list[frozenset[str]]) -> Projection:
    """Return the answer of a call for each of the sets."""
    answers = [
        exp.If(this=_number(place), true=item.answer(chosen)) for place, chosen in enumerate(sets)
    ]
    return _typed(item, exp.Case(this=column(number), ifs=answers))


def _typed(item: Asked, value: exp.Expr) -> Projection:
    return Projection(item.name, exp.cast(value, item.type, dialect="spark"), item.type)


def _number(value: int) -> exp.Expr:
    return exp.Literal.number(value)
