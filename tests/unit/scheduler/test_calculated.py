"""What a calculated table takes over from the tables that read it."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamtables.positions import InputId
from streamtables.scheduler.calculated import effective_schedules
from streamtables.scheduler.schedule import Calculated, Cron, Every, Manual, OnChange, Schedule
from streamtables.scheduler.tiers import scaled
from tests.unit.scheduler.strategies import schedules as any_schedule

NIGHTLY = Cron("0 3 * * *", "UTC")
A, B, C, D = (InputId(name) for name in "abcd")


@pytest.mark.parametrize(
    ("readers", "expected"),
    [
        ([], Manual()),
        ([(Every(60), "hot")], Every(60)),
        ([(Every(60), "hot"), (Every(30), "hot")], Every(30)),
        ([(Every(60), "hot"), (Every(30), "cold")], Every(60)),
        ([(Every(60), "frozen")], Manual()),
        ([(OnChange(), "hot"), (Every(1), "hot")], OnChange()),
        ([(OnChange(60), "hot"), (Every(60), "hot")], OnChange(60)),
        ([(Every(60), "hot"), (OnChange(60), "hot")], OnChange(60)),
        ([(OnChange(61), "hot"), (Every(60), "hot")], Every(60)),
        ([(OnChange(60), "warm"), (Every(60), "hot")], Every(60)),
        ([(OnChange(), "frozen")], Manual()),
        ([(NIGHTLY, "hot"), (Manual(), "hot")], Manual()),
        ([(NIGHTLY, "hot"), (Every(900), "hot")], Every(900)),
    ],
)
def test_the_tightest_reader_decides(
    readers: list[tuple[Schedule, str]], expected: Schedule
) -> None:
    ids = [InputId(f"reader {number}") for number in range(len(readers))]
    schedules: dict[InputId, Schedule] = {A: Calculated()}
    schedules |= dict(zip(ids, (said for said, _ in readers), strict=True))
    tiers = dict(zip(ids, (tier for _, tier in readers), strict=True))
    assert effective_schedules(schedules, tiers, {A: ids})[A] == expected


def test_what_is_needed_goes_down_chains_of_calculated_tables() -> None:
    schedules: dict[InputId, Schedule]
    schedules = {A: Calculated(), B: Calculated(), C: Every(60), D: Every(300)}
    found = effective_schedules(schedules, {B: "warm"}, {A: [B, D], B: [C]})
    assert found == {A: Every(120), B: Every(60), C: Every(60), D: Every(300)}


def test_a_reader_that_is_not_scheduled_asks_for_nothing() -> None:
    assert effective_schedules({A: Calculated()}, {}, {A: [B]}) == {A: Manual()}


@given(
    st.lists(
        st.tuples(any_schedule, st.sampled_from(["hot", "warm", "cold", "frozen"])), max_size=12
    ),
    st.data(),
)
def test_no_reader_waits_for_a_calculated_table(
    tables: list[tuple[Schedule, str]], data: st.DataObject
) -> None:
    ids = [InputId(str(number)) for number in range(len(tables))]
    schedules = {table: said for table, (said, _) in zip(ids, tables, strict=True)}
    tiers = {table: tier for table, (_, tier) in zip(ids, tables, strict=True)}
    # Only later tables read earlier ones, so there is no cycle.
    consumers = {
        table: data.draw(st.lists(st.sampled_from(ids[place + 1 :]), unique=True))
        for place, table in enumerate(ids[:-1])
    }
    effective = effective_schedules(schedules, tiers, consumers)
    assert all(
        effective[table] == said for table, said in schedules.items() if said != Calculated()
    )
    assert Calculated() not in effective.values()
    for table, readers in consumers.items():
        found = effective[table]
        for reader in readers:
            needed = effective[reader]
            if schedules[table] == Calculated() and isinstance(needed, Every):
                interval = scaled(needed.seconds, tiers[reader])
                if interval is not None:
                    assert isinstance(found, Every | OnChange)
                    own = found.seconds if isinstance(found, Every) else found.at_most_every
                    assert own <= interval


def test_a_chain_of_ten_thousand_calculated_tables_is_no_trouble() -> None:
    ids = [InputId(str(number)) for number in range(10_000)]
    schedules: dict[InputId, Schedule] = {table: Calculated() for table in ids}
    schedules[ids[-1]] = Every(5)
    consumers = {table: [reader] for table, reader in pairwise(ids)}
    assert set(effective_schedules(schedules, {}, consumers).values()) == {Every(5)}
