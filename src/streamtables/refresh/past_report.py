"""What the last refreshes of a table say, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from streamtables.catalog.models import RefreshRecord
from streamtables.refresh.cost_model import Sample
from streamtables.refresh.costs import is_computed, last_of_each_way

CHANGED_ROWS = "rows of "
"""How the facts begin that say how many changed rows of an input were read."""
_PREDICTED = "predicted_"
"""How the facts begin that say what a way was expected to take."""


def told_by(history: Sequence[RefreshRecord]) -> RefreshRecord | None:
    """Return the last refresh that computed something; else the last that ended at all."""
    ended = [record for record in history if record.state != "running"]
    return next(filter(is_computed, ended), ended[0] if ended else None)


def changed_rows(record: RefreshRecord) -> dict[str, int]:
    """Return how many changed rows of each input a refresh read, where that is known."""
    return {
        name.removeprefix(CHANGED_ROWS): int(value)
        for step in record.steps
        for name, value in step.facts.items()
        if name.startswith(CHANGED_ROWS) and isinstance(value, int)
    }


def past_data(history: Sequence[RefreshRecord]) -> dict[str, object] | None:
    """Return the past as plain values; None for a table that was never refreshed."""
    last = told_by(history)
    if last is None:
        return None
    return {
        "last": _last_data(last),
        "timings": {way: _timing_data(s) for way, s in last_of_each_way(history).items()},
    }


def _last_data(record: RefreshRecord) -> dict[str, object]:
    return {
        "started_at": record.started_at.isoformat(),
        "mode": record.mode,
        "outcome": record.outcome,
        "reason": {"code": record.reason_code, "text": record.reason_text},
        "strategy": record.strategy,
        "rows_in": record.rows_in,
        "changed_rows": changed_rows(record),
        "rows_inserted": record.rows_inserted,
        "rows_deleted": record.rows_deleted,
        "seconds": {"actual": record.seconds, "predicted": _predicted(record)},
        "steps": [
            {"name": step.name, "seconds": step.seconds, "facts": dict(step.facts)}
            for step in record.steps
        ],
        "notes": list(record.notes),
    }


def _predicted(record: RefreshRecord) -> dict[str, float] | None:
    found = {
        name.removeprefix(_PREDICTED): float(value)
        for step in record.steps
        for name, value in step.facts.items()
        if name.startswith(_PREDICTED) and isinstance(value, int | float)
    }
    return found or None


def _timing_data(sample: Sample) -> dict[str, object]:
    rows = sample.work.changed_rows
    return {"seconds": sample.seconds, "rows_in": rows, "first_fill": sample.first_fill}


def past_lines(history: Sequence[RefreshRecord]) -> list[str]:
    """Return the past as lines of text; none for a table that was never refreshed."""
    last = told_by(history)
    return [] if last is None else list(_lines(last, history))


def _lines(last: RefreshRecord, history: Sequence[RefreshRecord]) -> Iterator[str]:
    by = f" by {last.strategy}" if last.strategy else ""
    yield f"choice     {last.mode}{by}, {last.outcome}"
    yield f"reason     {last.reason_text}"
    # Changes that go through Spark are not counted.
    read = f"{last.rows_in:,} changed rows read, " if last.rows_in else ""
    yield f"rows       {read}{last.rows_inserted:,} inserted, {last.rows_deleted:,} deleted"
    steps = ", ".join(f"{step.name} {step.seconds:.3f}" for step in last.steps)
    yield f"seconds    {last.seconds:.3f}" + (f": {steps}" if steps else "")
    if last.own_share < 1:
        yield f"alone      about {last.alone_seconds:.3f}: others ran at the same time"
    if (predicted := _predicted(last)) is not None:
        yield "predicted  " + ", ".join(f"{way} {took:.3f}" for way, took in predicted.items())
    timings = [_timing_text(sample) for sample in last_of_each_way(history).values()]
    if timings:
        yield f"last of    {', '.join(timings)}"
    for note in last.notes:
        yield f"note       {note}"


def _timing_text(sample: Sample) -> str:
    if sample.way == "full":
        return f"full {sample.seconds:.3f} s" + (" (first fill)" if sample.first_fill else "")
    return f"{sample.way} {sample.seconds:.3f} s for {sample.work.changed_rows:,} rows"
