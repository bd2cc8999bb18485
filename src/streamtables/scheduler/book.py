"""What the leader knows of every stream table, between its ticks.

The definitions are those of one generation of the catalog; a later one gives a new book, which
takes over what became of each table.  Nothing here asks the catalog or a source.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from streamtables.catalog.definitions import CatalogSnapshot, Definitions
from streamtables.catalog.models import Source, StreamTable
from streamtables.catalog.scheduler_models import Rules
from streamtables.positions import InputId, Standing, Version
from streamtables.scheduler.calculated import effective_schedules
from streamtables.scheduler.dag import Dag
from streamtables.scheduler.due import passed_over
from streamtables.scheduler.entry import Entry
from streamtables.scheduler.options import read_options
from streamtables.scheduler.schedule import Schedule, parse_schedule


@dataclass
class Book:
    """All entries of one generation, in the order of their next start."""

    definitions: Definitions
    rules: Rules
    dag: Dag
    entries: dict[InputId, Entry]
    standings: dict[InputId, Standing]
    seen_at: datetime
    """The last moment at which it was known what each table lacks."""
    positions: dict[InputId, Version] = field(default_factory=dict)
    broken: set[InputId] = field(default_factory=set)
    behind: set[InputId] = field(default_factory=set)
    """Tables that lacked something when that was last noted."""
    following: set[InputId] = field(default_factory=set)
    """Tables that wait for a change and have one."""
    resting: set[InputId] = field(default_factory=set)
    """Tables that were due and lacked nothing: they cost no look until something changes."""
    _heap: list[tuple[datetime, InputId]] = field(default_factory=list)
    _starts: dict[InputId, datetime] = field(default_factory=dict)

    @classmethod
    def of(
        cls, snapshot: CatalogSnapshot, rules: Rules, now: datetime, last: Book | None = None
    ) -> Book:
        """Open a book on a snapshot; what the last one knew of the same tables is kept."""
        definitions = snapshot.definitions
        dag = _moved_dag(last, definitions) if last else Dag.build(definitions.edges)
        schedules, roots = _schedules(definitions), _roots(definitions)
        book = cls(definitions, rules, dag, {}, dict(snapshot.standings), now)
        for key, table in definitions.stream_tables.items():
            entry = Entry(table, schedules[key], read_options(table.options), roots[key])
            book.entries[key] = entry
            if last is not None and key in last.entries:
                _carry_over(entry, last.entries[key], last.last_start(key))
            elif standing := book.standings.get(key):
                # After a change of leader: the last time it moved is the best that is known.
                entry.last_started = standing.updated_at
        if last is not None:
            known = definitions.sources
            book.positions = {k: v for k, v in last.positions.items() if k in known}
            book.broken = {key for key in last.broken if key in known}
        for key in book.entries:
            book.schedule(key, now)
        book.note_changes(book.entries, now)
        return book

    @property
    def generation(self) -> int:
        """The generation of the catalog that the book is of."""
        return self.definitions.generation

    @cached_property
    def watched(self) -> tuple[Source, ...]:
        """The sources that some table follows by itself."""
        found: set[InputId] = set()
        for entry in self.entries.values():
            if entry.runs_by_itself:
                found |= entry.roots
        return tuple(self.definitions.sources[key] for key in sorted(found))

    @cached_property
    def promised(self) -> tuple[Entry, ...]:
        """The tables whose freshness somebody aims at or has promised."""
        entries = self.entries.values()
        return tuple(e for e in entries if e.options.sla or e.options.target_lag)

    @cached_property
    def own_tables(self) -> tuple[StreamTable | Source, ...]:
        """The tables that this package writes: stream tables, and mirrors of what is no table."""
        sources = self.definitions.sources.values()
        mirrors = (source for source in sources if source.is_mirror)
        return (*self.definitions.stream_tables.values(), *mirrors)

    def version_of(self, table: InputId) -> Version | None:
        """Return the last known version of one of our own tables."""
        standing = self.standings.get(table)
        return standing.version if standing is not None else self.positions.get(table)

    @cached_property
    def source_names(self) -> Mapping[InputId, str]:
        """The names of all sources."""
        return {key: source.name for key, source in self.definitions.sources.items()}

    def consumed(self, source: InputId) -> Version | None:
        """Return the greatest version of a source that any table stands for."""
        readers = (self.standings.get(key) for key in self.dag.affected([source]))
        found = (s.base_frontier.get(source) for s in readers if s is not None)
        return max((version for version in found if version is not None), default=None)

    def note_source(self, source: InputId, at: Version | None) -> bool:
        """Note where a source stands, None where it cannot be read; say whether that is news."""
        known = source in self.broken or source in self.positions
        last = None if source in self.broken else self.positions.get(source)
        if at is None:
            self.broken.add(source)
        else:
            self.broken.discard(source)
            self.positions[source] = at
        return not known or last != at

    @cached_property
    def calling(self) -> frozenset[InputId]:
        """The PostgreSQL sources whose writers are to wake the scheduler."""
        found: set[InputId] = set()
        for entry in self.entries.values():
            if entry.options.notify and entry.follows_changes and entry.runs_by_itself:
                found |= entry.roots
        sources = self.definitions.sources
        return frozenset(key for key in found if sources[key].kind == "postgres")

    def is_behind(self, key: InputId, standings: Mapping[InputId, Standing] | None = None) -> bool:
        """Whether a source has moved past a table, or the table must be built anew.

        `standings` are those of a round that runs; the book learns them at its end.
        """
        known = self.standings if standings is None else standings
        entry, standing = self.entries[key], known.get(key)
        if standing is None or standing.query_hash != entry.table.defining_query_hash:
            return True
        if entry.table.state == "needs-rebuild" or not self.broken.isdisjoint(entry.roots):
            return True
        base, positions = standing.base_frontier, self.positions
        for root in entry.roots:
            at = positions.get(root)
            if at is not None and base.get(root) != at:
                return True
        return False

    def note_changes(self, tables: Iterable[InputId], now: datetime) -> None:
        """Note since when tables are behind, and which of them wait for just that."""
        for key in tables:
            entry = self.entries[key]
            if not self.is_behind(key):
                self._note_current(key)
                if entry.is_unsettled and entry.follows_changes and entry.runs_by_itself:
                    self.following.add(key)
                continue
            self.behind.add(key)
            entry.behind_since = entry.behind_since or now
            if key in self.resting:
                entry.last_started = self.last_start(key)
                self.schedule(key, now)
            if entry.follows_changes and entry.runs_by_itself and not self._is_let_be(entry):
                self.following.add(key)

    def let_be(self, key: InputId, started: datetime, now: datetime) -> None:
        """Note that somebody stopped a table: it waits for its next time, or the next change."""
        entry = self.entries[key]
        entry.last_started, entry.not_before = started, None
        entry.last_started = passed_over(entry.timing, now)
        entry.let_be = self._positions_of(entry)
        self.following.discard(key)

    def _is_let_be(self, entry: Entry) -> bool:
        if entry.let_be is not None and entry.let_be != self._positions_of(entry):
            entry.let_be = None
        return entry.let_be is not None

    def _positions_of(self, entry: Entry) -> dict[InputId, Version]:
        return {root: self.positions[root] for root in entry.roots if root in self.positions}

    def pass_over(self, key: InputId, now: datetime) -> None:
        """Note that a table was due and lacks nothing: its time counts from now on."""
        self.entries[key].last_started = now
        self._note_current(key)
        self.resting.add(key)

    def _note_current(self, key: InputId) -> None:
        self.entries[key].behind_since = None
        self.behind.discard(key)
        self.following.discard(key)

    def last_start(self, key: InputId) -> datetime | None:
        """Return from when on a table's time counts; while it rests, its rhythm goes on."""
        entry = self.entries[key]
        return (
            passed_over(entry.timing, self.seen_at) if key in self.resting else entry.last_started
        )

    def schedule(self, key: InputId, now: datetime) -> None:
        """Put a table into its place in the order of starts."""
        entry = self.entries[key]
        self._starts.pop(key, None)
        self.resting.discard(key)
        if entry.follows_changes or not entry.runs_by_itself:
            return
        at = entry.due_at(now)
        if at is not None:
            self._starts[key] = at
            heapq.heappush(self._heap, (at, key))

    def take_due(self, now: datetime) -> Iterator[InputId]:
        """Give every table whose time has come, and take it out of the order."""
        while self._heap and self._heap[0][0] <= now:
            at, key = heapq.heappop(self._heap)
            if self._starts.get(key) == at:
                del self._starts[key]
                yield key
        for key in sorted(self.following):
            at_earliest = self.entries[key].due_at(now)
            if at_earliest is not None and at_earliest <= now:
                yield key

    def next_start(self, now: datetime) -> datetime | None:
        """Return the next moment at which something is due by itself."""
        while self._heap and self._starts.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        moments = [self._heap[0][0]] if self._heap else []
        moments += [at for key in self.following if (at := self.entries[key].due_at(now))]
        return min(moments, default=None)


def _schedules(definitions: Definitions) -> Mapping[InputId, Schedule]:
    tables = definitions.stream_tables
    # Many tables say the same, and each text is parsed once.
    parsed = {text: parse_schedule(text) for text in {t.schedule for t in tables.values()}}
    said = {key: parsed[table.schedule] for key, table in tables.items()}
    tiers = {key: table.tier for key, table in tables.items()}
    consumers: dict[InputId, list[InputId]] = {}
    for key, inputs in definitions.edges.items():
        for item in inputs:
            consumers.setdefault(item, []).append(key)
    return effective_schedules(said, tiers, consumers)


def _roots(definitions: Definitions) -> Mapping[InputId, frozenset[InputId]]:
    """Return the sources that each table stands on, from those that its inputs stand on."""
    found: dict[InputId, frozenset[InputId]] = {}
    for key in definitions.order:
        below = (found.get(item, (item,)) for item in definitions.edges[key])
        found[key] = frozenset(root for some in below for root in some)
    return found


def _moved_dag(last: Book, definitions: Definitions) -> Dag:
    """Return the graph after some changes, at the cost of what they concern."""
    dag, before, after = last.dag, last.definitions.edges, definitions.edges
    for key in definitions.order:
        if before.get(key) != after[key]:
            dag = dag.with_table(key, after[key])
    for key in reversed(last.definitions.order):
        if key not in after:
            dag = dag.without(key)
    return dag


def _carry_over(entry: Entry, last: Entry, last_start: datetime | None) -> None:
    entry.last_started = last_start
    entry.behind_since, entry.hold, entry.said = last.behind_since, last.hold, last.said
    entry.freshness, entry.typical_seconds = last.freshness, last.typical_seconds
    if last.table.altered_at == entry.table.altered_at:
        entry.failures, entry.unexpected = last.failures, last.unexpected
        entry.not_before = last.not_before
        entry.let_be = last.let_be
