"""Which hand writes a small change into a large table."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from streamtables.catalog.models import RefreshRecord, Step
from streamtables.positions import InputId, RefreshId, Sequence
from streamtables.refresh.routes import APPLY, route_facts, written_by
from streamtables.refresh.routing import HANDS, WRITE_RATES, Hand, Write, Written, route

MEGABYTE = 2**20
SOME = Write(rows=10, files=4, size=100 * MEGABYTE)


def took(hand: Hand, write: Write, times: float) -> Written:
    """A write that took so many times what the rates say."""
    return Written(hand, write, times * WRITE_RATES[hand].seconds(write))


def test_few_bytes_are_written_here_and_many_by_spark() -> None:
    assert route(Write(10, 1, 70 * MEGABYTE), ()).hand == "replace-keys"
    assert route(Write(10, 400, 40_000 * MEGABYTE), ()).hand == "merge"


def test_what_the_last_writes_took_corrects_the_rates() -> None:
    slow = [took("replace-keys", SOME, 9.0)] * 3
    chosen = route(SOME, slow)
    assert chosen.hand == "merge"
    assert chosen.flipped is not None
    assert "4 files of 100 MB" in chosen.flipped
    assert route(SOME, [took("replace-keys", SOME, 1.0)]).flipped is None


def test_one_slow_write_among_others_changes_nothing() -> None:
    usual = [took("replace-keys", SOME, 1.0)] * 6
    assert route(SOME, [took("replace-keys", SOME, 50.0), *usual]).hand == "replace-keys"


@given(st.integers(1, 500), st.integers(64, 50_000))
def test_the_same_write_twice_takes_the_same_hand(files: int, megabytes: int) -> None:
    write = Write(10, files, megabytes * MEGABYTE)
    first = route(write, ())
    again = route(write, [Written(first.hand, write, first.expected[first.hand])])
    assert again.hand == first.hand
    assert again.flipped is None


@given(st.sampled_from(HANDS), st.floats(0.85, 1.15))
def test_hands_that_are_about_equal_do_not_swing(before: Hand, noise: float) -> None:
    # At this size both hands are expected to take the same.
    here, spark = WRITE_RATES["replace-keys"], WRITE_RATES["merge"]
    size = round((spark.fixed - here.fixed) / (here.byte - spark.byte))
    write = Write(10, 0, size)
    assert route(write, [took(before, write, noise)]).hand == before


def test_a_record_tells_what_the_next_choice_needs() -> None:
    chosen = route(SOME, ())
    record = RefreshRecord(
        id=RefreshId("r"),
        stream_table_id=InputId("t"),
        sequence=Sequence(1),
        process="host:1",
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        state="applied",
        mode="differential",
        steps=(Step(APPLY, 2.5, route_facts(chosen)),),
    )
    assert written_by(record) == Written(chosen.hand, SOME, 2.5)
    assert written_by(replace(record, state="failed")) is None
    assert written_by(replace(record, steps=(Step(APPLY, 2.5, {}),))) is None
