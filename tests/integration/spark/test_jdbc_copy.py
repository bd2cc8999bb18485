"""The first copy by JDBC gives the same table as the texts that the server prints."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, zip_longest
from typing import Any

import psycopg
import pyarrow as pa
import pytest
from psycopg import Connection, sql
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from streamtables.demo.postgres_server import PostgresServer, running_server
from streamtables.engine import jdbc_copy
from streamtables.engine.arrow_image import row_codes
from streamtables.engine.jdbc_copy import CopyColumn, TableCopy, read_snapshot
from streamtables.engine.session import SparkSessions
from streamtables.sources.postgres.facts import PgTable, describe_table, find_table
from streamtables.sources.postgres.parts import ctid_parts
from streamtables.sources.postgres.server import Server
from streamtables.sources.postgres.types import (
    ValueDoesNotFitError,
    copy_expressions,
    from_text,
    map_columns,
    misfit_of_copy,
)
from tests.integration.postgres.test_types import CASES

pytestmark = pytest.mark.postgres

_NUMBERS = count()
_SECRET = "it's \\ secret"


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with running_server() as started:
        with psycopg.connect(started.url, autocommit=True) as admin:
            admin.execute("CREATE ROLE copier LOGIN SUPERUSER")
        yield started


@pytest.fixture
def database(server: PostgresServer) -> str:
    name = f"copy_{next(_NUMBERS)}"
    with psycopg.connect(server.url, autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    return server.url_of(name)


@pytest.fixture
def spark(spark_sessions: SparkSessions) -> SparkSession:
    return spark_sessions.get()


@contextmanager
def exported(url: str) -> Iterator[tuple[Connection[Any], str]]:
    """Give a connection that sees one snapshot, and the snapshot's name."""
    with Server(url).connected("test", autocommit=False) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        found = connection.execute("SELECT pg_export_snapshot()").fetchone()
        assert found is not None
        yield connection, found[0]


def run(url: str, *statements: str) -> None:
    with Server(url).connected("test") as connection:
        for statement in statements:
            connection.execute(statement)


def described(connection: Connection[Any]) -> PgTable:
    found = describe_table(connection, find_table(connection, "t"))
    assert found is not None
    return found


def copy_of(
    url: str,
    table: PgTable,
    snapshot: str,
    parts: tuple[str, ...] = ("TRUE",),
    overrides: dict[str, str] | None = None,
) -> TableCopy:
    columns = map_columns(table, overrides)
    return TableCopy(
        jdbc_url="jdbc:postgresql://" + url.split("@")[1],
        properties={"user": "copier", "password": _SECRET},
        table=table.identifier.as_string(None),
        snapshot=snapshot,
        columns=tuple(CopyColumn(column.name, *copy_expressions(column)) for column in columns),
        parts=parts,
    )


def from_texts(
    connection: Connection[Any], table: PgTable, overrides: dict[str, str] | None = None
) -> pa.Table:
    """Return the rows as a drain would: from the texts of their values."""
    columns = map_columns(table, overrides)
    texts = sql.SQL(", ").join(
        sql.SQL("{}::text").format(sql.Identifier(column.name)) for column in columns
    )
    rows = connection.execute(sql.SQL("SELECT {} FROM {}").format(texts, table.identifier))
    fetched = list(zip(*rows.fetchall(), strict=True)) or [()] * len(columns)
    arrays = [
        from_text(pa.array(values, pa.string()), column)
        for values, column in zip(fetched, columns, strict=True)
    ]
    return pa.table(arrays, names=[column.name for column in columns])


def assert_same(copied: pa.Table, expected: pa.Table) -> None:
    """Compare as bags of binary images: -0.0 is not 0.0, NaN is NaN."""
    assert copied.schema.names == expected.schema.names
    assert copied.schema.types == expected.schema.types
    for name in expected.schema.names:
        both = pa.concat_tables([copied.select([name]), expected.select([name])])
        codes = row_codes(both, [name])
        mine, theirs = sorted(codes[: len(copied)]), sorted(codes[len(copied) :])
        assert mine == theirs, (name, copied[name], expected[name])
    names = expected.schema.names
    codes = row_codes(pa.concat_tables([copied, expected]), names)
    assert sorted(codes[: len(copied)]) == sorted(codes[len(copied) :])


def test_every_type_is_the_same_by_both_ways(database: str, spark: SparkSession) -> None:
    names = [f"c{number}" for number in range(len(CASES))]
    columns = ", ".join(f"{name} {case[0]}" for name, case in zip(names, CASES, strict=True))
    run(database, "CREATE TYPE mood AS ENUM ('glad', 'so so')")
    run(database, "CREATE DOMAIN price AS numeric(6,2)", f"CREATE TABLE t ({columns})")
    rows = list(zip_longest(*(case[1] for case in CASES), fillvalue=None))
    with Server(database).connected("test") as connection:
        places = ", ".join(["%s"] * len(CASES))
        connection.cursor().executemany(f"INSERT INTO t VALUES ({places})", rows)
        connection.execute("INSERT INTO t DEFAULT VALUES")
    with exported(database) as (connection, snapshot):
        table = described(connection)
        copied = read_snapshot(spark, copy_of(database, table, snapshot))
        assert [kind.upper() for _, kind in copied.dtypes] == [
            column.spark_type for column in map_columns(table)
        ]
        assert_same(copied.toArrow(), from_texts(connection, table))


def test_overrides_are_the_same_by_both_ways(database: str, spark: SparkSession) -> None:
    run(
        database,
        "CREATE TABLE t (a numeric, b numeric, c numeric(50,2), d date, e timestamptz, f int[])",
        "INSERT INTO t VALUES (12.3400, 0.1, 1e45, 'infinity', 'infinity', '{{1},{2}}'),"
        " (-1, 'NaN', 'NaN', '0044-03-15 BC', '2024-01-01 00:00:00+05', '[0:0]={1}'),"
        " (0, '-Infinity', 0, '2024-01-01', '20000-01-01', '{}'),"
        " (NULL, 1e-400, 0, NULL, NULL, NULL)",
    )
    overrides = {"a": "decimal(6,2)", "b": "double"} | dict.fromkeys("cdef", "string")
    with exported(database) as (connection, snapshot):
        table = described(connection)
        copied = read_snapshot(
            spark, copy_of(database, table, snapshot, overrides=overrides)
        ).toArrow()
        assert_same(copied, from_texts(connection, table, overrides))


def test_days_before_the_calendar_was_changed_and_hours_that_a_zone_skips_are_kept(
    database: str, spark: SparkSession
) -> None:
    run(
        database,
        "CREATE TABLE t (a date, b timestamp, c timestamptz)",
        "INSERT INTO t SELECT d::date, d, d FROM unnest(ARRAY['0001-01-01', '1582-10-04',"
        " '1582-10-10', '1900-02-28 23:59:59.999999', '2024-03-31 02:30', '2024-10-27 02:30',"
        " '9999-12-31 23:59:59.999999']::timestamp[]) d",
    )
    zone = spark.conf.get("spark.sql.session.timeZone") or "UTC"
    with exported(database) as (connection, snapshot):
        table = described(connection)
        expected = from_texts(connection, table)
        spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
        try:
            rows = read_snapshot(spark, copy_of(database, table, snapshot))
            micros = rows.selectExpr("a", "b", "unix_micros(c) AS c").toArrow()
        finally:
            spark.conf.set("spark.sql.session.timeZone", zone)
    assert_same(micros, expected.set_column(2, "c", expected["c"].cast(pa.int64())))


MISFITS = [
    ("numeric", "1e20"),
    ("numeric", "1e-19"),
    ("numeric", "NaN"),
    ("numeric(5,2)", "NaN"),
    ("date", "infinity"),
    ("date", "0044-03-15 BC"),
    ("date", "10000-01-01"),
    ("timestamp", "0044-03-15 12:00 BC"),
    ("timestamptz", "10000-01-01 00:00Z"),
    ("int4[]", "{{1,2},{3,4}}"),
    ("text[]", "[2:3]={a,b}"),
    ("text[]", "{{a,b},{c,d}}"),
    ("date[]", "{infinity}"),
    ("numeric[]", "{0.0000000000000000001}"),
]


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_a_value_that_does_not_fit_fails_the_read(
    database: str, spark: SparkSession, ansi: str
) -> None:
    before = spark.conf.get("spark.sql.ansi.enabled") or "true"
    spark.conf.set("spark.sql.ansi.enabled", ansi)
    try:
        for definition, value in MISFITS:
            run(database, "DROP TABLE IF EXISTS t", f"CREATE TABLE t (c {definition})")
            run(database, f"INSERT INTO t VALUES ('{value}')")
            with exported(database) as (connection, snapshot):
                rows = read_snapshot(spark, copy_of(database, described(connection), snapshot))
                with pytest.raises(PySparkException) as error:
                    print(definition, value, rows.collect())
                misfit = misfit_of_copy(str(error.value), map_columns(described(connection)))
                with pytest.raises(ValueDoesNotFitError) as same:
                    from_texts(connection, described(connection))
                assert misfit is not None
                assert misfit.hint == same.value.hint
                assert misfit.message.startswith('the column "c" has the value ')
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)


def test_a_double_override_does_not_make_infinity(database: str, spark: SparkSession) -> None:
    run(database, "CREATE TABLE t (c numeric)", "INSERT INTO t VALUES (1e400)")
    with exported(database) as (connection, snapshot):
        copy = copy_of(database, described(connection), snapshot, overrides={"c": "double"})
        with pytest.raises(PySparkException, match='column "c" has the value'):
            read_snapshot(spark, copy).collect()


def test_only_rows_of_the_snapshot_are_copied_and_each_once(
    database: str, spark: SparkSession
) -> None:
    run(
        database,
        "CREATE TABLE t (id int, filler text)",
        "INSERT INTO t SELECT n, repeat('x', 500) FROM generate_series(1, 2000) n",
    )
    with exported(database) as (connection, snapshot):
        run(
            database,
            "INSERT INTO t SELECT n, '' FROM generate_series(2001, 3000) n",
            "UPDATE t SET id = -id WHERE id % 3 = 0",
            "DELETE FROM t WHERE id % 5 = 0",
        )
        parts = ctid_parts(100, 4)
        rows = read_snapshot(spark, copy_of(database, described(connection), snapshot, parts))
        assert rows.selectExpr("spark_partition_id()").distinct().count() == 4
        assert sorted(row.id for row in rows.select("id").collect()) == list(range(1, 2001))


def test_a_part_is_read_without_the_pages_of_the_others(database: str) -> None:
    run(database, "CREATE TABLE t (id int, d date)")
    with exported(database) as (connection, snapshot):
        copy = copy_of(database, described(connection), snapshot, ctid_parts(10, 2))
        asked = f"EXPLAIN SELECT c0, c1 FROM {jdbc_copy.subquery(copy)} WHERE {copy.parts[0]}"
        plan = str(connection.execute(asked).fetchall())
    assert "Tid Range Scan" in plan


def test_the_rows_of_all_partitions_are_copied(database: str, spark: SparkSession) -> None:
    run(
        database,
        "CREATE TABLE t (id int) PARTITION BY HASH (id)",
        *(
            f"CREATE TABLE t{n} PARTITION OF t FOR VALUES WITH (MODULUS 3, REMAINDER {n})"
            for n in range(3)
        ),
        "INSERT INTO t SELECT generate_series(1, 5000)",
    )
    with exported(database) as (connection, snapshot):
        copy = copy_of(database, described(connection), snapshot, ctid_parts(6, 3))
        rows = read_snapshot(spark, copy).collect()
    assert sorted(row.id for row in rows) == list(range(1, 5001))


def test_an_empty_table_has_the_types_of_its_columns(database: str, spark: SparkSession) -> None:
    run(database, "CREATE TABLE t (a int, b numeric[], c timestamptz)")
    with exported(database) as (connection, snapshot):
        table = described(connection)
        copied = read_snapshot(
            spark, copy_of(database, table, snapshot, ctid_parts(0, 4))
        ).toArrow()
        assert copied.num_rows == 0
        assert_same(copied, from_texts(connection, table))


def test_names_may_hold_any_character_that_delta_takes(database: str, spark: SparkSession) -> None:
    run(
        database,
        'CREATE TABLE t ("a.b" int, "q""u`o\'te\\" date, "[x]" int[], "ctid2" text)',
        "INSERT INTO t VALUES (1, '2024-01-01', '{1}', 'x'), (NULL, NULL, NULL, NULL)",
    )
    with exported(database) as (connection, snapshot):
        table = described(connection)
        copied = read_snapshot(spark, copy_of(database, table, snapshot)).toArrow()
        assert_same(copied, from_texts(connection, table))


def test_the_plan_of_a_copy_does_not_show_the_password(
    database: str, spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    run(database, "CREATE TABLE t (a int)")
    with exported(database) as (connection, snapshot):
        read_snapshot(spark, copy_of(database, described(connection), snapshot)).explain(True)
    shown = capsys.readouterr().out
    assert "JDBC" in shown
    assert _SECRET not in shown
