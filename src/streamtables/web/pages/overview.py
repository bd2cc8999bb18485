"""The first page: is all well, what needs a person, lags and refreshes over the last hour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from streamtables.answers import RefreshCount, TableLag, TableStatus
from streamtables.errors import StreamTablesError
from streamtables.web.conditions import WORDS, Word, condition_of
from streamtables.web.drawing.charts import Chart, Point, line_chart, stacked_bars
from streamtables.web.facts import Facts
from streamtables.web.lag_samples import LagSample
from streamtables.web.rendering import render, seconds
from streamtables.web.shared import Shared, shared_of

routes = APIRouter(include_in_schema=False)
MINUTES = 60
LISTED_AT_MOST = 200
_NEEDED_AT_MOST = 50
_EXPLAINED_AT_MOST = 20
_MEANT = "Change the query, or set mode = 'full' to say that this is meant."
_LAGS = "The longest lag of all tables over the last hour"
_OUTCOMES = {"applied": "applied", "no-change": "no-change", "failed": "failed"}


Row = tuple[TableStatus, TableLag, Word]


@dataclass(frozen=True)
class Need:
    """Something that a person has to do, or should know."""

    table: str
    condition: str
    what: str
    remedy: str


@routes.get("/", response_class=HTMLResponse)
def overview(request: Request, q: Annotated[str, Query(max_length=200)] = "") -> str:
    """Show the whole warehouse at a glance; `q` lists the tables whose name has it."""
    shared = shared_of(request)
    facts = shared.facts
    rows = table_rows(facts)
    counts = Counter(condition for _, _, condition in rows)
    needs = list(_needs(rows, shared))
    recent = facts.per_minute()
    worst = max((lag.lag_seconds or 0.0 for _, lag, _ in rows), default=0.0)
    return render(
        "overview.html",
        request,
        rows=listed(rows, q.strip().lower()),
        q=q,
        total=len(rows),
        counts=[(word, counts[word], text) for word, text in WORDS.items()],
        needs=needs[:_NEEDED_AT_MOST],
        more_needs=max(0, len(needs) - _NEEDED_AT_MOST),
        health=health(counts, len(rows)),
        worst=worst,
        behind=sum(1 for _, lag, _ in rows if lag.standing == "behind"),
        lag_chart=lag_chart(shared.samples.of(), worst, _LAGS),
        refresh_chart=refresh_chart(recent, datetime.now(UTC)),
        recent=sum(count.refreshes for count in recent),
        standstills=facts.get("standstills", lambda db: db.standstills(), 30.0),
    )


def table_rows(facts: Facts) -> list[Row]:
    """Return every table with its lag and its condition, by name."""
    lags = {lag.name: lag for lag in facts.lags()}
    return [
        (status, lag, condition_of(status, lag))
        for status in facts.status()
        if (lag := lags.get(status.name)) is not None
    ]


def listed(rows: Sequence[Row], text: str) -> list[Row]:
    """Return the tables to list: those that match, the worst first where there are too many."""
    found = [row for row in rows if text in row[0].name.lower()]
    if len(found) <= LISTED_AT_MOST:
        return found
    order = list(reversed(WORDS))
    return sorted(found, key=lambda row: order.index(row[2]))[:LISTED_AT_MOST]


def health(counts: Mapping[Word, int], total: int) -> tuple[str, str]:
    """Return how all is in one line, with the condition that colours it."""
    if not total:
        return "fresh", "No stream table is defined yet."
    ill = counts["stopped"] + counts["failed"]
    if ill:
        return "stopped", f"{ill:,} of {total:,} tables {_do(ill)} a person."
    if counts["late"]:
        return "late", f"{counts['late']:,} of {total:,} tables are later than promised."
    waiting = counts["behind"] + counts["at-risk"] + counts["unfilled"]
    if waiting:
        are = "is" if waiting == 1 else "are"
        return (
            "behind",
            f"Nothing is wrong; {waiting:,} of {total:,} tables {are} waiting for a refresh.",
        )
    paused = f", {counts['paused']:,} paused" if counts["paused"] else ""
    return "fresh", f"All is well: {counts['fresh']:,} of {total:,} tables are fresh{paused}."


def _do(count: int) -> str:
    return "needs" if count == 1 else "need"


def _needs(rows: Sequence[Row], shared: Shared) -> Iterable[Need]:
    """Yield what needs a person, the worst first, then what is only worth knowing."""
    order = list(reversed(WORDS))
    for status, lag, word in sorted(rows, key=lambda row: order.index(row[2])):
        if word in ("stopped", "failed", "paused", "late"):
            yield _need(status, lag, word)
        elif status.state == "needs-rebuild":
            yield Need(status.name, word, status.reason or "", "Its next refresh rebuilds it.")
    refused = [
        (status, word)
        for status, lag, word in rows
        if lag.last_reason_code == "not-incremental" and status.mode == "auto"
    ]
    for place, (status, word) in enumerate(refused):
        # To explain is to compile; beyond some the reason of the last refresh has to do.
        found = _refusal(status.name, shared) if place < _EXPLAINED_AT_MOST else {}
        what = f"kept by full refreshes: {found.get('message') or status.last_reason or ''}"
        yield Need(status.name, word, what, str(found.get("hint") or _MEANT))


def _need(status: TableStatus, lag: TableLag, word: Word) -> Need:
    what = status.reason or lag.last_error or WORDS[word]
    match status.state, word:
        case "damaged", _:
            remedy = "Repair it: its rows are written again from its query."
        case (("paused" | "suspended"), _):
            remedy = "Remove the cause, then resume it."
        case _, "failed" if lag.standing == "source-unreadable":
            what, remedy = "a source of it cannot be read", "See that the source's table is there."
        case _, "failed":
            code = f" ({lag.last_error_code})" if lag.last_error_code else ""
            remedy = (
                f"Its page shows the refresh that failed{code}; refresh it when the cause is gone."
            )
        case _:
            what = f"its lag is {seconds(lag.lag_seconds)}, longer than promised"
            remedy = "Look at what it waits for, and at the workers."
    return Need(status.name, word, what, remedy)


def _refusal(name: str, shared: Shared) -> Mapping[str, object]:
    """Return the first reason why a query is not incremental; nothing where nobody can tell."""
    try:
        found = shared.facts.get(f"explain {name}", lambda db: db.explain(name), 600.0).data
    except StreamTablesError:
        # Its own page says what is wrong with it.
        return {}
    refusals = found.get("refusals")
    return refusals[0] if isinstance(refusals, list) and refusals else {}


def lag_chart(
    samples: Sequence[LagSample], lag_now: float, label: str, marks: Sequence[datetime] = ()
) -> Chart:
    """Return lags over the last hour, up to that of now."""
    now = datetime.now(UTC)
    points = [Point(sample.at, sample.lag_seconds) for sample in samples]
    points.append(Point(now, lag_now))
    return line_chart(points, now - timedelta(minutes=MINUTES), now, label, marks)


def refresh_chart(recent: Sequence[RefreshCount], now: datetime) -> Chart:
    """Return refreshes per minute over the last hour, by how they ended."""
    minutes = [Counter[str]() for _ in range(MINUTES)]
    this = now.replace(second=0, microsecond=0)
    for count in recent:
        ago = round((this - count.minute).total_seconds() / 60)
        # A clock that is ahead of ours is in its last minute.
        place = MINUTES - 1 - max(ago, 0)
        if place >= 0:
            minutes[place][_OUTCOMES.get(count.outcome, "other")] += count.refreshes
    kinds = (*_OUTCOMES.values(), "other")
    columns = [[(kind, minute[kind]) for kind in kinds] for minute in minutes]
    return stacked_bars(columns, "Refreshes in each minute of the last hour")
