"""Tables of a round that follow the same change of one input are computed in one statement.

Who comes first leads: it computes its own rows, and those of some that wait for their turn.  These
take their rows when they come to that point, if what was computed is what they would compute: the
same program over the same versions.  Where it is not, or the statement failed, or it takes too
long, a table computes alone, and meets its own error.  Nothing is decided or written together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Lock

import pyarrow as pa

from streamtables.engine.outcomes import NotSmall
from streamtables.engine.together import Branch
from streamtables.errors import StreamTablesError
from streamtables.positions import InputId
from streamtables.sources.changes import Window

MOST = 8
"""How many programs one statement has: planning a longer one takes as much again."""
_WAIT_SECONDS = 5.0
"""How long rows are waited for that somebody else computes; a refresh alone can be cancelled."""


@dataclass(frozen=True)
class Part:
    """What one table computes: its program over the changes of its one input."""

    table_id: InputId
    window: Window
    branch: Branch

    def is_same(self, other: Part) -> bool:
        """Whether both are the same program over the same rows."""
        ours, theirs = self.branch, other.branch
        return (
            self.window == other.window
            and ours.program == theirs.program
            and ours.view == theirs.view
            and ours.changes.column_names == theirs.changes.column_names
        )


@dataclass(frozen=True)
class Taken:
    """The rows of one table, and how many tables the statement computed."""

    rows: pa.Table
    tables: int
    led: bool


Run = Callable[[Sequence[Branch]], Sequence[pa.Table] | None]
_Claim = Future[tuple[Part, Taken] | None]


class Together:
    """Who computes for whom in one round; safe between threads.

    `readers` gives, in the order of the round, the tables that read nothing but some input;
    `part` says what one of them would compute, or None where that is not so simple.
    """

    def __init__(
        self,
        readers: Callable[[InputId], Iterable[InputId]],
        part: Callable[[InputId], Part | None],
    ) -> None:
        self._readers, self._part = readers, part
        self._claims: dict[InputId, _Claim] = {}
        self._settled: set[InputId] = set()
        """Tables that compute themselves, have come to that, or were computed for."""
        self._lock = Lock()

    def concerns(self, mine: Part) -> bool:
        """Whether other tables of the round read nothing but the same input."""
        return any(key != mine.table_id for key in self._readers(mine.window.input_id))

    def rows(self, mine: Part, run: Run) -> Taken | None:
        """Return the rows of a table; None where it is to compute them alone."""
        with self._lock:
            claim = self._claims.get(mine.table_id)
            self._settled.add(mine.table_id)
        if claim is not None:
            return _awaited(claim, mine)
        claimed = self._claim(mine)
        return self._led(mine, claimed, run) if claimed else None

    def _claim(self, mine: Part) -> list[tuple[Part, _Claim]]:
        """Take some tables that wait, the last ones first: those are not about to start."""
        with self._lock:
            readers = self._readers(mine.window.input_id)
            waiting = [key for key in readers if key not in self._settled]
        claimed: list[tuple[Part, _Claim]] = []
        for key in reversed(waiting):
            if len(claimed) == MOST - 1:
                break
            if (claim := self._reserved(key)) is None:
                continue
            part = self._part_or_none(key)
            if part is not None and part.window == mine.window:
                claimed.append((part, claim))
            else:
                claim.set_result(None)
        return claimed

    def _reserved(self, key: InputId) -> _Claim | None:
        with self._lock:
            if key in self._settled:
                return None
            self._settled.add(key)
            return self._claims.setdefault(key, Future())

    def _part_or_none(self, key: InputId) -> Part | None:
        """Return what a table would compute; what is wrong with it, it says when it is its turn."""
        try:
            return self._part(key)
        except Exception:
            # Even a bug is its own, and must not end the refresh of who leads.
            return None

    def _led(self, mine: Part, claimed: list[tuple[Part, _Claim]], run: Run) -> Taken | None:
        parts = [mine, *(part for part, _ in claimed)]
        found: Sequence[pa.Table] | None = None
        try:
            found = run([part.branch for part in parts])
        except (StreamTablesError, NotSmall, pa.ArrowException):
            # One of them cannot be computed: each finds out for itself.
            return None
        finally:
            for at, (part, claim) in enumerate(claimed, start=1):
                taken = found and (part, Taken(found[at], len(parts), led=False))
                claim.set_result(taken or None)
        return None if found is None else Taken(found[0], len(parts), led=True)


def _awaited(claim: _Claim, mine: Part) -> Taken | None:
    try:
        found = claim.result(timeout=_WAIT_SECONDS)
    except TimeoutError:
        return None
    if found is None or not found[0].is_same(mine):
        return None
    return found[1]
