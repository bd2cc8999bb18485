"""The life of a warehouse in a store, for a process of its own; it prints what came of each step.

`python -m tests.support.store_life s3://bucket/folder CATALOG`; the environment says where the
store is.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from streamtables.api import StreamTables, connect
from streamtables.engine.stores import folders_in, remove_file, write_file
from tests.support.settings import settings_with

QUERY = "SELECT g, count(*) AS n, max(id) AS top FROM t GROUP BY g"


def _rows(numbers: Iterable[int]) -> pa.Table:
    ids = list(numbers)
    return pa.table({"id": pa.array(ids, pa.int64()), "g": pa.array([n % 4 for n in ids])})


def _way(db: StreamTables, name: str) -> str:
    result = db.refresh(name)
    assert db.verify(name).equal
    return f"{result.mode}/{result.strategy}"


def _live(place: str, catalog: str, limit: int) -> list[str]:
    source = f"{place}/sources/t"
    write_deltalake(source, _rows(range(40)), configuration={"delta.enableChangeDataFeed": "true"})
    settings = settings_with(full_threshold=1.0, driver_rows_max=limit)
    with connect(f"{place}/w", catalog=catalog, settings=settings) as db:
        db.add_source("t", path=source, key="id")
        db.create("s", QUERY)
        db.create("all_of", "SELECT id, g FROM t")
        found = [_way(db, "s"), _way(db, "all_of")]
        db.publish("all_of")
        db.subscribe("all_of", "reader", "now")
        write_deltalake(source, _rows(range(40, 46)), mode="append")
        found += [_way(db, "s"), _way(db, "all_of")]
        DeltaTable(source).delete("id % 10 = 3")
        DeltaTable(source).update(predicate="id = 5", new_values={"g": "9"})
        found += [_way(db, "s"), _way(db, "all_of")]
        assert [item for item in db.health_check() if item.severity == "error"] == []
        published = db.changes("all_of", "reader").batches
        found.append(f"published:{sum(batch.num_rows for batch in published)}")
        db.unpublish("all_of")
        db.drop("all_of")
        left = folders_in(f"{place}/w/tables")
        found.append(f"left:{','.join(name.partition('-')[0] for name in left)}")
        found.append(f"spooled:{len(folders_in(f'{place}/w/_streamtables/published'))}")
    return found


def _follow_files(place: str, catalog: str) -> list[str]:
    """Follow a folder of files in the store: two that come, and one that goes."""
    folder = f"{place}/landing"
    write_file(f"{folder}/day=1/a.csv", b"id,g\n1,2\n2,3\n")
    with connect(f"{place}/w", catalog=catalog) as db:
        db.add_source("t", files=folder)
        db.create("s", QUERY)
        found = [_way(db, "s")]
        write_file(f"{folder}/day=2/b.csv", b"id,g\n3,2\n")
        found += [_way(db, "s"), f"rows:{db.read('s').count()}"]
        found.append(str(db.refresh("s").reason.code))
        remove_file(f"{folder}/day=1/a.csv")
        found += [_way(db, "s"), f"rows:{db.read('s').count()}"]
        told = [event.text.replace(" ", "_") for event in db.events() if event.kind == "resnapshot"]
        return [*found, *told]


def main(place: str, catalog: str) -> None:
    """Live once with small changes on the driver, and once with all rows through Spark."""
    for name, limit in (("small", 10_000), ("spark", 0)):
        print(*_live(f"{place}/{name}", f"{catalog}-{name}.db", limit), flush=True)
    print(*_follow_files(f"{place}/files", f"{catalog}-files.db"), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
