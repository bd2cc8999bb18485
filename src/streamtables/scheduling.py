"""Keeping tables fresh by themselves: the part of the interface that is about scheduling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from streamtables.audit import current_actor
from streamtables.catalog import Catalog
from streamtables.catalog.cancellations import Cancellation
from streamtables.catalog.models import StreamTable
from streamtables.catalog.names import check_name
from streamtables.catalog.scheduler_models import (
    EVERYTHING,
    Event,
    Pause,
    SourceGate,
    SourceGroup,
    namespace_scope,
)
from streamtables.errors import ConfigError, NotFoundError, TransientError
from streamtables.positions import InputId
from streamtables.refresh.results import Refresh
from streamtables.refresh.surroundings import Surroundings
from streamtables.scheduler.durations import parse_duration
from streamtables.scheduler.fuses import BLOWN, RELEASED
from streamtables.scheduler.holds import namespace_of
from streamtables.scheduler.service import Scheduler
from streamtables.scheduler.stopping import CANCEL_SECONDS, Draining, Stopping, wait_until


class Scheduling:
    """The methods of an open warehouse that are about when tables are refreshed."""

    _catalog: Catalog
    _around: Surroundings
    _scheduler: Scheduler

    def tick(self) -> list[Refresh]:
        """Make one scheduler round: refresh what is due and behind.

        Raises:
            AnotherLeaderError: another process keeps this warehouse fresh.
        """
        return self._scheduler.tick()

    def run(self, heard: Callable[[list[Refresh]], None] = lambda _: None) -> None:
        """Keep every table fresh until `stop` is called; stand by while another process leads.

        `heard` is given what each tick refreshed.
        """
        self._scheduler.run(heard)

    def stop(self) -> None:
        """End `run` from another thread: finish what runs, start nothing more."""
        self._scheduler.end()

    def wake(self) -> None:
        """Have `run` look at once, and not at its next poll."""
        self._scheduler.wake()

    # Standing still

    def pause(
        self,
        name: str | None = None,
        reason: str = "paused by a user",
        *,
        namespace: str | None = None,
        wait: bool = False,
        timeout: float | None = None,
    ) -> StreamTable | None:
        """Stop refreshing a table, a namespace or, with neither, everything, until it is resumed.

        A table that is paused by its name is not refreshed by hand either.  With `wait` it returns
        when none of these tables is being refreshed any more, in whichever process.

        Raises:
            TransientError: some still are after `timeout` seconds; the pause holds.
        """
        now = self._around.clock()
        paused = None
        if name is not None and namespace is None:
            table = self._catalog.stream_table(name)
            paused = self._catalog.set_state(table.id, "paused", reason, at=now)
        else:
            self._catalog.put_pause(Pause(self._scope(name, namespace), reason, now))
        if wait:
            self._wait_for_end(name, namespace, timeout)
        return paused

    def _wait_for_end(self, name: str | None, namespace: str | None, timeout: float | None) -> None:
        """Wait until nothing runs of a table, a namespace or everything."""
        covered = [
            table
            for table in self._catalog.stream_tables()
            if name is None or table.name.lower() == name.lower()
            if namespace is None or namespace_of(table.name) == namespace.lower()
        ]
        draining = Draining(self._around, self._with_parts(covered))
        if not wait_until(draining.has_ended, timeout, self._around.sleep):
            known = {table.id: table.name for table in covered}
            names = sorted(known.get(key, key) for key in draining.running)
            raise TransientError(
                f"{len(names)} of the paused tables are still being refreshed after {timeout:g} s",
                detail=f"They are: {', '.join(names)}.",
                hint="The pause holds: wait again, or run cancel to stop them.",
            )

    def resume(
        self, name: str | None = None, *, namespace: str | None = None
    ) -> StreamTable | None:
        """Let a paused or suspended table, a namespace or everything be refreshed again.

        A table whose fuse blew goes on with the very change that blew it.
        """
        if name is None or namespace is not None:
            self._catalog.drop_pause(self._scope(name, namespace))
            return None
        table = self._catalog.stream_table(name)
        if table.state not in ("paused", "suspended"):
            return table
        reason = RELEASED if table.state_reason.startswith(BLOWN) else ""
        return self._catalog.set_state(table.id, "active", reason, at=self._around.clock())

    def cancel(self, name: str | None = None, *, timeout: float = CANCEL_SECONDS) -> bool:
        """Stop the refresh of a table that runs, or, without a name, every one that does.

        It may run in any process of this warehouse.  Its Spark jobs are cancelled, the table stays
        where it was, and it is refreshed again when it is due.  Returns whether something was
        cancelled: nothing may run, and what runs may end by itself first.

        Raises:
            TransientError: it has not ended within `timeout` seconds.
        """
        tables = None if name is None else self._with_parts([self._catalog.stream_table(name)])
        asked = Cancellation(current_actor(), self._around.clock())
        stopped = Stopping(self._around, self._catalog.ask_to_cancel(tables, asked))
        if not wait_until(stopped.has_ended, timeout, self._around.sleep):
            raise TransientError(
                f"{stopped.told} still runs {timeout:g} s after it was asked to stop",
                hint="It ends as soon as Spark lets it; look at the history of the table.",
            )
        return stopped.was_cancelled

    def _with_parts(self, tables: Sequence[StreamTable]) -> set[InputId]:
        """Return the ids of tables, and of those that hold their state."""
        ids = {table.id for table in tables}
        known = self._catalog.stream_tables(internal=True)
        return ids | {table.id for table in known if table.owner_id in ids}

    def _scope(self, name: str | None, namespace: str | None) -> str:
        if name is not None:
            raise ConfigError(
                "name a table or a namespace, and not both", hint="Leave one of them out."
            )
        if namespace is None:
            return EVERYTHING
        known = {namespace_of(table.name) for table in self._catalog.stream_tables()}
        if namespace.lower() not in known:
            raise NotFoundError(
                f'there is no stream table in the namespace "{namespace}"',
                hint=f"Namespaces: {', '.join(sorted(known))}." if known else "",
            )
        return namespace_scope(namespace)

    # Gates and watermarks

    def close_gate(self, source: str, reason: str = "closed by a user") -> None:
        """Have everything that stands on a source wait until its gate is opened."""
        found = self._catalog.source(source)
        self._catalog.close_gate(SourceGate(found.id, reason, self._around.clock()))

    def open_gate(self, source: str) -> None:
        """Let what stands on a source go on."""
        self._catalog.open_gate(self._catalog.source(source).id)

    def set_watermark_group(
        self,
        name: str,
        sources: Sequence[str],
        tolerance: str = "1 minute",
        *,
        until: datetime | None = None,
    ) -> None:
        """Have tables that read several of these sources wait until their watermarks are near.

        With `until`, tables that read any of them also wait until what they read is complete up to
        that moment.
        """
        check_name(name, kind="a watermark group")
        found = tuple(dict.fromkeys(self._catalog.source(source).id for source in sources))
        if len(found) < 2:
            raise ConfigError(
                f'the watermark group "{name}" needs at least two sources',
                hint="Name the sources that are to be read together.",
            )
        seconds = parse_duration(tolerance, "the tolerance")
        reached = None if until is None else _in_utc(until)
        self._catalog.put_group(SourceGroup(name, found, seconds, reached))

    def drop_watermark_group(self, name: str) -> None:
        """Let the tables of a group go on without waiting for each other's sources."""
        if not self._catalog.drop_group(name):
            raise NotFoundError(f'there is no watermark group "{name}"')

    def set_watermark(self, source: str, moment: datetime) -> None:
        """Say up to which moment a source is complete."""
        self._catalog.set_watermark(self._catalog.source(source).id, _in_utc(moment))

    # Looking

    def events(self, name: str | None = None, limit: int = 100) -> list[Event]:
        """Return the last things that people should know, of all or of one table, newest first."""
        subject = None if name is None else self._catalog.stream_table(name).id
        return self._catalog.events(subject, limit)

    def scheduler_diagnostics(self) -> dict[str, object]:
        """Return who leads, and what the scheduler is doing."""
        return self._scheduler.diagnostics()

    def worker_allocation_status(self) -> list[dict[str, object]]:
        """Return, for each namespace, how many workers it uses, may use and waits for."""
        return self._scheduler.allocation()

    def cluster_worker_summary(self) -> dict[str, object]:
        """Return the workers of the process that leads: how many, how busy."""
        return self._scheduler.workers()


def _in_utc(moment: datetime) -> datetime:
    # Callers without a type checker pass texts.
    if not isinstance(moment, datetime):
        raise ConfigError(
            f"{moment!r} is no moment", hint="Give it as a datetime with a zone, such as UTC."
        )
    if moment.tzinfo is None:
        raise ConfigError(f"the moment {moment} has no zone", hint="Give it one, such as UTC.")
    return moment.astimezone(UTC)
