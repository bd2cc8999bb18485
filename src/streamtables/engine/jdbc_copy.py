"""The rows of a PostgreSQL table at one exported snapshot, read by JDBC in parts at a time.

Every part is read by a connection of its own, in a transaction that takes the exported snapshot
before it reads.  Whoever exported it has to keep that transaction open until all rows are read.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from psycopg import sql

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SESSION = {
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "iso_8601",
    "TimeZone": "UTC",
    "bytea_output": "hex",
    "extra_float_digits": "1",
    "lock_timeout": "10s",
    "idle_in_transaction_session_timeout": "0",
    "client_encoding": "UTF8",
}
"""The texts of values depend on these: every session sets them, that copies and that captures."""

WHOLE = {"row_security": "off", "statement_timeout": "0"}
"""What sessions that read set besides: a policy that would hide rows is an error then, and no limit
for a role or a database ends a long copy."""

# The server knows it from 17 on; a name that it does not know is an error.
NO_TRANSACTION_TIMEOUT = (
    "SELECT pg_catalog.set_config(name, '0', false) FROM pg_catalog.pg_settings "
    "WHERE name = 'transaction_timeout'"
)

_ROWS_PER_FETCH = 10_000
_BRIDGE = logging.getLogger("py4j")


@dataclass(frozen=True)
class CopyColumn:
    """A column of the copy."""

    name: str
    select: str
    """The expression of PostgreSQL."""
    spark: str
    """The expression of Spark over what was selected, which has the column's name."""


@dataclass(frozen=True)
class TableCopy:
    """What to read, and from where."""

    jdbc_url: str
    properties: Mapping[str, str]
    """User, password and other settings of the driver; secrets stand here and not in the URL."""
    table: str
    """Quoted, with its schema."""
    snapshot: str
    """As `pg_export_snapshot()` gave it."""
    columns: tuple[CopyColumn, ...]
    parts: tuple[str, ...]
    """Predicates over `ctid`, each read by a task of its own; together they take each row once."""


def read_snapshot(spark: SparkSession, copy: TableCopy) -> DataFrame:
    """Return the rows of a table at a snapshot, in the mirror's types; a misfit fails the read."""
    from pyspark.sql import functions

    # The bridge to Java logs what it sends when it is told to debug, the password among it.
    _BRIDGE.setLevel(max(_BRIDGE.level, logging.INFO))
    reader = (
        spark.read.option("sessionInitStatement", session_statements(copy.snapshot))
        # The driver streams, and keeps the transaction open, only with a size.
        .option("fetchsize", str(_ROWS_PER_FETCH))
        .option("pushDownPredicate", "false")
    )
    rows = reader.jdbc(
        copy.jdbc_url,
        subquery(copy),
        predicates=list(copy.parts),
        properties={"driver": "org.postgresql.Driver", **copy.properties},
    )
    named = [
        functions.col(_place(number)).alias(column.name)
        for number, column in enumerate(copy.columns)
    ]
    typed = [functions.expr(column.spark).alias(column.name) for column in copy.columns]
    return rows.select(*named).select(*typed)


def subquery(copy: TableCopy) -> str:
    """Return the table as Spark asks for it: columns by place, since Spark does not quote names."""
    columns = [f"{column.select} AS {_place(number)}" for number, column in enumerate(copy.columns)]
    return f"(SELECT {', '.join(['ctid', *columns])} FROM {copy.table}) AS copied"


def session_statements(snapshot: str) -> str:
    """Return what a connection runs before it reads; nothing may be read before the snapshot."""
    statements = [
        sql.SQL("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"),
        sql.SQL("SET TRANSACTION SNAPSHOT {}").format(sql.Literal(snapshot)),
        *(
            sql.SQL("SET {} = {}").format(sql.Identifier(name), sql.SQL(", ").join(_words(value)))
            for name, value in (SESSION | WHOLE).items()
        ),
        sql.SQL(NO_TRANSACTION_TIMEOUT),
    ]
    return sql.SQL("; ").join(statements).as_string(None)


def _words(value: str) -> list[sql.Literal]:
    return [sql.Literal(word) for word in value.split(", ")]


def _place(number: int) -> str:
    return f"c{number}"
