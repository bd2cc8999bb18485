"""The first page: is all well, what needs a person, lags and refreshes over the last hour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from streamtables.answers import RefreshCount
from streamtables.web.attention import is_unled, needs
from streamtables.web.conditions import WORDS, WORST_FIRST, Row, Word, table_rows
from streamtables.web.drawing.charts import Chart, Point, line_chart, stacked_bars
from streamtables.web.lag_samples import LagSample
from streamtables.web.rendering import render
from streamtables.web.shared import shared_of

routes = APIRouter(include_in_schema=False)
MINUTES = 60
LISTED_AT_MOST = 200
_NEEDED_AT_MOST = 50
_DRAWN_SECONDS = 1.0
_LAGS = "The longest lag of all tables over the last hour"
_OUTCOMES = {"applied": "applied", "no-change": "no-change", "failed": "failed"}


@routes.get("/", response_class=HTMLResponse)
def overview(request: Request, q: Annotated[str, Query(max_length=200)] = "") -> str:
    """Show the whole warehouse at a glance; `q` lists the tables whose name has it."""
    shared = shared_of(request)
    if q:
        return _drawn(request, q)
    # What many look at again and again is drawn once for all of them, also beside the scheduler.
    key = f"overview, {'open' if shared.access.is_open(request) else 'locked'}"
    return shared.facts.get(key, lambda _: _drawn(request, q), _DRAWN_SECONDS)


def _drawn(request: Request, q: str) -> str:
    shared = shared_of(request)
    facts = shared.facts
    rows = table_rows(facts)
    counts = Counter(condition for _, _, condition in rows)
    led = facts.get("scheduler", lambda db: db.scheduler_diagnostics(), 1.0)["leader"] is not None
    found = needs(rows, shared, led=led)
    recent = facts.per_minute()
    worst = max((lag.lag_seconds or 0.0 for _, lag, _ in rows), default=0.0)
    return render(
        "overview.html",
        request,
        rows=listed(rows, q.strip().lower()),
        q=q,
        total=len(rows),
        counts=[(word, counts[word], text) for word, text in WORDS.items()],
        needs=found[:_NEEDED_AT_MOST],
        more_needs=max(0, len(found) - _NEEDED_AT_MOST),
        health=health(counts, len(rows), unled=is_unled(rows, led=led)),
        worst=worst,
        lacking=sum(1 for _, lag, _ in rows if lag.standing == "behind"),
        lag_chart=lag_chart(shared.samples.of(), worst, _LAGS),
        refresh_chart=refresh_chart(recent, datetime.now(UTC)),
        recent=sum(count.refreshes for count in recent),
        standstills=facts.get("standstills", lambda db: db.standstills(), 30.0),
    )


def listed(rows: Sequence[Row], text: str) -> list[Row]:
    """Return the tables to list: those that match, the worst first where there are too many."""
    found = [row for row in rows if text in row[0].name.lower()]
    if len(found) <= LISTED_AT_MOST:
        return found
    return sorted(found, key=lambda row: WORST_FIRST.index(row[2]))[:LISTED_AT_MOST]


def health(counts: Mapping[Word, int], total: int, *, unled: bool = False) -> tuple[str, str]:
    """Return how all is in one line, with the condition that colours it."""
    if not total:
        return "fresh", "No stream table is defined yet."
    ill, late = counts["stopped"] + counts["failed"], counts["late"]
    said = (
        [f"{ill:,} of {total:,} tables {'needs' if ill == 1 else 'need'} a person"] if ill else []
    )
    if late:
        of_all = f"{late:,} of {total:,} tables" if not ill else f"{late:,} more"
        said.append(f"{of_all} {'is' if late == 1 else 'are'} later than promised")
    if unled:
        said.append("no process keeps the tables fresh")
    if said:
        line = ", ".join(said)
        return "stopped" if ill or unled else "late", f"{line[0].upper()}{line[1:]}."
    waiting = counts["behind"] + counts["at-risk"] + counts["unfilled"]
    if waiting:
        are = "is" if waiting == 1 else "are"
        return (
            "behind",
            f"Nothing is wrong; {waiting:,} of {total:,} tables {are} waiting for a refresh.",
        )
    paused = f", {counts['paused']:,} paused" if counts["paused"] else ""
    return "fresh", f"All is well: {counts['fresh']:,} of {total:,} tables are fresh{paused}."


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
