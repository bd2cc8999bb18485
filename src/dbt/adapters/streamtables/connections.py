"""Connections of dbt: to the Spark of a warehouse that is open in this process, or to another one.

With the method `session`, the default, dbt's statements run in sessions of their own on the Spark
that the warehouse uses.  With `thrift`, `http` and `odbc` they go where dbt-spark sends them, and
the warehouse computes on the Spark that its settings name; both have to see the same tables.
"""

from __future__ import annotations

import atexit
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dbt.adapters.contracts.connection import Connection, ConnectionState
from dbt.adapters.spark.connections import (
    SparkConnectionManager,
    SparkConnectionMethod,
    SparkCredentials,
)
from dbt.adapters.spark.session import Connection as SessionConnection
from dbt.adapters.spark.session import Cursor, SessionConnectionWrapper
from dbt_common.exceptions import DbtRuntimeError

from streamtables.api import StreamTables, connect
from streamtables.engine.spark_errors import spark_border
from streamtables.errors import StreamTablesError
from streamtables.settings import load_settings, resolve_secret

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

_ANSI = "spark.sql.ansi.enabled"
# Tables and seeds that dbt makes can be followed from their first version on.
_FOLLOWED = {"spark.databricks.delta.properties.defaults.enableChangeDataFeed": "true"}


@dataclass
class StreamTablesCredentials(SparkCredentials):
    """What a profile says: where the warehouse is, and all that dbt-spark knows."""

    host: str | None = "local"
    method: SparkConnectionMethod = SparkConnectionMethod.SESSION
    warehouse: str = "warehouse"
    catalog: str | None = None
    spark_conf: dict[str, str] = field(default_factory=dict)
    """Settings of a Spark that is started here."""

    def __post_init__(self) -> None:
        chosen = self.server_side_parameters.get(_ANSI)
        super().__post_init__()
        # dbt-spark turns it off; stream tables mean what Spark means by default.
        if chosen is None:
            del self.server_side_parameters[_ANSI]
        else:
            self.server_side_parameters[_ANSI] = str(chosen)

    @property
    def type(self) -> str:
        """The name of the adapter."""
        return "streamtables"

    @property
    def unique_field(self) -> str:
        """What tells one warehouse from another, in dbt's own statistics."""
        return self.warehouse

    def _connection_keys(self) -> tuple[str, ...]:
        return ("warehouse", "catalog", *super()._connection_keys())


class _Warehouses:
    """The warehouses that are open in this process, each once for all threads."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str | None], StreamTables] = {}
        self._lock = threading.Lock()

    def get(self, wanted: StreamTablesCredentials) -> StreamTables:
        key = (wanted.warehouse, wanted.catalog)
        with self._lock:
            if key not in self._open:
                self._open[key] = _opened(wanted)
            return self._open[key]

    def close(self) -> None:
        with self._lock:
            while self._open:
                self._open.popitem()[1].close()


WAREHOUSES = _Warehouses()
# Not when a command of dbt ends: one process may run several, and Spark takes long to start.
atexit.register(WAREHOUSES.close)


class _OwnCursor(Cursor):
    """Runs statements in a given session; dbt-spark's would alter the settings of any."""

    def __init__(self, spark: SparkSession) -> None:
        super().__init__()
        self._spark = spark

    def execute(self, sql: str, *parameters: Any) -> None:
        """Run a statement; values stand in its text, as dbt-spark writes them there."""
        with told_by_dbt(), spark_border():
            self._df = self._spark.sql(sql % parameters if parameters else sql)


class _OwnConnection(SessionConnection):
    def __init__(self, spark: SparkSession, settings: dict[str, str]) -> None:
        super().__init__(server_side_parameters=settings)
        self._spark = spark.newSession()
        for name, value in {**_FOLLOWED, **settings}.items():
            self._spark.conf.set(name, value)

    def cursor(self) -> Cursor:
        """Return a cursor in the session of this connection."""
        return _OwnCursor(self._spark)


class StreamTablesConnectionManager(SparkConnectionManager):
    """Opens what a profile names."""

    TYPE = "streamtables"

    @classmethod
    def open(cls, connection: Connection) -> Connection:
        """Open a connection for dbt's own statements."""
        wanted = connection.credentials
        if connection.state == ConnectionState.OPEN or wanted.method != "session":
            return super().open(connection)
        spark = WAREHOUSES.get(wanted).spark
        own = _OwnConnection(spark, wanted.server_side_parameters)
        connection.handle = SessionConnectionWrapper(own)
        connection.state = ConnectionState.OPEN
        return connection


@contextmanager
def told_by_dbt() -> Iterator[None]:
    """Turn our errors into dbt's, with code, detail and hint."""
    try:
        yield
    except StreamTablesError as error:
        parts = (f"[{error.code}] {error.message}", error.detail, error.hint)
        raise DbtRuntimeError("\n".join(part for part in parts if part)) from error


def _opened(wanted: StreamTablesCredentials) -> StreamTables:
    with told_by_dbt():
        place = resolve_secret(wanted.warehouse)
        catalog = resolve_secret(wanted.catalog) if wanted.catalog else None
        settings = load_settings(place if "://" in place else Path(place))
        if wanted.method == SparkConnectionMethod.SESSION:
            more = {**_kept_names(place), **wanted.spark_conf}
            given = [*(f"{name}={value}" for name, value in more.items()), settings.spark_conf]
            settings = replace(settings, spark_conf="; ".join(filter(None, given)))
        return connect(place, catalog=catalog, settings=settings)


def _kept_names(place: str) -> dict[str, str]:
    """Return settings of Spark that keep the names of tables from one run of dbt to the next."""
    if "://" in place:
        return {}
    home = Path(place).absolute()
    return {
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": str(home / "dbt"),
        # Where Derby, which keeps the names, has its files.
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={home / '_streamtables'}",
    }
