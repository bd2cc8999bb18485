"""Stored state and contributions put together in SQL.

The small way adds them up on the driver; this is the same for any amount of rows.  A left join is
not an operator of the algebra here, so the combination is a node that knows how to write itself.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from streamtables.compiler.algebra import Column, Node, Project, Projection
from streamtables.compiler.algebra.node import Unary
from streamtables.compiler.backend.operators import Surroundings, render
from streamtables.compiler.backend.select import aliased, name, ref, select
from streamtables.compiler.frontend.binding import column
from streamtables.compiler.maintenance.layout import ROWS
from streamtables.compiler.maintenance.state_shape import StateColumn
from streamtables.compiler.maintenance.stored_state import StoredState
from streamtables.compiler.types import MAX_PRECISION, SqlType, decimal_parts

STORED_TABLE = "stored"


@dataclass(frozen=True, eq=False)
class CombinedState(Unary):
    """The new state of every group that the contributions name."""

    group: tuple[tuple[str, str], ...]
    states: tuple[StateColumn, ...]
    single_row: bool

    @property
    def columns(self) -> tuple[Column, ...]:
        grouped = tuple(Column(inner, self.input.type_of(inner)) for inner, _ in self.group)
        return grouped + tuple(Column(state.name, state.type) for state in self.states)


def combined_rows(state: StoredState) -> Node:
    """Return the rows that the touched groups have after the change, with their state."""
    combined = CombinedState(state.contributions, state.group, state.states, state.single_row)
    kept = tuple(Projection(item.name, column(item.name), item.type) for item in state.states)
    return Project(combined, state.visible + kept)


@render.register
def _(node: CombinedState, around: Surroundings) -> exp.Query:
    adds_exactly = all(_adds_exactly(state.type) for state in node.states)
    query = _added(node, around) if adds_exactly else _summed(node, around)
    if node.single_row:
        return query
    subquery = exp.Subquery(this=query, alias=exp.TableAlias(this=name("g")))
    names = [*(inner for inner, _ in node.group), *(state.name for state in node.states)]
    return select([ref(item) for item in names], subquery, where=_lives())


def _added(node: CombinedState, around: Surroundings) -> exp.Query:
    """Add stored state and contribution as two columns of one row."""
    columns: list[exp.Expr] = [aliased(ref(inner, "c"), inner) for inner, _ in node.group]
    for state in node.states:
        total: exp.Expr = exp.Add(this=_stored(state), expression=ref(state.plus, "c"))
        if state.minus is not None:
            total = exp.Sub(this=total, expression=ref(state.minus, "c"))
        columns.append(aliased(exp.cast(total, state.type, dialect="spark"), state.name))
    return _beside_stored(node, columns, around)


def _summed(node: CombinedState, around: Surroundings) -> exp.Query:
    """Add them with SUM, over three rows each.

    `+` of two decimals with all 38 digits gives up one digit of the scale; SUM gives up none.
    """
    columns: list[exp.Expr] = [aliased(ref(inner, "c"), inner) for inner, _ in node.group]
    for state in node.states:
        columns.append(aliased(_stored(state), f"{state.name}_old"))
        columns.append(aliased(ref(state.plus, "c"), f"{state.name}_in"))
        columns.append(aliased(_taken_away(state), f"{state.name}_out"))
    bounds = [exp.Literal.number(1), exp.Literal.number(3)]
    numbers = exp.Anonymous(this="sequence", expressions=bounds)
    columns.append(aliased(exp.Anonymous(this="explode", expressions=[numbers]), "__st_n"))
    rows = exp.Subquery(
        this=_beside_stored(node, columns, around), alias=exp.TableAlias(this=name("n"))
    )
    groups = [ref(inner) for inner, _ in node.group]
    totals = [aliased(_chosen_sum(state), state.name) for state in node.states]
    query = select([*groups, *totals], rows)
    if groups:
        query.set("group", exp.Group(expressions=[item.copy() for item in groups]))
    return query


def _chosen_sum(state: StateColumn) -> exp.Expr:
    def when(number: int, part: str) -> exp.If:
        here = exp.EQ(this=ref("__st_n"), expression=exp.Literal.number(number))
        return exp.If(this=here, true=ref(f"{state.name}_{part}"))

    value = exp.Case(ifs=[when(1, "old"), when(2, "in"), when(3, "out")])
    total = exp.Anonymous(this="sum", expressions=[value])
    return exp.cast(total, state.type, dialect="spark")


def _beside_stored(
    node: CombinedState, columns: list[exp.Expr], around: Surroundings
) -> exp.Select:
    stored = around.naming(STORED_TABLE, "now")
    stored.set("alias", exp.TableAlias(this=name("s")))
    query = select(columns, around.source(node.input, "c"))
    equal = [
        exp.NullSafeEQ(this=ref(inner, "c"), expression=ref(shown, "s"))
        for inner, shown in node.group
    ]
    condition = exp.and_(*equal) if equal else exp.true()
    query.set("joins", [exp.Join(this=stored, side="LEFT", on=condition)])
    return query


def _adds_exactly(type_: SqlType) -> bool:
    """Whether two additions fit into 38 digits with the scale they have."""
    parts = decimal_parts(type_)
    return parts is None or parts[0] + 2 <= MAX_PRECISION


def _stored(state: StateColumn) -> exp.Expr:
    return exp.Anonymous(this="coalesce", expressions=[ref(state.name, "s"), _zero(state)])


def _taken_away(state: StateColumn) -> exp.Expr:
    return _zero(state) if state.minus is None else exp.Neg(this=ref(state.minus, "c"))


def _zero(state: StateColumn) -> exp.Expr:
    return exp.cast(exp.Literal.number(0), state.type, dialect="spark")


def _lives() -> exp.Expr:
    """A group lives while it has rows; fewer than none means the changes are not the table's."""
    message = exp.Literal.string("streamtables: changes take away rows that were not there")
    wrong = exp.Anonymous(this="raise_error", expressions=[message])
    below = exp.LT(this=ref(ROWS), expression=exp.Literal.number(0))
    above = exp.GT(this=ref(ROWS), expression=exp.Literal.number(0))
    return exp.Case(
        ifs=[exp.If(this=below, true=exp.cast(wrong, "boolean", dialect="spark"))], default=above
    )
