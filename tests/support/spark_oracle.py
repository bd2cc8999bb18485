"""Spark as the judge: the user's own text on the same versions, compared as bags."""

from __future__ import annotations

from typing import Any

from streamtables.api import StreamTables
from streamtables.errors import QueryFailedError
from streamtables.refresh.results import Refresh
from tests.support.bags import Bag, bag_of


def stored_bag(db: StreamTables, name: str) -> Bag:
    """Return the visible rows of a stream table."""
    return bag_of(_rows(db.read(name)))


def asked_bag(db: StreamTables, query: str) -> Bag:
    """Return what Spark answers to a query as it was written, on the sources as they are now."""
    return bag_of(_rows(db.sql(query)))


def assert_equal_to_query(db: StreamTables, name: str) -> Bag:
    """Check the law: the stored rows are those of the query, both ways.

    A few texts that are maintained are more than Spark itself can resolve; verify judges those.
    Returns the stored rows.
    """
    [table] = [item for item in db.stream_tables() if item.name == name]
    stored = stored_bag(db, name)
    try:
        asked = asked_bag(db, table.query)
    except QueryFailedError:
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
