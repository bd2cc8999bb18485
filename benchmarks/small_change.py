"""A small change followed in four ways, and a refresh when nothing changed."""

from __future__ import annotations

from benchmarks.counters import Counters, Series
from benchmarks.lab import KINDS, Lab

WARM_UP = 2
"""Rounds before the measured ones: Spark compiles its code in the first."""
NO_CHANGE_CALLS = 200


def measure_changes(lab: Lab, changes: int, rounds: int) -> list[dict[str, object]]:
    """Return one result per query: all rounds of all four ways."""
    series = {(s.name, kind): Series() for s in lab.subjects for kind in KINDS}
    for number in range(-WARM_UP, rounds):
        lab.base.change(changes)
        for subject in lab.subjects:
            measured = lab.measure(subject, full_first=number % 2 == 1)
            if number >= 0:
                for kind, item in measured.items():
                    series[subject.name, kind].add(item)
    return [
        {
            "query": subject.name,
            "rows": lab.base.rows,
            "changes": changes,
            **{kind: series[subject.name, kind].data() for kind in KINDS},
        }
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
