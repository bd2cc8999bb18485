"""Tables of a round that follow the same change of one input are computed in one statement.

Who comes first leads: it computes its own rows, and those of some that wait for their turn.  These
take their rows when they come to that point, if what was computed is what they would compute: the
same program over the same versions.  Where it is not, or the statement failed, or it takes too
long, a table computes alone, and meets its own error.  Nothing is decided or written together.
"""

from __future__ import annotations

import logging
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
_MOST_COLUMNS = 160
"""How many columns all of them have: each branch has those of the others too."""
_MOST_LOOKS = 3 * MOST
"""How many tables are looked at for that; who leads looks in its own time."""
_WAIT_SECONDS = 5.0
"""How long rows are waited for that somebody else computes; a refresh alone can be cancelled."""

_log = logging.getLogger("streamtables.refresh")


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


@dataclass(frozen=True)
class Alone:
    """Why a table computes its rows alone."""

    reason: str


NOBODY_WAITS = Alone("no other table waits for the same change")
TOOK_TOO_LONG = Alone("the statement for several tables took too long")
MOVED_ON = Alone("what was computed for it is not what it computes now")
FAILED = Alone("the statement for several tables failed")
TOO_MANY_ROWS = Alone("the tables together have too many rows")

Run = Callable[[Sequence[Branch]], Sequence[pa.Table] | None]
_Claim = Future[tuple[Part, Taken] | Alone]


class Together:
    """Who computes for whom in one round; safe between threads.

    `readers` gives, in the order of the round, the tables that read nothing but some input;
    `part` says what one of them would compute of a window, or None where that is not so simple.
    """

    def __init__(
        self,
        readers: Callable[[InputId], Iterable[InputId]],
        part: Callable[[InputId, Window], Part | None],
    ) -> None:
        self._readers, self._part = readers, part
        self._claims: dict[InputId, _Claim] = {}
        self._settled: set[InputId] = set()
        """Tables that compute themselves, have come to that, or were computed for."""
        self._lock = Lock()

    def concerns(self, mine: Part) -> bool:
        """Whether other tables of the round read nothing but the same input."""
        return any(key != mine.table_id for key in self._readers(mine.window.input_id))

    def rows(self, mine: Part, run: Run) -> Taken | Alone:
        """Return the rows of a table, or why it is to compute them alone."""
        with self._lock:
            # Rows are kept for as long as somebody may come for them.
            claim = self._claims.pop(mine.table_id, None)
            self._settled.add(mine.table_id)
        if claim is not None:
            return _awaited(claim, mine)
        claimed = self._claim(mine)
        return self._led(mine, claimed, run) if claimed else NOBODY_WAITS

    def _claim(self, mine: Part) -> list[tuple[Part, _Claim]]:
        """Take some tables that wait, the last ones first: those are not about to start."""
        with self._lock:
            readers = self._readers(mine.window.input_id)
            waiting = [key for key in readers if key not in self._settled]
        columns = mine.branch.width
        claimed: list[tuple[Part, _Claim]] = []
        for key in waiting[-1 : -_MOST_LOOKS - 1 : -1]:
            if len(claimed) == MOST - 1:
                break
            if (claim := self._reserved(key)) is None:
                continue
            part = self._part_or_none(key, mine.window)
            if part is None or columns + part.branch.width > _MOST_COLUMNS:
                claim.set_result(NOBODY_WAITS)
                continue
            columns += part.branch.width
            claimed.append((part, claim))
        return claimed

    def _reserved(self, key: InputId) -> _Claim | None:
        with self._lock:
            if key in self._settled:
                return None
            self._settled.add(key)
            return self._claims.setdefault(key, Future())

    def _part_or_none(self, key: InputId, window: Window) -> Part | None:
        """Return what a table would compute; what is wrong with it, it says when it is its turn."""
        try:
            part = self._part(key, window)
        except Exception:
            # Even a bug is its own, and must not end the refresh of who leads.
            return None
        return part if part is not None and part.window == window else None

    def _led(self, mine: Part, claimed: list[tuple[Part, _Claim]], run: Run) -> Taken | Alone:
        parts = [mine, *(part for part, _ in claimed)]
        outcome: Sequence[pa.Table] | Alone = FAILED
        try:
            outcome = run([part.branch for part in parts]) or TOO_MANY_ROWS
        except (StreamTablesError, NotSmall, pa.ArrowException):
            # One of them cannot be computed: each finds out for itself.
            pass
        except Exception:
            # A bug: nobody's refresh fails for that, as each can compute alone.
            _log.exception("a statement for several tables failed")
        finally:
            for at, (part, claim) in enumerate(claimed, start=1):
                claim.set_result(_share(outcome, at, part, len(parts)))
        if isinstance(outcome, Alone):
            return outcome
        return Taken(outcome[0], len(parts), led=True)


def _share(
    outcome: Sequence[pa.Table] | Alone, at: int, part: Part, tables: int
) -> tuple[Part, Taken] | Alone:
    if isinstance(outcome, Alone):
        return outcome
    return part, Taken(outcome[at], tables, led=False)


def _awaited(claim: _Claim, mine: Part) -> Taken | Alone:
    try:
        found = claim.result(timeout=_WAIT_SECONDS)
    except TimeoutError:
        return TOOK_TOO_LONG
    if isinstance(found, Alone):
        return found
    part, taken = found
    return taken if part.is_same(mine) else MOVED_ON
