"""A small change followed in four ways, and a refresh when nothing changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

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
    for number in range(-WARM_UP, rounds):
        for lab in labs if number % 2 == 0 else reversed(labs):
            lab.base.change(changes)
            for subject in lab.subjects:
                measured = lab.measure(subject, full_first=number % 2 == 1)
                for kind, item in measured.items() if number >= 0 else ():
                    series[lab.base.rows, subject.name, kind].add(item)
    return [
        {
            "query": subject.name,
            "rows": lab.base.rows,
            "changes": changes,
            **{kind: series[lab.base.rows, subject.name, kind].data() for kind in KINDS},
        }
        for lab in labs
        for subject in lab.subjects
    ]


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
