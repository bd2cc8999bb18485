"""What the first copy asks the server for, and what Spark makes of the answer.

Values that the driver hands over bit for bit come as they are.  All others come as printed: days
and times would go through Java's old calendar and the time zone of the machine, and decimals would
be rounded, or fail without saying in which column.  In Spark each text is matched with the one form
that fits before it is cast, since Spark's casts round, and read `0044-03-15 BC` as a day of the
year 44.

Invariant: a value that does not fit fails the read whether the session is in ANSI mode or not.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
from psycopg import sql

from streamtables.engine.sql_text import identifier, text_literal
from streamtables.sources.postgres.facts import PgType
from streamtables.sources.postgres.type_rules import spark_name

Fails = Callable[[str], str]
"""From the expression of a value to the one that fails and shows it."""

RAISED = "streamtables: "
"""What stands before the complaint, whatever Spark wraps around it."""
SHOWN_MAX = 80
"""How much of a value a complaint shows."""

_AS_THEY_ARE = frozenset(("bool", "int2", "int4", "int8", "float4", "float8", "bytea"))
# A cast of these to text is another text than what is printed: it cuts blanks, adds the length of
# the mask, keeps the name of an encoding.
_PRINTERS = {"bpchar": "bpcharout", "inet": "inet_out", "xml": "xml_out"}
_NOT_AN_ARRAY = "!"
_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = "[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?"


def complaint(name: str, spark_type: str) -> tuple[str, str]:
    """Return the sentence about a value that does not fit: what stands before it, and after."""
    return f'the column "{name}" has the value ', f", which {spark_type} cannot hold"


def selected(name: str, pg: PgType, kind: pa.DataType) -> str:
    """Return the expression of the server for a column."""
    column = sql.Identifier(name)
    if pg.name == "oid":
        return _text(sql.SQL("{}::pg_catalog.int8").format(column))
    if pg.name in _AS_THEY_ARE:
        return _text(column)
    if pa.types.is_list(kind):
        return _text(_selected_array(column, pg))
    return _text(_printed(column, pg))


def in_spark(name: str, pg: PgType, kind: pa.DataType) -> str:
    """Return the expression of Spark that makes the mirror's value of what was selected."""
    column = identifier(name)
    if pg.name == "oid" or pg.name in _AS_THEY_ARE:
        return column
    before, after = complaint(name, spark_name(kind))

    def fails(value: str) -> str:
        shown = f"left({value}, {SHOWN_MAX})"
        return (
            f"raise_error(concat({text_literal(RAISED + before)}, {shown}, {text_literal(after)}))"
        )

    if not pa.types.is_list(kind):
        return _typed(column, kind, fails)
    return _array(column, kind, fails)


def _text(expression: sql.Composable) -> str:
    return expression.as_string(None)


def _printed(value: sql.Composable, pg: PgType) -> sql.Composable:
    if pg.name in _PRINTERS:
        printer = sql.Identifier("pg_catalog", _PRINTERS[pg.name])
        return sql.SQL("pg_catalog.textin({}({}))").format(printer, value)
    return sql.SQL("{}::pg_catalog.text").format(value)


def _selected_array(column: sql.Identifier, pg: PgType) -> sql.Composable:
    """Return JSON of the elements as texts; an array of another shape as a text that is marked."""
    assert pg.element is not None
    elements: sql.Composable = sql.SQL("{}::pg_catalog.text[]").format(column)
    if pg.element.name in _PRINTERS:
        elements = sql.SQL(
            "ARRAY(SELECT {} FROM pg_catalog.unnest({}) WITH ORDINALITY AS u(e, n) ORDER BY n)"
        ).format(_printed(sql.Identifier("e"), pg.element), column)
    return sql.SQL(
        "CASE WHEN {column} IS NULL THEN NULL"
        " WHEN pg_catalog.array_ndims({column}) > 1 OR pg_catalog.array_lower({column}, 1) <> 1"
        " THEN {mark} || {column}::pg_catalog.text"
        " ELSE pg_catalog.to_json({elements})::pg_catalog.text END"
    ).format(column=column, mark=sql.Literal(_NOT_AN_ARRAY), elements=elements)


def _array(column: str, kind: pa.DataType, fails: Fails) -> str:
    parsed = f"from_json({column}, 'array<string>', map('mode', 'FAILFAST'))"
    element = "__st_element"
    typed = _typed(element, kind.value_type, fails)
    if typed != element:
        parsed = f"transform({parsed}, {element} -> {typed})"
    shown = fails(f"substring({column}, 2)")
    return f"CASE WHEN startswith({column}, '{_NOT_AN_ARRAY}') THEN {shown} ELSE {parsed} END"


def _typed(text: str, kind: pa.DataType, fails: Fails) -> str:
    """Return the value of a text in a type, or a failure; NULL stays NULL."""
    if pa.types.is_string(kind):
        return text
    cast = f"try_cast({text} AS {spark_name(kind)})"
    if pa.types.is_binary(kind):
        cast = f"unhex(substring({text}, 3))"
    fits = _fits(text, kind, cast)
    failed = fails(text)
    return (
        f"CASE WHEN {text} IS NULL THEN NULL WHEN {fits} THEN coalesce({cast}, {failed})"
        f" ELSE {failed} END"
    )


def _fits(text: str, kind: pa.DataType, cast: str) -> str:
    if pa.types.is_decimal(kind):
        return f"{text} RLIKE '^-?[0-9]+([.][0-9]{{0,{kind.scale}}}0*)?$'"
    if pa.types.is_date32(kind):
        return f"{text} RLIKE '^{_DAY}$'"
    if pa.types.is_timestamp(kind):
        return f"{text} RLIKE '^{_DAY} {_TIME}{'' if kind.tz is None else '[+]00'}$'"
    if pa.types.is_floating(kind):
        infinite = f"abs({cast}) = CAST('Infinity' AS {spark_name(kind)})"
        return f"NOT ({infinite}) OR {text} IN ('Infinity', '-Infinity')"
    return "TRUE"
