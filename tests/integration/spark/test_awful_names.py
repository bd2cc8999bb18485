"""A source whose columns have names that break whoever forgets to quote, from create to verify."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from streamtables.api import StreamTables
from streamtables.errors import NameNotAllowedError

pytestmark = pytest.mark.spark

# Delta takes no blank and none of ,;{}()= in a name; what else can break a statement is here.
AWFUL = ("a`b", 'say"hi"', "it's", "select", "naïve名", "x'--", "$HOME/*", "back\\slash", "a.b")


def _write(path: Path, rows: list[tuple[int, int]]) -> None:
    columns = {"id": pa.array([row[0] for row in rows], pa.int64())}
    for place, name in enumerate(AWFUL):
        columns[name] = pa.array([f"{name}{row[1] + place}" for row in rows], pa.string())
    write_deltalake(
        str(path),
        pa.table(columns),
        mode="append",
        configuration={"delta.enableChangeDataFeed": "true"},
    )


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def test_awful_column_names_work_exactly(db: StreamTables, tmp_path: Path):
    path = tmp_path / "it's a `source` 名"
    _write(path, [(1, 1), (2, 2), (3, 1)])
    db.add_source("odd", path=path)
    listed = ", ".join(_quoted(name) for name in AWFUL)
    db.create("copies", f"SELECT id, {listed} FROM odd WHERE {_quoted(AWFUL[2])} <> 'it''s; --'")
    groups = f"SELECT {_quoted(AWFUL[0])}, {_quoted(AWFUL[5])}, count(*) AS n, max({_quoted(AWFUL[1])}) AS {_quoted(AWFUL[6])} FROM odd GROUP BY ALL"
    db.create(
        "groups",
        groups.replace("GROUP BY ALL", f"GROUP BY {_quoted(AWFUL[0])}, {_quoted(AWFUL[5])}"),
    )
    with pytest.raises(NameNotAllowedError):
        db.create("refused", f"SELECT id AS `x'; DROP TABLE t; --`, {_quoted(AWFUL[0])} FROM odd")
    assert [table.name for table in db.stream_tables()] == ["copies", "groups"]
    db.refresh_all()
    _write(path, [(4, 1), (5, 7)])
    assert {done.outcome for done in db.refresh_all()} == {"applied"}
    rows = {row["id"]: row for row in db.read_rows("copies", 100).to_pylist()}
    assert sorted(rows) == [1, 2, 3, 4, 5]
    assert rows[4] == {"id": 4, **{name: f"{name}{1 + place}" for place, name in enumerate(AWFUL)}}
    counts = sorted(row["n"] for row in db.read_rows("groups", 100).to_pylist())
    assert counts == [1, 1, 3]
    # With a reader, a full refresh compares with the stored rows and writes the difference.
    db.create("reader", f"SELECT {_quoted(AWFUL[0])} FROM copies")
    _write(path, [(6, 2)])
    assert db.refresh("copies", full=True).outcome == "applied"
    assert db.read_rows("copies", 100).num_rows == 6
    assert db.verify("copies").equal
    db.refresh("groups")
    assert db.verify("groups").equal
