"""Versions that are kept under a label."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamtables.catalog import Catalog
from streamtables.catalog.snapshot_models import KeptSnapshot, KeptVersion
from streamtables.errors import AlreadyExistsError, NotFoundError
from streamtables.positions import Frontier, InputId, Version
from tests.unit.catalog.builders import START, source, stream_table

FRONTIER = Frontier({InputId("s"): Version(3)})


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with Catalog.open(tmp_path / "catalog.db") as opened:
        opened.add_source(source("orders"))
        yield opened


def taken(catalog: Catalog, label: str, *versions: int) -> KeptSnapshot:
    names = ("a", "b")[: len(versions)]
    known = {table.name: table for table in catalog.stream_tables()}
    for name in names:
        if name not in known:
            known[name] = catalog.create_stream_table(stream_table(name), ())
    kept = tuple(
        KeptVersion(known[name].id, name, Version(version), FRONTIER, FRONTIER, "hash")
        for name, version in zip(names, versions, strict=True)
    )
    return KeptSnapshot(label, 5, START, kept)


def test_a_snapshot_comes_back_as_it_was(catalog: Catalog) -> None:
    kept = taken(catalog, "before", 4, 9)
    catalog.keep_snapshot(kept)
    assert catalog.kept_snapshots() == [kept]
    assert catalog.kept_snapshot("before") == kept
    assert catalog.labelled_versions(kept.tables[1].table_id) == [9]


def test_a_label_is_there_once(catalog: Catalog) -> None:
    catalog.keep_snapshot(taken(catalog, "before", 4))
    with pytest.raises(AlreadyExistsError):
        catalog.keep_snapshot(taken(catalog, "before", 5))
    assert catalog.kept_snapshot("before").tables[0].version == 4


def test_a_dropped_one_keeps_nothing(catalog: Catalog) -> None:
    kept = taken(catalog, "before", 4)
    catalog.keep_snapshot(kept)
    assert catalog.drop_snapshot("before") == kept
    assert catalog.labelled_versions(kept.tables[0].table_id) == []
    for call in (catalog.drop_snapshot, catalog.kept_snapshot):
        with pytest.raises(NotFoundError):
            call("before")


def test_a_dropped_table_leaves_its_snapshots(catalog: Catalog) -> None:
    kept = taken(catalog, "before", 4, 9)
    catalog.keep_snapshot(kept)
    catalog.drop_stream_table(kept.tables[0].table_id, cascade=False)
    assert [item.table for item in catalog.kept_snapshot("before").tables] == ["b"]
