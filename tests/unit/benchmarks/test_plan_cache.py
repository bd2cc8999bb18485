"""The benchmark of the plan caches runs, and its sides agree."""

from __future__ import annotations

from benchmarks.plan_cache import cases, measure


def test_every_level_is_measured_against_compiling():
    found = measure(rounds=1)
    assert found.keys() == cases().keys()
    assert all(list(sides) == ["compile", "l1", "l0", "l2"] for sides in found.values())
    assert all(value > 0 for sides in found.values() for value in sides.values())
