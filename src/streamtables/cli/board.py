"""Stream tables on a screen that is drawn again and again."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import sleep
from typing import TYPE_CHECKING

from streamtables.cli.contract import TableStatus
from streamtables.cli.screen import (
    at_terminal,
    cell_text,
    console,
    rich_table,
    show_line,
    show_table,
)
from streamtables.errors import TransientError

if TYPE_CHECKING:
    from rich.console import RenderableType

COLUMNS = ("table", "state", "behind", "mode", "seconds", "rows", "reason")
_LEFT_OUT = ("rows", "seconds", "mode")
"""What a narrow terminal does without, in this order, so that reasons can be read."""
_REASON_WIDTH = 30
_GAP = 3
_BUSY = "workers busy"
FAILING = "failing"
_WRONG = ("suspended", "damaged", "needs-rebuild", FAILING)


@dataclass(frozen=True)
class Board:
    """What is shown: a few lines about everything, and a line for each table."""

    lines: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    left_out: int = 0
    """How many tables have no line, because fewer were asked for."""


def board(
    tables: Sequence[TableStatus],
    scheduler: Mapping[str, object] | None = None,
    limit: int | None = None,
) -> Board:
    """Return what is shown of some tables, and of the scheduler where it is given."""
    health = health_line(tables)
    lines = (health,) if scheduler is None else (health, work_line(scheduler))
    rows = tuple(map(_row, tables[:limit]))
    return Board(lines, rows, len(tables) - len(rows))


def health_line(tables: Sequence[TableStatus]) -> str:
    """Return in a line whether all is well, and what is not."""
    states = Counter(map(state_text, tables))
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
        f"{said.get('running', 0)} of {said.get('slots', 0)} {_BUSY}, "
        f"{said.get('parallel_queue_depth', 0)} tables queued; led by {leader}"
    )


def _row(table: TableStatus) -> tuple[object, ...]:
    return (
        table.name,
        state_text(table),
        lag_text(table),
        table.last_mode,
        table.seconds,
        table.rows,
        table.reason or table.waits_for or table.last_reason,
    )


def state_text(table: TableStatus) -> str:
    """Return the state of a table; one whose last refresh failed and is tried again is failing."""
    failing = table.state == "active" and table.last_outcome == "failed"
    return FAILING if failing else table.state


def lag_text(table: TableStatus) -> str:
    """Return how far behind a table is, for a person."""
    if not table.changes_pending:
        return "current" if table.lag_seconds is not None else "unknown"
    if table.lag_seconds is None:
        return "behind"
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if table.lag_seconds >= size:
            return f"{table.lag_seconds / size:.1f} {unit}"
    return f"{table.lag_seconds:.1f} s"


def drawn(shown: Board, width: int, height: int) -> RenderableType:
    """Return a board for a terminal of a size: a line for each table, as many as there is room.

    What stands still may take more than a line, as its reason is what somebody has to read.
    """
    from rich.console import Console, Group
    from rich.text import Text

    texts = [Text(line, style=_style_of(line), overflow="ellipsis") for line in shown.lines]
    places = [COLUMNS.index(name) for name in _columns_for(shown.rows, width)]
    columns = [COLUMNS[place] for place in places]
    measured = Console(width=width, height=height, force_terminal=False)

    def fitted(count: int) -> Group:
        rows = [[row[place] for place in places] for row in shown.rows[:count]]
        table = rich_table(columns, rows, one_line=[_is_well(row) for row in shown.rows[:count]])
        left = shown.left_out + len(shown.rows) - count
        more = [Text(f"and {left:,} more", style="dim")] if left else []
        return Group(*texts, table, *more)

    count = min(len(shown.rows), height)
    while count > 1 and len(measured.render_lines(fitted(count))) >= height:
        count -= 1
    return fitted(count)


def _style_of(line: str) -> str:
    if line.startswith("ok"):
        return "green"
    return "dim" if _BUSY in line else "bold red"


def _columns_for(rows: Sequence[Sequence[object]], width: int) -> list[str]:
    """Return the columns that a terminal has room for."""
    widths = {
        name: max([len(name), *(len(cell_text(row[place])) for row in rows)])
        for place, name in enumerate(COLUMNS)
    } | {"reason": _REASON_WIDTH}
    kept = list(COLUMNS)
    for name in _LEFT_OUT:
        if sum(widths[column] + _GAP for column in kept) > width:
            kept.remove(name)
    return kept


def _is_well(row: Sequence[object]) -> bool:
    return row[COLUMNS.index("state")] == "active"


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

    shown, screen = look(), console()
    with Live(drawn(shown, *screen.size), console=screen, auto_refresh=False) as live:
        try:
            while True:
                pause(every)
                shown = _looked(look, shown)
                live.update(drawn(shown, *screen.size), refresh=True)
        except KeyboardInterrupt:
            # The way in which one stops to watch.
            return


def _looked(look: Callable[[], Board], last: Board) -> Board:
    """Look again; while the catalog is away, show what was seen last and say so."""
    try:
        return look()
    except TransientError as error:
        return Board((f"not answered: {error.message}", *last.lines[1:]), last.rows, last.left_out)
