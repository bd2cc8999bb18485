"""One tick: look at all sources at once, choose what is due and behind, refresh it in one round.

An idle tick asks the catalog one question, its lease; everything else is compared in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import perf_counter

from streamtables.catalog.models import Source, StreamTable
from streamtables.catalog.scheduler_models import Event, Lease, pause_scopes
from streamtables.errors import StreamTablesError
from streamtables.positions import InputId, Version
from streamtables.publish.courier import Courier
from streamtables.refresh.results import Refresh
from streamtables.refresh.round import Round, with_ancestors
from streamtables.refresh.source_drift import take_over
from streamtables.refresh.surroundings import Surroundings
from streamtables.scheduler.aftermath import Aftermath
from streamtables.scheduler.book import Book
from streamtables.scheduler.clock_words import reads_clock
from streamtables.scheduler.due import came_together
from streamtables.scheduler.entry import Entry
from streamtables.scheduler.fuses import Fuses
from streamtables.scheduler.holds import Hold, Standstill, held_back, namespace_of, shown
from streamtables.scheduler.housekeeping import Housekeeping
from streamtables.scheduler.lateness import Promises, judged
from streamtables.scheduler.observed import forget_dropped
from streamtables.scheduler.pressure import PressureGauge
from streamtables.scheduler.proofs import Proofs
from streamtables.scheduler.queue import Job
from streamtables.scheduler.workers import Workers
from streamtables.sources.heads import Heads
from streamtables.sources.postgres.following import Following

HOLD_SECONDS = 5.0
"""After how long a table that is held back is looked at again."""


@dataclass
class Ticker:
    """Makes ticks, and keeps between them what the leader knows."""

    around: Surroundings
    workers: Workers
    book: Book | None = None
    heads: Heads = field(default_factory=Heads)
    happened: list[Event] = field(default_factory=list)
    skipped: list[Event] = field(default_factory=list)
    """Tables that were due and lacked nothing: written down with what happens next.

    A quiet tick stays one question to the catalog.
    """
    ticks: int = 0
    change_reads: int = 0
    """How many windows of changes the rounds of this process have read."""
    sources_seen: dict[InputId, datetime] = field(default_factory=dict)
    """When it was last known where each source stands."""
    broke_off: bool = False
    """Whether the last tick did not come to its end: what it had taken up is not done."""
    courier: Courier | None = None
    """Brings changes to those who subscribed to them, beside the ticks."""
    following: Following = field(init=False)
    gauge: PressureGauge = field(init=False)
    housekeeping: Housekeeping = field(init=False)
    proofs: Proofs = field(init=False)
    promises: Promises = field(init=False)

    def __post_init__(self) -> None:
        self.following = Following(self.around.postgres)
        self.gauge = PressureGauge(self.around.settings)
        self.housekeeping = Housekeeping(self.around)
        self.proofs = Proofs(self.around)
        self.promises = Promises(self.around)

    def tick(self, lease: Lease) -> list[Refresh]:
        """Refresh what is due and behind, with all that it stands on."""
        began = perf_counter()
        broke_off, self.broke_off = self.broke_off, True
        try:
            if broke_off:
                # What was seen to move then has not reached the book.
                self.heads = Heads()
            results = self._ticked(lease, anew=broke_off)
        finally:
            self.around.observer.ticked(perf_counter() - began)
        self.broke_off = False
        return results

    def _ticked(self, lease: Lease, *, anew: bool) -> list[Refresh]:
        self.ticks += 1
        now = self.around.clock()
        book = self._book_at(lease.generation, now, anew=anew)
        self._detect(book, now)
        self.happened += self.gauge.look(book, now)
        chosen = [key for key in book.take_due(now) if self._starts(book, key, now)]
        book.seen_at = now
        # What waited until now is said before a round that may take long.
        self.happened += judged(book.promised, now)
        results = self._refreshed(book, chosen, now) if chosen else []
        if not chosen or self.housekeeping.waits_for_long(now):
            self.happened += self.housekeeping.tidy(book, now)
        tables = book.definitions.stream_tables.values()
        self.happened += self.proofs.prove(book.generation, tables, now)
        self.happened += judged(book.promised, self.around.clock())
        if self.happened or results:
            self.tell()
        if self.courier is not None:
            known = self.around.catalog.publications
            self.courier.ticked(
                book.generation, now, moved=bool(results), ask=lambda: bool(known())
            )
        return results

    def tell(self) -> None:
        """Write down what happened, and what was skipped before."""
        told = sorted((*self.skipped, *self.happened), key=lambda event: event.at)
        self.around.catalog.record_events(told)
        self.happened, self.skipped = [], []

    def forget(self) -> None:
        """Know nothing: another process may have led, and every log counts as moved."""
        self.book, self.heads = None, Heads()

    def next_start(self) -> datetime | None:
        """Return when something is due next, as far as is known."""
        return self.book.next_start(self.around.clock()) if self.book else None

    def _book_at(self, generation: int, now: datetime, *, anew: bool) -> Book:
        """Return the book; a new one when something was defined since, or a tick broke off."""
        if self.book is None or self.book.generation != generation or anew:
            snapshot, rules = self.around.catalog.snapshot(), self.around.catalog.rules()
            first = self.book is None
            self.book = Book.of(snapshot, rules, now, self.book)
            if first:
                self._know_holds(self.book)
                self._know_failures(self.book, now)
            self.following.forget()
            forget_dropped(self.around.observer, self.book)
            known = self.book.definitions.sources
            self.sources_seen = {k: at for k, at in self.sources_seen.items() if k in known}
        return self.book

    def _know_holds(self, book: Book) -> None:
        """Take over what the last leader told of tables that it held back, so that it is ended."""
        told = self.around.catalog.last_events(("held", "released"))
        for key, event in told.items():
            if event.kind == "held" and key in book.entries:
                book.entries[InputId(key)].hold = Hold("held", event.text)

    def _know_failures(self, book: Book, now: datetime) -> None:
        """Take over which tables did not go well under the last leader, so that they are tried."""
        last = self.around.catalog.last_refreshes()
        for key in last.keys() & book.entries.keys():
            if last[key].state == "failed":
                book.entries[key].failures = 1
            elif last[key].state == "deferred":
                book.entries[key].said.add("deferred")
        book.note_changes(last.keys() & book.entries.keys(), now)

    def _detect(self, book: Book, now: datetime) -> None:
        """See which sources have moved, and which tables that puts behind.

        Readers of a source that cannot be read are behind too: their refresh says what is wrong.
        """
        logs = (source for source in book.watched if source.kind != "postgres")
        moved, unreadable = self.heads.moved(logs)
        mirrors = [source for source in book.watched if source.kind == "postgres"]
        if keys := {source.id for source in moved}:
            self.around.watch.expect(keys, self.around.catalog.heads(keys))
        positions = {source.id: self._position(book, source) for source in moved}
        positions |= dict.fromkeys(source.id for source in unreadable)
        positions |= self.following.moved(mirrors)
        positions |= self.around.folders.waiting([s for s in book.watched if s.kind == "files"])
        for key in [key for key, at in positions.items() if at is None]:
            self.heads.forget(key)
        changed = [key for key, at in positions.items() if book.note_source(key, at)]
        self.sources_seen |= {s.id: now for s in book.watched if s.id not in book.broken}
        if changed:
            book.note_changes(book.dag.affected(changed), now)
            self.promises.date_back(book, now)

    def _position(self, book: Book, source: Source) -> Version | None:
        """Return the version that a round would pin, or None where the source cannot be read."""
        around = self.around
        try:
            position = around.watch.look(source, book.consumed(source.id))
            if position.drift.anew:
                # Its versions may have the numbers of those that were read.
                take_over(source, position, around)
            return position.version
        except StreamTablesError:
            # The refresh that needs the source fails on it, and says so.
            return None

    def _starts(self, book: Book, key: InputId, now: datetime) -> bool:
        """Whether a table that is due is to be refreshed now; why not is noted."""
        entry = book.entries[key]
        wanted = book.is_behind(key) or entry.is_unsettled
        if not wanted and not self._waits_for_time(book, entry):
            self._note_hold(entry, None, now)
            entry.look_at = None
            self._note_skip(entry, now)
            book.pass_over(key, now)
            return False
        hold = self._hold(book, entry, now)
        self._note_hold(entry, hold, now)
        if hold is None:
            entry.look_at = None
            self._note_coalesced(entry, now)
            return True
        again = now + timedelta(seconds=HOLD_SECONDS)
        entry.look_at = hold.until or again
        book.schedule(key, now)
        return False

    def _waits_for_time(self, book: Book, entry: Entry) -> bool:
        """Whether the passing of time alone changes the result of a table."""
        if entry.follows_changes:
            return False
        if entry.waits_for_time is None:
            plans = self.around.plans
            entry.waits_for_time = reads_clock(entry.table, book.definitions, plans)
        return entry.waits_for_time

    def _hold(self, book: Book, entry: Entry, now: datetime) -> Hold | None:
        ancestors = book.definitions.ancestors(entry.table.id)
        waits = {table.id: book.entries[table.id].not_before for table in ancestors}
        brought = [table.id for table in ancestors if book.is_behind(table.id)]
        facts = Standstill(
            table=entry.table,
            options=entry.options,
            roots=entry.roots,
            ancestors=ancestors,
            not_before={key: until for key, until in waits.items() if until},
            blackouts={key: book.entries[key].options.blackout for key in brought},
        )
        roots = sorted(entry.roots)
        watermarks = self.around.catalog.watermarks
        hold = held_back(facts, book.rules, book.source_names, lambda: watermarks(roots), now)
        return hold or self.gauge.hold(entry, now)

    def _note_hold(self, entry: Entry, hold: Hold | None, now: datetime) -> None:
        """Record what holds a table back when it is another reason than before."""
        last, entry.hold = entry.hold, hold
        if hold is not None and (last is None or not last.is_same(hold)):
            self._happened(entry.table, now, "held", hold.text)
        if hold is None and last is not None:
            self._happened(entry.table, now, "released", "it is no longer held back")

    def _note_skip(self, entry: Entry, now: datetime) -> None:
        """Note that a table was due and lacked nothing, once after each refresh."""
        if "skipped" not in entry.said:
            entry.said.add("skipped")
            text = "it was due and lacks nothing; it rests until something changes"
            self.skipped.append(Event(now, "skipped", text, entry.table.id, entry.table.name))

    def _note_coalesced(self, entry: Entry, now: datetime) -> None:
        """Tell that several times of a table come together, once until it starts in time."""
        since = came_together(entry.timing, now)
        if since is None:
            entry.said.discard("coalesced")
        elif "coalesced" not in entry.said:
            entry.said.add("coalesced")
            text = f"what was due since {shown(since)} comes together in one refresh"
            self._happened(entry.table, now, "coalesced", text)

    def _refreshed(self, book: Book, chosen: Sequence[InputId], now: datetime) -> list[Refresh]:
        snapshot = self.around.catalog.snapshot()
        known = snapshot.stream_tables
        wanted = [known[key] for key in chosen if key in known]
        tables = with_ancestors(snapshot, wanted)
        self.workers.jobs = {table.id: _job(table, book, now) for table in tables}
        self.workers.may_start = self._may_start
        fuses = Fuses(self.around)
        round_ = Round(
            self.around, snapshot, tables, runner=self.workers, scopes=_scopes, fuse=fuses
        )
        with self.promises.while_it_runs(book, lambda: round_.standings):
            results = round_.run()
        self.change_reads += round_.changes.reads
        book.standings.update(round_.standings)
        moved = [table.id for table in round_.tables if table.id in book.entries]
        self.happened += self.promises.at_the_end(book, moved)
        aftermath = Aftermath(self.around, book, started=now)
        self.happened += aftermath.settle({result.table: result for result in results}, moved)
        book.note_changes(moved, now)
        for key in moved:
            book.schedule(key, now)
        return results

    def _may_start(self, key: InputId) -> bool:
        """Whether nobody has paused a table since the round began."""
        scopes = pause_scopes(self.workers.jobs[key].namespace)
        return self.around.catalog.pause_of(key, scopes) is None

    def _happened(self, table: StreamTable, at: datetime, kind: str, text: str) -> None:
        self.happened.append(Event(at, kind, text, table.id, table.name))


def _scopes(table: StreamTable) -> tuple[str, ...]:
    return pause_scopes(namespace_of(table.name))


def _job(table: StreamTable, book: Book, now: datetime) -> Job:
    entry = book.entries.get(table.id)
    return Job(
        table_id=table.id,
        namespace=namespace_of(table.name),
        tier=table.tier,
        cost_seconds=entry.typical_seconds if entry else 0.0,
        ready_since=entry.behind_since or now if entry else now,
    )
