"""Conditions so plain that whoever fetches rows can judge them as Spark does.

    column ⋄ constant        with ⋄ one of = < <= > >= and IN
    column LIKE 'text%'      also '%text' and '%text%', of text alone

Only types count whose order is that of their bytes or digits everywhere: whole numbers, short
decimals, dates, and text that is compared by its bytes.  What is not of this form is no condition
here: rows that it would leave out are fetched, and Spark leaves them out.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from sqlglot import exp

from streamtables.compiler.types import (
    DATE,
    STRING,
    SqlType,
    decimal_parts,
    is_decimal,
    is_integer,
    normal_type,
)

Comparison = Literal["=", "<", "<=", ">", ">=", "in", "starts", "ends", "contains"]
ConstantKind = Literal["number", "date", "text"]

_COMPARISONS: dict[type[exp.Expr], tuple[Comparison, Comparison]] = {
    exp.EQ: ("=", "="),
    exp.LT: ("<", ">"),
    exp.LTE: ("<=", ">="),
    exp.GT: (">", "<"),
    exp.GTE: (">=", "<="),
}
"""Each comparison, and what it is with its sides exchanged."""
_EXACT_DIGITS = 18
"""Up to how many digits decimals of different scales compare without a digit being lost."""
_NUMBER = re.compile(r"\d{1,18}(\.\d{1,9})?")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_ESCAPES = frozenset("\\'\"")
_PATTERN = re.compile(r"(%?)([^%_]+)(%?)")
"""A text with anything before it, behind it, or both."""
_PATTERNS: dict[tuple[bool, bool], Comparison] = {
    (False, False): "=",
    (False, True): "starts",
    (True, False): "ends",
    (True, True): "contains",
}
_MONTHS = {"MONTH": 1, "YEAR": 12}
_DAYS = {"DAY": 1, "WEEK": 7}


@dataclass(frozen=True, order=True)
class PlainCondition:
    """A column and the constants that it is compared with, as texts of one kind."""

    column: str
    comparison: Comparison
    kind: ConstantKind
    constants: tuple[str, ...]


def plain_conditions(
    condition: exp.Expr, type_of: Callable[[str], SqlType]
) -> tuple[PlainCondition, ...]:
    """Return the plain ones of the conditions that all have to hold."""
    found: list[PlainCondition] = []
    for part in _conjuncts(condition):
        found.extend(_plain(part, type_of))
    return tuple(found)


def _conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    match condition:
        case exp.Paren():
            return _conjuncts(condition.this)
        case exp.And():
            return [*_conjuncts(condition.this), *_conjuncts(condition.expression)]
        case _:
            return [condition]


def _plain(part: exp.Expr, type_of: Callable[[str], SqlType]) -> list[PlainCondition]:
    if isinstance(part, exp.Between):
        low = _compared(part.this, ">=", (part.args["low"],), type_of)
        high = _compared(part.this, "<=", (part.args["high"],), type_of)
        return [*low, *high]
    if isinstance(part, exp.In):
        # A subquery, or a field that is unnested, has no list of expressions.
        return _compared(part.this, "in", tuple(part.expressions), type_of)
    if isinstance(part, exp.Like):
        return _like(part, type_of)
    if type(part) not in _COMPARISONS:
        return []
    straight, turned = _COMPARISONS[type(part)]
    if isinstance(part.this, exp.Column):
        return _compared(part.this, straight, (part.expression,), type_of)
    return _compared(part.expression, turned, (part.this,), type_of)


def _like(part: exp.Like, type_of: Callable[[str], SqlType]) -> list[PlainCondition]:
    text = None if part.args.get("negate") else _text(part.expression)
    found = None if text is None else _PATTERN.fullmatch(text)
    if found is None:
        return []
    before, constant, behind = found.groups()
    comparison = _PATTERNS[bool(before), bool(behind)]
    of_text = _compared(part.this, comparison, (exp.Literal.string(constant),), type_of)
    # LIKE makes text of what is none.
    return [item for item in of_text if item.kind == "text"]


def _compared(
    column: exp.Expr,
    comparison: Comparison,
    values: tuple[exp.Expr, ...],
    type_of: Callable[[str], SqlType],
) -> list[PlainCondition]:
    if not isinstance(column, exp.Column) or column.table or not values:
        return []
    kind = _kind(type_of(column.name))
    if kind is None:
        return []
    constants = [_CONSTANTS[kind](value) for value in values]
    if any(constant is None for constant in constants):
        return []
    texts = tuple(sorted({text for text in constants if text is not None}))
    return [PlainCondition(column.name, comparison, kind, texts)]


def _kind(type_: SqlType) -> ConstantKind | None:
    if type_ == DATE:
        return "date"
    if type_ == STRING:
        return "text"
    parts = decimal_parts(type_)
    if is_integer(type_) or (is_decimal(type_) and parts is not None and parts[0] <= _EXACT_DIGITS):
        return "number"
    return None


def _number(value: exp.Expr) -> str | None:
    if isinstance(value, exp.Neg):
        inner = _number(value.this)
        return None if inner is None or inner.startswith("-") else f"-{inner}"
    if not isinstance(value, exp.Literal) or value.is_string:
        return None
    return str(value.this) if _NUMBER.fullmatch(str(value.this)) else None


def _text(value: exp.Expr) -> str | None:
    """Return a text that stands for itself: no character of it can have been escaped."""
    if not isinstance(value, exp.Literal) or not value.is_string:
        return None
    text = str(value.this)
    return text if text.isprintable() and not _ESCAPES.intersection(text) else None


def _date(value: exp.Expr) -> str | None:
    found = _day(value)
    return None if found is None else found.isoformat()


def _day(value: exp.Expr) -> date | None:
    """Return a date that is written out, or so many days, months or years from one."""
    match value:
        case exp.Paren():
            return _day(value.this)
        case exp.Literal() if value.is_string and _DAY.fullmatch(str(value.this)):
            return _read(str(value.this))
        case exp.Cast() if normal_type(value.to.sql("spark")) == DATE:
            return _day(value.this) if isinstance(value.this, exp.Literal) else None
        case exp.Add() | exp.Sub() if isinstance(value.expression, exp.Interval):
            start = _day(value.this)
            if start is None or isinstance(value.this, exp.Literal):
                return None
            return _moved(start, value.expression, -1 if isinstance(value, exp.Sub) else 1)
        case _:
            return None


def _read(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        # Spark says so when the query runs.
        return None


def _moved(start: date, interval: exp.Interval, sign: int) -> date | None:
    """Return a date moved by an interval; a month that is too short ends with its last day."""
    count, unit = interval.this, str(interval.args.get("unit") or "").upper().removesuffix("S")
    if not isinstance(count, exp.Literal) or not re.fullmatch(r"\d{1,4}", str(count.this)):
        return None
    steps = sign * int(str(count.this))
    try:
        if unit in _DAYS:
            return start + timedelta(days=steps * _DAYS[unit])
        if unit not in _MONTHS:
            return None
        year, month = divmod(start.year * 12 + start.month - 1 + steps * _MONTHS[unit], 12)
        last = calendar.monthrange(year, month + 1)[1]
        return date(year, month + 1, min(start.day, last))
    except (ValueError, OverflowError, calendar.IllegalMonthError):
        return None


_CONSTANTS: dict[ConstantKind, Callable[[exp.Expr], str | None]] = {
    "number": _number,
    "date": _date,
    "text": _text,
}
