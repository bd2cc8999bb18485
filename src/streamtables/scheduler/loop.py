"""The loop: lead, tick, sleep until something is due; stand by while another process leads.

The lease is renewed by each tick, and by a heartbeat while a round runs.  A leader that lost its
lease starts nothing more; what it still commits is fenced by each table's own log.  A tick that
fails as a whole is told and followed by the next one: one fault must not end all refreshing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Event as Flag

from streamtables.catalog.models import Options
from streamtables.catalog.scheduler_models import Event, Lease
from streamtables.errors import AnotherLeaderError, StreamTablesError
from streamtables.refresh.recover import recover
from streamtables.refresh.results import Refresh
from streamtables.scheduler.heartbeat import Heartbeat
from streamtables.scheduler.holds import shown
from streamtables.scheduler.observed import know_recent_drains
from streamtables.scheduler.permission import NoMore
from streamtables.scheduler.tick import Ticker
from streamtables.sources.postgres.wakeups import Wakeups

_log = logging.getLogger("streamtables.scheduler")

Heard = Callable[[list[Refresh]], None]


@dataclass
class Loop:
    """Keeps all stream tables fresh while it leads."""

    ticker: Ticker
    facts: Callable[[], Options] = dict
    stop: Flag = field(default_factory=Flag)
    """Set: finish what runs, start nothing more, and end."""
    wake: Flag = field(default_factory=Flag)
    """Set: look again now."""
    no_more: NoMore = field(default_factory=NoMore)
    """Set: the round that runs starts nothing more, as it is to end or has lost its lease."""
    term: int = 0
    stands_by: bool = True
    """Whether the lease was another's when it was last asked for."""
    followed: str = ""
    """The process that held the lease before this one took it."""
    wakeups: Wakeups = field(init=False)
    heartbeat: Heartbeat = field(init=False)

    def __post_init__(self) -> None:
        self.wakeups = Wakeups(self.wake.set)
        seconds = self.ticker.around.settings.lease_seconds / 3
        self.heartbeat = Heartbeat(self._beat, seconds)

    def tick(self) -> list[Refresh]:
        """Make one tick as the leader.

        Raises:
            AnotherLeaderError: another process leads.
        """
        # Who asks for one tick wants it, whatever was ended before.
        self.stop.clear()
        lease = self._lead()
        if lease is None:
            raise self._another()
        return self._ticked(lease)

    def run(self, heard: Heard = lambda _: None) -> None:
        """Make ticks until told to stop; the lease is given up at the end."""
        try:
            while not self.stop.is_set():
                lease = self._lead_or_wait()
                if lease is not None:
                    heard(self._tried(lease))
                    self._sleep()
        finally:
            self.close()
            # Told to stop, it has; it may be run again.
            self.stop.clear()

    @property
    def leads(self) -> bool:
        """Whether this process holds the lease, as far as its own clock says."""
        return self.no_more.until is not None and not self.no_more.is_set()

    def close(self) -> None:
        """Write down what is not yet written, and give the lease up for whoever comes next."""
        self.wakeups.close()
        if not self.term:
            return
        around = self.ticker.around
        # Where the catalog is away, the lease runs out by itself.
        with suppress(StreamTablesError):
            self.ticker.tell()
            around.catalog.stop_leading(around.process, around.clock())

    def end(self) -> None:
        """Have the loop finish what runs, and end."""
        self.stop.set()
        self.no_more.set()
        self.wake.set()

    def _tried(self, lease: Lease) -> list[Refresh]:
        """Make a tick; where all of it fails, say so, and wait a while."""
        try:
            done = self._ticked(lease)
            self._listen()
        except Exception as error:
            self._tell(error)
            self.stop.wait(self.ticker.around.settings.lease_seconds / 3)
            return []
        return done

    def _tell(self, error: Exception) -> None:
        around = self.ticker.around
        text = f"a tick failed: {str(error) or type(error).__name__}"
        _log.error("tick failed", exc_info=error)
        # A catalog that is away cannot be told that it is.
        with suppress(StreamTablesError):
            around.catalog.record_events([Event(around.clock(), "tick-failed", text)])

    def _ticked(self, lease: Lease) -> list[Refresh]:
        if lease.term != self.term:
            self._began(lease)
        self.no_more.clear()
        if self.stop.is_set():
            # Asked for after the clear too, so that an end that falls between the two holds.
            self.no_more.set()
        with self.heartbeat:
            return self.ticker.tick(lease)

    def _began(self, lease: Lease) -> None:
        """Begin a term: end what a dead leader left, and read anew what another one did."""
        around = self.ticker.around
        self.ticker.forget()
        recover(around, self.followed)
        now = around.clock()
        around.catalog.record_epoch(around.catalog.standings(), now)
        know_recent_drains(around, now)
        around.catalog.record_events([Event(now, "leader", f"{lease.holder} leads")])
        self.term = lease.term

    def _lead(self) -> Lease | None:
        around = self.ticker.around
        seconds = around.settings.lease_seconds
        before = around.catalog.lease() if self.stands_by else None
        lease = around.catalog.lead(around.process, around.clock(), seconds, self.facts())
        self.stands_by = lease is None
        if lease is not None:
            self.no_more.until = lease.expires_at
            if before is not None:
                self.followed = before.holder
        return lease

    def _lead_or_wait(self) -> Lease | None:
        """Take or renew the lease; wait a while where another has it, or the catalog is away."""
        try:
            lease = self._lead()
        except StreamTablesError as error:
            _log.warning("no lease: the catalog failed", extra={"fields": {"error": error.code}})
            lease = None
        if lease is None:
            self.stop.wait(self.ticker.around.settings.lease_seconds / 3)
        return lease

    def _renew(self) -> bool:
        """Renew the lease between its ends; False once it is lost."""
        try:
            lease = self._lead()
        except StreamTablesError:
            # The catalog may answer the next time; until the lease ends it is still ours.
            return True
        if lease is not None and lease.term == self.term:
            return True
        self.no_more.set()
        return False

    def _beat(self) -> bool:
        """Do what a round that takes long must not hold up."""
        leads = self._renew()
        self.ticker.promises.watch()
        return leads

    def _listen(self) -> None:
        """Have the writers call whom some table that follows changes wants to hear."""
        around, book = self.ticker.around, self.ticker.book
        if book is None:
            return
        known = around.catalog.captured_databases
        faults = self.wakeups.want(book.calling, lambda: known().values())
        around.catalog.record_events([Event(around.clock(), "notify", fault) for fault in faults])

    def _sleep(self) -> None:
        """Wait for the next start, the next poll, or a call; the lease is kept meanwhile."""
        around = self.ticker.around
        seconds = around.settings.poll_seconds
        at = self.ticker.next_start()
        if at is not None:
            seconds = min(seconds, (at - around.clock()) / timedelta(seconds=1))
        beat = around.settings.lease_seconds / 3
        while not self.wake.wait(max(0.0, min(seconds, beat))):
            seconds -= beat
            if seconds <= 0 or not self._renew():
                return
        self.wake.clear()

    def _another(self) -> AnotherLeaderError:
        lease = self.ticker.around.catalog.lease()
        holder = lease.holder if lease else "another process"
        until = f" until {shown(lease.expires_at)} at least" if lease else ""
        return AnotherLeaderError(
            f"{holder} leads{until}",
            detail="One process at a time decides what is due.",
            hint="Let it work, or stop it; refresh works from any process.",
        )
