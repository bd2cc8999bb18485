"""Values of every mapped type, inserted into a real server and read back from its texts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import count
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from psycopg import Connection, sql

from streamtables.demo.postgres_server import PostgresServer, running_server
from streamtables.errors import SourceUnusableError
from streamtables.sources.postgres.facts import PgTable, describe_table, find_table
from streamtables.sources.postgres.parts import ctid_parts
from streamtables.sources.postgres.server import Server
from streamtables.sources.postgres.types import (
    MirrorColumn,
    ValueDoesNotFitError,
    copy_expressions,
    from_text,
    map_columns,
)

pytestmark = pytest.mark.postgres

_NUMBERS = count()


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with running_server() as started:
        yield started


@pytest.fixture
def connection(server: PostgresServer) -> Iterator[Connection[Any]]:
    name = f"types_{next(_NUMBERS)}"
    with psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    with Server(server.url_of(name)).connected("test") as opened:
        opened.execute("CREATE TYPE mood AS ENUM ('glad', 'so so')")
        opened.execute("CREATE DOMAIN price AS numeric(6,2)")
        yield opened


def described(connection: Connection[Any], definition: str) -> PgTable:
    connection.execute("CREATE TABLE t (c " + definition + ")")
    found = describe_table(connection, find_table(connection, "t"))
    assert found is not None
    return found


def printed(connection: Connection[Any]) -> tuple[pa.Array, pa.Array]:
    """Return the texts of a cast, and those that the output function gives, as WAL carries them."""
    cast = [row[0] for row in connection.execute("SELECT c::text FROM t ORDER BY ctid")]
    with connection.cursor().copy("COPY (SELECT c FROM t ORDER BY ctid) TO STDOUT") as copy:
        copy.set_types(["text"])
        output = [row[0] for row in copy.rows()]
    return pa.array(cast, pa.string()), pa.array(output, pa.large_string())


# A type, the values to insert, what they have to become.
DAY, MOMENT = date(2024, 2, 29), datetime.fromisoformat("2024-02-29 12:30:00.000001")
CASES: list[tuple[str, list[str], list[object]]] = [
    ("bool", ["true", "false"], [True, False]),
    ("int2", ["-32768", "32767"], [-32768, 32767]),
    ("int4", ["-2147483648"], [-2147483648]),
    ("int8", ["9223372036854775807"], [2**63 - 1]),
    ("oid", ["4294967295"], [4294967295]),
    ("float4", ["0.1", "-0", "Infinity"], [0.10000000149011612, -0.0, math.inf]),
    ("float8", ["0.1", "1e-300", "-Infinity"], [0.1, 1e-300, -math.inf]),
    ("numeric(10,2)", ["1.005", "-99999999.99"], [Decimal("1.01"), Decimal("-99999999.99")]),
    ("numeric(38,38)", ["-0." + "9" * 38], [Decimal("-0." + "9" * 38)]),
    ("price", ["12.5"], [Decimal("12.50")]),
    ("numeric", ["1e19", "1e-18", "1.50000"], [Decimal(10) ** 19, Decimal("1E-18"), Decimal("1.5")]),
    ("text", ["", "NULL", "ä€😀\n\\"], ["", "NULL", "ä€😀\n\\"]),
    ("varchar(3)", ["abc"], ["abc"]),
    ("char(4)", ["ä", "abcd"], ["ä   ", "abcd"]),
    ("name", ["x"], ["x"]),
    ('"char"', ["x"], ["x"]),
    ("date", ["0001-01-01", "2024-02-29"], [date(1, 1, 1), DAY]),
    ("timestamp", ["2024-02-29 12:30:00.000001"], [MOMENT]),
    ("timestamp(0)", ["1582-10-10 00:00:00.6"], [datetime.fromisoformat("1582-10-10 00:00:01")]),
    ("timestamptz", ["2024-02-29 14:30:00.000001+02"], [MOMENT.replace(tzinfo=UTC)]),
    ("time", ["23:59:59.5"], ["23:59:59.5"]),
    ("timetz", ["12:00+05:30"], ["12:00:00+05:30"]),
    ("interval", ["1 year 2 days -03:00:01.5"], ["P1Y2DT-3H-1.5S"]),
    ("uuid", ["A0EEBC999C0B4EF8BB6D6BB9BD380A11"], ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]),
    ("json", ['{"b":  1}'], ['{"b":  1}']),
    ("jsonb", ['{"b":  1}'], ['{"b": 1}']),
    ("mood", ["so so"], ["so so"]),
    ("inet", ["10.0.0.1", "10.0.0.1/24", "::1"], ["10.0.0.1", "10.0.0.1/24", "::1"]),
    ("cidr", ["10.0.0.1"], ["10.0.0.1/32"]),
    ("macaddr", ["08002b010203"], ["08:00:2b:01:02:03"]),
    ("macaddr8", ["08002b0102030405"], ["08:00:2b:01:02:03:04:05"]),
    ("bit(3)", ["101"], ["101"]),
    ("varbit", ["1", ""], ["1", ""]),
    ("int4range", ["[1,5]"], ["[1,6)"]),
    ("tstzmultirange", ["{[2024-01-01 02:00+02,)}"], ['{["2024-01-01 00:00:00+00",)}']),
    ("tsvector", ["a b"], ["'a' 'b'"]),
    ("point", ["(1,2.5)"], ["(1,2.5)"]),
    ("box", ["((1,2),(3,4))"], ["(3,4),(1,2)"]),
    ("bytea", ["\\x", "\\x00ff", "abc"], [b"", b"\x00\xff", b"abc"]),
    ("bool[]", ["{t,NULL,f}"], [[True, None, False]]),
    ("int4[]", ["{}", "{1,NULL}", "[1:2]={3,4}"], [[], [1, None], [3, 4]]),
    ("numeric(4,1)[]", ["{1.5,2}"], [[Decimal("1.5"), Decimal("2.0")]]),
    ("float8[]", ["{0.1,Infinity}"], [[0.1, math.inf]]),
    ("text[]", ['{"a,b","",NULL,"NULL","\\"\\\\"," x",{}'.replace(",{}", "}")],
     [["a,b", "", None, "NULL", '"\\', " x"]]),
    ("char(2)[]", ["{a,bc}"], [["a ", "bc"]]),
    ("inet[]", ["{10.0.0.1,10.0.0.0/8}"], [["10.0.0.1", "10.0.0.0/8"]]),
    ("mood[]", ['{"so so",glad}'], [["so so", "glad"]]),
    ("date[]", ["{2024-02-29}"], [[DAY]]),
    ("timestamp[]", ['{"2024-02-29 12:30:00.000001"}'], [[MOMENT]]),
    ("timestamptz[]", ['{"2024-02-29 12:30:00.000001Z"}'], [[MOMENT.replace(tzinfo=UTC)]]),
    ("bytea[]", ['{"\\\\x00ff",abc}'], [[b"\x00\xff", b"abc"]]),
    ("jsonb[]", ['{"{\\"a\\": [1, 2]}"}'], [['{"a": [1, 2]}']]),
    ("box[]", ["{(3,4),(1,2);(1,1),(0,0)}"], [["(3,4),(1,2)", "(1,1),(0,0)"]]),
]  # fmt: skip


@pytest.mark.parametrize(("definition", "inserted", "expected"), CASES, ids=lambda x: str(x)[:20])
def test_values_come_back_from_all_their_texts(
    connection: Connection[Any], definition: str, inserted: list[str], expected: list[object]
) -> None:
    column = map_columns(described(connection, definition))[0]
    insert = "INSERT INTO t VALUES (%s)"
    connection.cursor().executemany(insert, [(value,) for value in [*inserted, None]])
    cast, output = printed(connection)
    wanted = pa.array([*expected, None], column.arrow_type)
    assert from_text(output, column).equals(wanted)
    # A cast takes the blanks off the end of a character(n), whose length is part of the type.
    assert from_text(cast, column).equals(wanted)
    # What a copy selects is what is printed, or the value itself.
    if column.spark_type == "STRING":
        selected, _ = copy_expressions(column)
        rows = connection.execute(f"SELECT {selected} FROM t ORDER BY ctid").fetchall()
        assert [row[0] for row in rows] == output.to_pylist()


@pytest.mark.parametrize(
    ("definition", "value"),
    [
        ("numeric", "1e20"),
        ("numeric", "1e-19"),
        ("numeric", "NaN"),
        ("numeric", "Infinity"),
        ("numeric(5,2)", "NaN"),
        ("date", "infinity"),
        ("date", "0044-03-15 BC"),
        ("date", "10000-01-01"),
        ("timestamp", "-infinity"),
        ("timestamptz", "294276-01-01 00:00Z"),
        ("timestamptz", "0001-01-01 00:00+10"),
        ("int4[]", "{{1,2},{3,4}}"),
        ("int4[]", "[0:1]={1,2}"),
        ("date[]", "{infinity}"),
    ],
)
def test_values_that_do_not_fit_are_refused(
    connection: Connection[Any], definition: str, value: str
) -> None:
    column = map_columns(described(connection, definition))[0]
    connection.execute("INSERT INTO t VALUES (%s)", (value,))
    for texts in printed(connection):
        with pytest.raises(ValueDoesNotFitError) as error:
            from_text(texts, column)
        assert 'the column "c"' in error.value.message


@pytest.mark.parametrize(
    "definition",
    ["money", "t0", "t0[]", "price[]", "int2vector", "numeric(40,2)", "numeric(3,-2)", "tid"],
)
def test_types_without_a_place_in_a_mirror_are_refused(
    connection: Connection[Any], definition: str
) -> None:
    connection.execute("CREATE TABLE t0 (a int)")
    table = described(connection, definition)
    with pytest.raises(SourceUnusableError) as error:
        map_columns(table)
    assert f'"c" has the type {table.columns[0].type.shown}' in error.value.detail
    for statement in error.value.hint.split("server. ")[1:]:
        connection.execute(statement)
        cured = describe_table(connection, table.oid)
        assert cured is not None
        map_columns(cured)


def test_parts_take_each_row_of_a_table_once(connection: Connection[Any]) -> None:
    described(connection, "int, filler text")
    connection.execute("INSERT INTO t SELECT n, repeat('x', 500) FROM generate_series(1, 2000) n")
    measured = connection.execute("SELECT pg_relation_size('t') / 8192").fetchone()
    assert measured is not None
    connection.execute("INSERT INTO t SELECT n, '' FROM generate_series(2001, 3000) n")
    parts = ctid_parts(measured[0], 7)
    found = [
        {row[0] for row in connection.execute(f"SELECT c FROM t WHERE {part}")} for part in parts
    ]
    assert len(found) == 7
    assert all(found)
    assert sum(map(len, found)) == 3000
    assert set().union(*found) == set(range(1, 3001))


def test_a_mirror_column_names_its_column(connection: Connection[Any]) -> None:
    table = described(connection, 'int, "Größe_in_m" float8')
    assert [column.name for column in map_columns(table)] == ["c", "Größe_in_m"]
    assert map_columns(table)[1] == MirrorColumn(
        "Größe_in_m", table.columns[1], "DOUBLE", pa.float64()
    )
