"""Where the sources of a round stand, and the pins that follow from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.models import Source, StreamTable
from streamtables.catalog.source_heads import Head
from streamtables.errors import NotFoundError, StreamTablesError, UserError
from streamtables.positions import CLOCK, Frontier, InputId, Pins, Version, pins_at_least
from streamtables.refresh.clock import version_of
from streamtables.refresh.source_drift import DriftNotes, notes_on, take_over
from streamtables.refresh.surroundings import Surroundings
from streamtables.sources.delta import SourcePosition


@dataclass
class Sighting:
    """One look at all sources that some tables stand on; used once."""

    around: Surroundings
    snapshot: CatalogSnapshot
    tables: tuple[StreamTable, ...]
    positions: dict[InputId, SourcePosition] = field(default_factory=dict)
    broken: dict[InputId, StreamTablesError] = field(default_factory=dict)
    drift: dict[InputId, DriftNotes] = field(default_factory=dict)

    def look(self) -> None:
        """See where every source stands; what became something else is taken over."""
        self._look()
        if self._take_over_sources():
            self._look()
        self._note_heads()

    def pins(self) -> Pins:
        """Choose one version of every source: the last change, and never back from what was read.

        A consumed version that the log no longer reaches is one of another table at that place.
        """
        pins = Frontier({key: item.version for key, item in self.positions.items()})
        consumed = self._consumed()
        reached = {
            key: version
            for key, version in consumed.items()
            if key in self.positions and version <= self.positions[key].head
        }
        pins = pins_at_least(pins, [Frontier(reached)])
        if not any(self.reads_clock(table) for table in self.tables):
            return pins
        moment = max(version_of(self.around.clock()), consumed.get(CLOCK, Version(0)))
        return pins.with_version(CLOCK, moment)

    def reads_clock(self, table: StreamTable) -> bool:
        """Whether the query of a table asks for the current time."""
        try:
            return self.around.plans.plan(table, self.snapshot.definitions).facts.reads_clock
        except UserError:
            # It no longer compiles: its own refresh fails with that, and the others run on.
            return False

    def _look(self) -> None:
        sources = sources_of(self.snapshot, self.tables)
        if keys := {source.id for source in sources if source.kind != "postgres"}:
            self.around.watch.expect(keys, self.around.catalog.heads(keys))
        consumed = self._consumed()
        self.broken |= self.around.postgres.drain(sources)
        self.broken |= self.around.folders.take(sources)
        mirrors = any(source.kind == "postgres" for source in sources)
        drained = self.around.postgres.pins() if mirrors else {}
        for source in sources:
            if source.id in self.broken:
                continue
            try:
                position = self._position(source, consumed, drained)
            except StreamTablesError as error:
                self.broken[source.id] = error
                continue
            self.positions[source.id] = position
            self.drift[source.id] = notes_on(source, position.drift)

    def _position(
        self, source: Source, consumed: Frontier, drained: Mapping[InputId, Version]
    ) -> SourcePosition:
        position = self.around.watch.look(source, consumed.get(source.id))
        if source.kind != "postgres":
            return position
        # The head of a mirror may be ahead of the other mirrors; a recorded drain never is.
        return replace(position, version=self.around.postgres.pinned(source, drained))

    def _note_heads(self) -> None:
        """Keep what the histories are recognised by, before any of them is read."""
        sources, known = self.snapshot.sources, self.around.watch.known
        seen = {
            key: Head(position.head, position.mark)
            for key, position in self.positions.items()
            if position.mark is not None and sources[key].kind != "postgres"
        }
        new = {key: head for key, head in seen.items() if known.get(key) != head}
        # A source that was dropped meanwhile has no readers whom this could concern.
        with suppress(NotFoundError):
            self.around.catalog.note_heads(new)

    def _take_over_sources(self) -> bool:
        """Accept sources that became something else; the catalog then has to be read again."""
        moved = [
            take_over(self.snapshot.sources[key], position, self.around)
            for key, position in self.positions.items()
        ]
        if not any(moved):
            return False
        self.snapshot = self.around.catalog.snapshot()
        known = self.snapshot.stream_tables
        self.tables = tuple(known[table.id] for table in self.tables if table.id in known)
        return True

    def _consumed(self) -> Frontier:
        """Return the greatest version of each source that any of the tables has consumed."""
        standings = self.snapshot.standings
        known = [standings[table.id] for table in self.tables if table.id in standings]
        return pins_at_least(Frontier.EMPTY, [standing.base_frontier for standing in known])


def sources_of(snapshot: CatalogSnapshot, tables: Sequence[StreamTable]) -> list[Source]:
    """Return all sources that some tables stand on, each once."""
    needed: dict[InputId, None] = {}
    for table in tables:
        needed.update(dict.fromkeys(snapshot.definitions.roots(table.id)))
    return [snapshot.sources[key] for key in needed]
