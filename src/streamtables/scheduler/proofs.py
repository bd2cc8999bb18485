"""Tables that are compared with their queries by themselves, beside the refreshes.

A table with the option `verify_every` is compared as often as that, all of it or the share that
`verify_share` says, another one each time.  One table at a time, in a thread of its own, and for at
most a tenth of the time.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from time import perf_counter

from streamtables.catalog.models import StreamTable
from streamtables.catalog.scheduler_models import Event
from streamtables.errors import NotFoundError, StreamTablesError
from streamtables.positions import InputId
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.verify import DIFFERENT, verify, verify_tag
from streamtables.scheduler.options import TableOptions, read_options

_log = logging.getLogger("streamtables.scheduler")

VERIFIED = "verified"
NOT_VERIFIED = "not-verified"

_REST = 9.0
"""How many times as long as a comparison took none begins after it."""


@dataclass
class Proofs:
    """Compares what it is time for."""

    around: Surroundings
    _last: dict[InputId, datetime] | None = None
    _wanted: tuple[int, list[tuple[StreamTable, TableOptions]]] | None = None
    _running: Future[Event | None] | None = None
    _compares: str = ""
    """The name of the table that is compared."""
    _rest_until: datetime | None = None
    _pool: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "proofs"))

    def prove(self, generation: int, tables: Iterable[StreamTable], now: datetime) -> list[Event]:
        """Begin a comparison if one is due; return what the last one found, once it has ended."""
        if self._running is not None:
            if not self._running.done():
                return []
            event, self._running = self._running.result(), None
            return [] if event is None else [event]
        wanted = self._wanted_of(generation, tables)
        if not wanted or (self._rest_until is not None and now < self._rest_until):
            return []
        if (chosen := self._most_overdue(wanted, now)) is not None:
            table, options = chosen
            self._known()[table.id] = now
            self._compares = table.name
            self._running = self._pool.submit(self._compared, table, options.verify_share, now)
        return []

    def close(self) -> None:
        """Begin no more, and end what runs."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        if self._running is not None and not self._running.done():
            self.around.sessions.cancel(verify_tag(self._compares))

    def _wanted_of(
        self, generation: int, tables: Iterable[StreamTable]
    ) -> list[tuple[StreamTable, TableOptions]]:
        """Return the tables that are to be compared; read once for each state of the catalog."""
        if self._wanted is None or self._wanted[0] != generation:
            found = [(table, read_options(table.options)) for table in tables]
            wanted = [item for item in found if item[1].verify_every is not None]
            self._wanted = (generation, wanted)
        return self._wanted[1]

    def _known(self) -> dict[InputId, datetime]:
        """Return when each table was last compared, by any process."""
        if self._last is None:
            found = self.around.catalog.last_events((VERIFIED, NOT_VERIFIED, DIFFERENT))
            self._last = {InputId(key): event.at for key, event in found.items()}
        return self._last

    def _most_overdue(
        self, wanted: list[tuple[StreamTable, TableOptions]], now: datetime
    ) -> tuple[StreamTable, TableOptions] | None:
        known = self._known()
        due = []
        for place, (table, options) in enumerate(wanted):
            assert options.verify_every is not None
            since = known.get(table.id, table.created_at)
            late = (now - since).total_seconds() - options.verify_every
            if late >= 0 and table.state == "active":
                due.append((late, -place))
        return wanted[-max(due)[1]] if due else None

    def _compared(self, table: StreamTable, share: float, now: datetime) -> Event | None:
        began = perf_counter()
        try:
            snapshot = self.around.catalog.snapshot()
            found = verify(
                snapshot.definitions.stream_table(table.id),
                snapshot,
                self.around,
                share=share,
                draw=random.randrange(2**31),
            )
        except NotFoundError:
            return None
        except StreamTablesError as error:
            return Event(now, NOT_VERIFIED, f"{error.code} {error.message}", table.id, table.name)
        except Exception as fault:
            # A bug here must not end the ticks.
            _log.exception("a comparison met an unexpected fault")
            text = f"an unexpected fault: {type(fault).__name__}"
            return Event(now, NOT_VERIFIED, text, table.id, table.name)
        finally:
            rest = _REST * (perf_counter() - began)
            self._rest_until = self.around.clock() + timedelta(seconds=rest)
        part = "all rows" if found.share == 1.0 else f"{found.share:.1%} of the rows"
        # A difference is an event of its own, which the comparison recorded.
        text = f"{part} compared with the query: equal"
        return Event(now, VERIFIED, text, table.id, table.name) if found.equal else None
