"""Spark as the judge: the user's own text on the same versions, compared as bags."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamtables.api import StreamTables
from streamtables.engine.arrow_types import for_spark
from streamtables.engine.binding import bind, unbind_all
from streamtables.engine.handles import Rows, Session
from streamtables.engine.spark_errors import spark_border
from streamtables.errors import QueryFailedError, SqlSyntaxError
from streamtables.refresh.results import Refresh
from tests.support.bags import Bag, bag_of
from tests.support.delta_tables import DeltaTableFile

UNRESOLVED = (QueryFailedError, SqlSyntaxError)
"""What Spark answers to texts that are more than it can read or resolve, and are maintained."""


def stored_bag(db: StreamTables, name: str) -> Bag:
    """Return the visible rows of a stream table."""
    return bag_of(_rows(db.read(name)))


def asked_bag(db: StreamTables, query: str) -> Bag:
    """Return what Spark answers to a query as it was written, on the sources as they are now."""
    return bag_of(_rows(db.sql(query)))


class Judge:
    """Spark as the judge of many texts on few rows, which it need not read from Delta each time.

    Nothing is kept in Spark: it looks for what is kept in every plan of every session.
    """

    def __init__(self, spark: Session) -> None:
        self._spark = spark

    def show(self, tables: Mapping[str, DeltaTableFile]) -> None:
        """Have the judge see tables as they are now."""
        unbind_all(self._spark)
        for name, table in tables.items():
            bind(self._spark, name, for_spark(table.open().to_pyarrow_table()))

    def ask(self, text: str) -> Rows:
        """Return Spark's answer to a query; one that it cannot resolve is UNRESOLVED."""
        with spark_border():
            return self._spark.sql(text)


def assert_equal_to_query(db: StreamTables, name: str, judge: Judge | None = None) -> Bag:
    """Check the law: the stored rows are those of the query, both ways.

    A few texts that are maintained are more than Spark itself can resolve; verify judges those.
    Returns the stored rows.
    """
    [table] = [item for item in db.stream_tables() if item.name == name]
    stored = stored_bag(db, name)
    try:
        asked = bag_of(_rows(judge.ask(table.query))) if judge else asked_bag(db, table.query)
    except UNRESOLVED:
        assert_verified(db, name)
    else:
        assert rounded(stored) == rounded(asked), f"{name} differs from its query"
    return stored


def assert_verified(db: StreamTables, name: str) -> None:
    """Check the law by the other judge: the product's own, at the versions the table stands for."""
    found = db.verify(name)
    assert found.equal, f"{name}: {found.missing} missing, {found.extra} extra\n{found.sample}"


def refreshed(db: StreamTables, name: str) -> Refresh:
    """Refresh a table and check the law."""
    result = db.refresh(name)
    assert_equal_to_query(db, name)
    return result


def _rows(rows: Any) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in rows.collect()]


def rounded(bag: Bag) -> Bag:
    """Return the bag with floats to twelve digits: Spark's own last ones depend on row order."""
    found: Bag = {}
    for row, count in bag.items():
        key = tuple(
            ("float", f"{float(value[1]):.12g}")
            if isinstance(value, tuple) and value and value[0] == "float"
            else value
            for value in row
        )
        found[key] = found.get(key, 0) + count
    return found
