"""Identifiers and literals as SQL text, for Spark and for deltalake's DataFusion.

This is the one place of the engine where a name or a value becomes part of a statement.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Literal

import pyarrow as pa

from streamtables.engine.outcomes import NotSmall

Dialect = Literal["spark", "datafusion"]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def identifier(name: str, dialect: Dialect = "spark") -> str:
    """Quote one name."""
    mark = "`" if dialect == "spark" else '"'
    return mark + name.replace(mark, mark * 2) + mark


def table_at(location: str) -> str:
    """Name the Delta table at a location, for Spark SQL."""
    return f"delta.{identifier(location)}"


def text_literal(value: str, dialect: Dialect = "spark") -> str:
    """Quote one string."""
    if dialect == "spark":
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return "'" + value.replace("'", "''") + "'"


@dataclass(frozen=True)
class Literals:
    """How the values of one column type are written in one dialect."""

    kind: pa.DataType
    dialect: Dialect

    def write(self, value: object) -> str:
        """Return the literal of a value that is neither NULL nor NaN.

        Raises:
            NotSmall: the type has no literal, so the values cannot stand in a predicate.
        """
        for test, writer in _WRITERS:
            if test(self.kind):
                return writer(value, self)
        raise NotSmall(f"a value of the type {self.kind} cannot stand in a predicate")


def _integer(value: object, _: Literals) -> str:
    return str(value)


def _boolean(value: object, _: Literals) -> str:
    return "TRUE" if value else "FALSE"


def _text(value: object, style: Literals) -> str:
    if "\x00" in str(value):
        raise NotSmall("a string with a zero byte cannot stand in a predicate")
    return text_literal(str(value), style.dialect)


def _binary(value: object, _: Literals) -> str:
    return f"X'{bytes(value).hex().upper()}'" if isinstance(value, bytes) else ""


def _decimal(value: object, style: Literals) -> str:
    number = value if isinstance(value, Decimal) else Decimal(str(value))
    return f"CAST('{number:f}' AS DECIMAL({style.kind.precision},{style.kind.scale}))"


def _float(value: object, style: Literals) -> str:
    number = float(str(value))
    name = "FLOAT" if style.kind.bit_width == 32 else "DOUBLE"
    text = repr(number)
    if math.isinf(number):
        text = "Infinity" if number > 0 else "-Infinity"
    return f"CAST('{text}' AS {name})"


def _date(value: object, _: Literals) -> str:
    assert isinstance(value, date)
    return f"CAST('{value.isoformat()}' AS DATE)"


def _timestamp(value: object, style: Literals) -> str:
    # From whole microseconds: DataFusion reads timestamp text as nanoseconds and loses range.
    micros = int(str(value))
    if style.dialect == "datafusion":
        zone = "None" if style.kind.tz is None else 'Some("UTC")'
        return f"arrow_cast({micros}, 'Timestamp(Microsecond, {zone})')"
    try:
        moment = (_EPOCH + timedelta(microseconds=micros)).replace(tzinfo=None)
    except OverflowError as error:
        raise NotSmall("a timestamp outside the years 1 to 9999") from error
    text = moment.isoformat(sep=" ", timespec="microseconds")
    if style.kind.tz is None:
        return f"TIMESTAMP_NTZ '{text}'"
    return f"TIMESTAMP '{text}+00:00'"


Writer = Callable[[object, Literals], str]
_WRITERS: tuple[tuple[Callable[[pa.DataType], bool], Writer], ...] = (
    (pa.types.is_integer, _integer),
    (pa.types.is_boolean, _boolean),
    (pa.types.is_string, _text),
    (pa.types.is_binary, _binary),
    (pa.types.is_decimal, _decimal),
    (pa.types.is_floating, _float),
    (pa.types.is_date32, _date),
    (pa.types.is_timestamp, _timestamp),
)


def has_literals(kind: pa.DataType) -> bool:
    """Whether values of the type can stand in a predicate."""
    return any(test(kind) for test, _ in _WRITERS)
