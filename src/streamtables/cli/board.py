"""Stream tables on a screen that is drawn again and again."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import sleep
from typing import TYPE_CHECKING

from streamtables.cli.contract import TableStatus
from streamtables.cli.screen import at_terminal, console, rich_table, show_line, show_table
from streamtables.errors import TransientError

if TYPE_CHECKING:
    from rich.console import RenderableType

COLUMNS = ("table", "state", "behind", "mode", "seconds", "rows", "reason")
_WRONG = ("suspended", "damaged", "needs-rebuild")


@dataclass(frozen=True)
class Board:
    """What is shown: a few lines about everything, and a line for each table."""

    lines: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


def board(
    tables: Sequence[TableStatus],
    scheduler: Mapping[str, object] | None = None,
    limit: int | None = None,
) -> Board:
    """Return what is shown of some tables, and of the scheduler where it is given."""
    health = health_line(tables)
    lines = (health,) if scheduler is None else (health, work_line(scheduler))
    return Board(lines, tuple(map(_row, tables[:limit])))


def health_line(tables: Sequence[TableStatus]) -> str:
    """Return in a line whether all is well, and what is not."""
    states = Counter(table.state for table in tables)
    wrong = sum(states[state] for state in _WRONG)
    behind = sum(table.changes_pending for table in tables)
    judged = "ok" if not wrong else f"{wrong} of {len(tables)} tables need someone"
    counted = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    return f"{judged}: {counted or 'no stream tables yet'}; {behind} behind"


def work_line(scheduler: Mapping[str, object]) -> str:
    """Return in a line who keeps tables fresh, and how busy that process said it was."""
    leader, said = scheduler.get("leader"), scheduler.get("leader_facts")
    if leader is None or not isinstance(said, Mapping):
        return "nobody keeps the tables fresh: streamtables run does"
    return (
        f"{said.get('running', 0)} of {said.get('slots', 0)} workers busy, "
        f"{said.get('parallel_queue_depth', 0)} tables queued; led by {leader}"
    )


def _row(table: TableStatus) -> tuple[object, ...]:
    return (
        table.name,
        table.state,
        lag_text(table),
        table.last_mode,
        table.seconds,
        table.rows,
        table.reason or table.waits_for or table.last_reason,
    )


def lag_text(table: TableStatus) -> str:
    """Return how far behind a table is, for a person."""
    if not table.changes_pending:
        return "current"
    if table.lag_seconds is None:
        return "behind"
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if table.lag_seconds >= size:
            return f"{table.lag_seconds / size:.1f} {unit}"
    return f"{table.lag_seconds:.1f} s"


def drawn(shown: Board) -> RenderableType:
    """Return a board for a terminal."""
    from rich.console import Group
    from rich.text import Text

    first = "green" if shown.lines[0].startswith("ok") else "bold red"
    styles = (first, *["dim"] * (len(shown.lines) - 1))
    texts = [Text(line, style=style) for line, style in zip(shown.lines, styles, strict=True)]
    return Group(*texts, rich_table(COLUMNS, shown.rows))


def watched(
    look: Callable[[], Board], every: float, *, pause: Callable[[float], None] = sleep
) -> None:
    """Draw what `look` gives again and again until Ctrl-C; a pipe gets it once."""
    if not at_terminal():
        shown = look()
        for line in shown.lines:
            show_line(line)
        show_table(COLUMNS, shown.rows)
        print("shown once: this is no terminal to draw on again", file=sys.stderr)
        return
    from rich.live import Live

    shown = look()
    with Live(drawn(shown), console=console(), auto_refresh=False) as live:
        try:
            while True:
                pause(every)
                shown = _looked(look, shown)
                live.update(drawn(shown), refresh=True)
        except KeyboardInterrupt:
            # The way in which one stops to watch.
            return


def _looked(look: Callable[[], Board], last: Board) -> Board:
    """Look again; while the catalog is away, show what was seen last and say so."""
    try:
        return look()
    except TransientError as error:
        return Board((f"not answered: {error.message}", *last.lines[1:]), last.rows)
