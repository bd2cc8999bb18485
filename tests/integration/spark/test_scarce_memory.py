"""Spark without memory, and Spark's process ended by the system: told, and the tables go on.

One process lives through all of it, as each Spark that it starts takes seconds.
"""

from __future__ import annotations

import pytest

from tests.support.spark_servers import output_of

pytestmark = [pytest.mark.apart, pytest.mark.crash, pytest.mark.slow]

Said = dict[tuple[str, str], tuple[str, str, set[str]]]


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Said:
    """How each table was at each stage: current or behind, its state, its errors until then.

    In the end both have the rows of their queries.
    """
    folder = tmp_path_factory.mktemp("memory")
    found: Said = {}
    *lines, last = output_of(["tests/support/scarce_memory.py", str(folder)])
    assert last == "proved"
    for line in lines:
        stage, table, known, state, codes = line.split("/")
        found[stage, table] = (known, state, set(codes.split("+")) - {""})
    return found


@pytest.mark.fault(
    "process",
    "Spark runs out of memory",
    step="a task of a refresh, whose Java process ends with it",
    seen="the refresh fails with ST-4001; the table is as it was; none is suspended, and others are refreshed by another Spark",
    recovery="by itself, when the memory or the rows allow it",
)
def test_a_table_without_memory_stops_no_other_and_goes_on_when_it_can(said: Said) -> None:
    assert said["filled", "heavy"] == said["filled", "calm"] == ("current", "active", set())
    assert said["short", "calm"][:2] == ("current", "active")
    assert said["short", "heavy"][:2] == ("behind", "active")
    assert "ST-4001" in said["short", "heavy"][2]
    for table in ("heavy", "calm"):
        assert said["idle", table][:2] == ("current", "active")


@pytest.mark.fault(
    "process",
    "the system ends Spark's Java process",
    step="while nobody uses it; changes computed",
    seen="nothing; the refresh fails with ST-3005, and the table is as it was",
    recovery="by itself: the next refresh starts another Spark",
)
def test_a_spark_that_was_killed_is_followed_by_another(said: Said) -> None:
    for table in ("heavy", "calm"):
        # Nobody used it: nothing failed.
        assert said["idle", table] == ("current", "active", said["short", table][2])
        assert said["busy", table][:2] == ("current", "active")
    busy = said["busy", "heavy"][2] | said["busy", "calm"][2]
    assert "ST-3005" in busy
    assert "ST-9001" not in busy
