"""The pins of a round are of one moment, whatever other processes do while it looks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from streamtables.api import StreamTables
from streamtables.catalog import Catalog
from streamtables.catalog.models import Capture, CaptureEvent, Column, Source
from streamtables.engine.describe import describe
from streamtables.errors import StreamTablesError
from streamtables.positions import Drain, Frontier, InputId, PgPosition, Version
from streamtables.refresh.round import with_ancestors
from streamtables.refresh.sighting import Sighting
from streamtables.sources.delta import DeltaWatch, SourcePosition
from streamtables.sources.postgres.capture import PostgresCapture
from tests.support.delta_tables import DeltaTableFile
from tests.unit.catalog.builders import START, source

DATABASE = "the-database"


class DrainedElsewhere(PostgresCapture):
    """A capture whose databases another process drains."""

    def drain(self, sources: Iterable[Source]) -> dict[InputId, StreamTablesError]:
        return {}


class Watch(DeltaWatch):
    """Looks at tables; each time another process records a drain of them just before."""

    catalog: Catalog
    mirrors: tuple[DeltaTableFile, ...]

    def look(self, source: Source, consumed: Version | None) -> SourcePosition:
        drain(self.catalog, self.mirrors)
        return super().look(source, consumed)


def drain(catalog: Catalog, mirrors: Iterable[DeltaTableFile]) -> None:
    """Move every mirror by a commit, and record it."""
    versions = {}
    for file in mirrors:
        file.append((1,))
        versions[InputId(file.path.name)] = Version(file.open().version())
    last = catalog.last_drain(DATABASE)
    number = last.number + 1 if last else 1
    made = Drain(DATABASE, number, PgPosition("1:1:", "0/1"), Frontier(versions), START)
    assert catalog.record_drain(made)


def add_mirror(catalog: Catalog, file: DeltaTableFile) -> None:
    key = InputId(file.path.name)
    mirror = source(
        key,
        id=key,
        kind="postgres",
        location=str(file.path),
        columns=(Column("id", "bigint"),),
        delta_table_id=describe(str(file.path)).table_id,
    )
    capture = Capture(key, "server", DATABASE, "tag", 1, f"public.{key}", "auto", "triggers", "")
    catalog.add_captured_source(mirror, capture, CaptureEvent(key, START, "began", "a test"))


def test_mirrors_are_pinned_by_one_drain_while_another_process_drains(tmp_path: Path) -> None:
    mirrors = tuple(DeltaTableFile(tmp_path / name, {"id": "bigint"}) for name in ("m", "n"))
    with StreamTables(tmp_path / "w") as db:
        around = db._around
        for file in mirrors:
            add_mirror(around.catalog, file)
        drain(around.catalog, mirrors)
        db.create("both_of", "SELECT m.id FROM m JOIN n ON m.id = n.id")
        around.postgres = DrainedElsewhere(around.postgres.shop, db.place)
        watch = around.watch = Watch(around.sessions)
        watch.catalog, watch.mirrors = around.catalog, mirrors
        snapshot = around.catalog.snapshot()
        sighting = Sighting(around, snapshot, with_ancestors(snapshot, db.stream_tables()))
        sighting.look()
        assert around.catalog.has_drain(DATABASE, sighting.pins()), sighting.pins()
