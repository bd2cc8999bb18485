"""A small change followed in four ways, and a refresh when nothing changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median

from benchmarks.counters import Counters, Series
from benchmarks.lab import KINDS, Lab

WARM_UP = 3
"""Rounds before the measured ones: Spark compiles its code in them."""
NO_CHANGE_CALLS = 200


def measure_changes(labs: Sequence[Lab], changes: int, rounds: int) -> list[dict[str, object]]:
    """Return one result per size and query: all rounds of all four ways.

    Sizes take turns within a round: a busy machine or a warmer JVM then weighs on all alike.
    """
    series: dict[tuple[int, str, str], Series] = defaultdict(Series)
    steps: dict[tuple[int, str], list[dict[str, float]]] = defaultdict(list)
    for number in range(-WARM_UP, rounds):
        for lab in labs if number % 2 == 0 else reversed(labs):
            lab.base.change(changes)
            for subject in lab.subjects:
                measured = lab.measure(subject, full_first=number % 2 == 1)
                if number < 0:
                    continue
                for kind, item in measured.items():
                    series[lab.base.rows, subject.name, kind].add(item)
                steps[lab.base.rows, subject.name].append(
                    with_rest(lab.last_steps, measured["differential"].seconds)
                )
    return [
        {
            "query": subject.name,
            "rows": lab.base.rows,
            "changes": changes,
            **{kind: series[lab.base.rows, subject.name, kind].data() for kind in KINDS},
            "steps": step_medians(steps[lab.base.rows, subject.name]),
        }
        for lab in labs
        for subject in lab.subjects
    ]


def with_rest(steps: Mapping[str, float], seconds: float) -> dict[str, float]:
    """Return the steps of a refresh, and what it took beside them."""
    return {**steps, "other": max(0.0, seconds - sum(steps.values()))}


def step_medians(rounds: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the median seconds of every step; a round without it counts as none."""
    names = dict.fromkeys(name for taken in rounds for name in taken)
    return {name: round(median(taken.get(name, 0.0) for taken in rounds), 5) for name in names}


def measure_no_change(lab: Lab) -> dict[str, object]:
    """Return what a refresh costs in a warm process when no source moved."""
    lab.db.refresh_all()
    counters = Counters(lab.counters.spark, lab.folder / "warehouse")
    one, every = Series(), Series()
    name = lab.subjects[0].table.name
    for _ in range(NO_CHANGE_CALLS):
        one.add(counters.measure(lambda: lab.db.refresh(name)))
        every.add(counters.measure(lab.db.refresh_all))
    return {
        "query": lab.subjects[0].name,
        "rows": lab.base.rows,
        "refresh": one.data(),
        "refresh_all": every.data(),
        "tables": len(lab.subjects),
    }
