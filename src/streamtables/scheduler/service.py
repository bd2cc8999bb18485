"""The scheduler of one open warehouse: ticks, the loop, and what can be seen of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from streamtables.catalog.models import Options
from streamtables.observe import declared as metric
from streamtables.observe.counts import Sample
from streamtables.publish.attendance import Attendance
from streamtables.publish.courier import Courier
from streamtables.refresh.results import Refresh
from streamtables.refresh.surroundings import Surroundings
from streamtables.scheduler.loop import Loop
from streamtables.scheduler.observed import (
    Leading,
    arrival_samples,
    lag_samples,
    looked,
    process_samples,
    table_samples,
)
from streamtables.scheduler.permission import NoMore
from streamtables.scheduler.tick import Ticker
from streamtables.scheduler.workers import Workers


class Scheduler:
    """Made with its warehouse; nothing runs before it is asked."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._workers = Workers(around.settings, no_more=NoMore(around.clock))
        self._ticker = Ticker(around, self._workers)
        self._ticker.courier = Courier(Attendance(around).attend)
        self._loop = Loop(self._ticker, self._facts, no_more=self._workers.no_more)

    def tick(self) -> list[Refresh]:
        """Make one tick as the leader."""
        return self._loop.tick()

    def run(self, heard: Callable[[list[Refresh]], None]) -> None:
        """Make ticks until `end`."""
        self._loop.run(heard)

    def end(self) -> None:
        """Finish what runs, start nothing more, and end the loop."""
        self._loop.end()

    def wake(self) -> None:
        """Look again at once."""
        self._loop.wake.set()

    def close(self) -> None:
        """Let the workers, the courier and the proofs go."""
        if self._ticker.courier is not None:
            self._ticker.courier.close()
        self._ticker.proofs.close()
        self._workers.close()
        self._loop.close()

    def diagnostics(self) -> dict[str, object]:
        """Return who leads, and what was counted since this process opened the warehouse."""
        lease = self._around.catalog.lease()
        now = self._around.clock()
        book = self._ticker.book
        return {
            "leader": lease.holder if lease and lease.expires_at > now else None,
            "term": lease.term if lease else 0,
            "leader_facts": dict(lease.facts) if lease else {},
            "generation": lease.generation if lease else self._around.catalog.generation(),
            "ticks": self._ticker.ticks,
            "change_reads": self._ticker.change_reads,
            "plans_compiled": self._around.plans.counts.parse_count,
            "plan_cache": self._around.plans.counts.summary(),
            "cost_cache": self._around.costs.counts(),
            "stream_tables": len(book.entries) if book else None,
            "next_start": self._ticker.next_start(),
            "change_buffers": self._buffers(),
            **self._workers.summary(),
        }

    def _buffers(self) -> dict[str, dict[str, int]]:
        """Return for each source the rows that its slowest table lacks; only the leader knows."""
        book = self._ticker.book if self._loop.leads else None
        if book is None:
            return {}
        gauge = self._ticker.gauge
        return {
            source.name: {
                "rows": gauge.pending.get(source.id, 0),
                "growth": gauge.growth.get(source.id, 0),
            }
            for source in book.watched
        }

    def samples(self) -> Iterator[Sample]:
        """Give what is known at this moment, for a scrape.

        The process that leads asks nobody.  Any other reads the catalog first, and does not know
        how far tables are behind, which only the leader follows.
        """
        around, now = self._around, self._around.clock()
        ticker, leads = self._ticker, self._loop.leads
        yield metric.LEADS, (), leads
        book = ticker.book if leads else None
        if book is not None:
            leading = Leading(ticker.sources_seen, ticker.gauge.pending, ticker.gauge.growth)
            yield from lag_samples(book, leading, now)
        else:
            book = looked(around, now)
        yield from table_samples(book, around.observer, now)
        yield from arrival_samples(book, around.observer, now)
        yield from process_samples(around, self._workers.summary())

    def allocation(self) -> list[dict[str, object]]:
        """Return what each namespace uses of the workers."""
        return self._workers.allocation()

    def workers(self) -> dict[str, object]:
        """Return the workers of the process that leads; of this one while it does."""
        lease = self._around.catalog.lease()
        if lease is None or lease.holder == self._around.process:
            return {"process": self._around.process, **self._workers.summary()}
        return {"process": lease.holder, **lease.facts}

    def _facts(self) -> Options:
        """Return what others may know of this process while it leads."""
        summary = self._workers.summary()
        return {
            key: value for key, value in summary.items() if isinstance(value, int | float | str)
        }
