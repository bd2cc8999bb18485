"""The columns of a stored state, and one aggregate taken apart into them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from streamtables.compiler.algebra import WEIGHT, AggregateCall
from streamtables.compiler.frontend.binding import column
from streamtables.compiler.types import BIGINT, SqlType

StateKind = Literal["sum", "min", "max", "float-sum", "float-error"]


@dataclass(frozen=True)
class StateColumn:
    """A hidden value of a group, and the contributions that move it.

    Of an extremum and of a sum of floats `plus` and `minus` are those of the rows that appeared and
    that went, and `count` is the state column that says how many values there are.
    """

    name: str
    type: SqlType
    plus: str
    minus: str | None = None
    kind: StateKind = "sum"
    count: str | None = None
    error: str | None = None
    """Of a sum of floats, the state column that says how far it may be off."""
    special: str | None = None
    """Of a sum of floats, the state column that counts Infinity and NaN, which it leaves out."""


@dataclass(frozen=True)
class VisibleState:
    """A visible column that is a state column as it stands; NULL while `unless_zero` is 0."""

    shown: str
    state: str
    unless_zero: str | None = None


@dataclass(frozen=True)
class StateShape:
    """The columns of a stored state: all that adding contributions to it takes."""

    group: tuple[tuple[str, str], ...]
    """Pairs of a group column of the contributions and the stored column that holds it."""
    states: tuple[StateColumn, ...]
    copied: tuple[VisibleState, ...] | None
    """The visible columns, when each is a group or a state column; None when SQL must compute."""
    single_row: bool

    @property
    def may_lose(self) -> bool:
        """Whether a group may be lost: what is stored does not always tell its new row."""
        return any(state.kind != "sum" for state in self.states)


@dataclass(frozen=True)
class Parts:
    """One aggregate taken apart."""

    states: tuple[StateColumn, ...]
    contributed: tuple[AggregateCall, ...]
    filled: tuple[AggregateCall, ...]
    value: exp.Expr
    copy: tuple[str, str | None] | None


def is_not_null(argument: exp.Expr) -> exp.Expr:
    """Return that an argument has a value."""
    inner = exp.paren(argument.copy(), copy=False)
    return exp.Not(this=exp.Is(this=inner, expression=exp.null()))


def moved_count(call: AggregateCall, name: str, *more: exp.Expr) -> AggregateCall:
    """Return Σ weight over the rows that COUNT would count, of those that meet more conditions."""
    conditions: list[exp.Expr] = []
    conditions += [] if call.condition is None else [exp.paren(call.condition.copy(), copy=False)]
    if not call.over_star:
        conditions += [is_not_null(argument) for argument in call.arguments]
    conditions += more
    return AggregateCall(
        name=name,
        function="sum",
        arguments=(column(WEIGHT),),
        argument_types=(BIGINT,),
        condition=exp.and_(*conditions) if conditions else None,
        type=BIGINT,
    )


def signed(call: AggregateCall, sign: type[exp.Binary]) -> exp.Expr:
    """Return the condition of a call, of the rows that appeared (GT) or went (LT) alone."""
    side = sign(this=column(WEIGHT), expression=exp.Literal.number(0))
    if call.condition is None:
        return side
    return exp.and_(side, exp.paren(call.condition.copy(), copy=False))


def plus_and_minus(call: AggregateCall, name: str) -> tuple[AggregateCall, AggregateCall]:
    """Return a call over the rows that appeared, and over those that went."""
    plus = replace(call, name=f"{name}_plus", condition=signed(call, exp.GT))
    return plus, replace(call, name=f"{name}_minus", condition=signed(call, exp.LT))


def where_some(value: exp.Expr, count: str) -> exp.Expr:
    """Return a value where something was counted, else NULL."""
    some = exp.GT(this=column(count), expression=exp.Literal.number(0))
    return exp.Case(ifs=[exp.If(this=some, true=value)])
