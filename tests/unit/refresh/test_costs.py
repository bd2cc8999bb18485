"""What past refreshes tell, and who knows of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from streamtables.catalog.models import CHOICE, SHARE, TOGETHER, RefreshRecord, Step
from streamtables.positions import InputId, RefreshId
from streamtables.positions import Sequence as Number
from streamtables.refresh.cost_model import Prediction, Sample, Way, Work
from streamtables.refresh.cost_rates import RATES
from streamtables.refresh.costs import CostBook, choice_facts, samples_of
from streamtables.refresh.sizes import Sizes

TABLE = InputId("t")
WORK = Work(statements=2, changed_rows=7, scanned_rows=100, stored_rows=50)


def record(seconds: float, way: Way = "changes", **other: object) -> RefreshRecord:
    facts = choice_facts(way, WORK, {"full": Prediction(1.5), "changes": Prediction(0.5)})
    made = RefreshRecord(
        id=RefreshId("r"),
        stream_table_id=TABLE,
        sequence=Number(1),
        process="host:1",
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        state="applied",
        mode="full" if way == "full" else "differential",
        seconds=seconds,
        steps=(Step(CHOICE, 0.001, facts), Step("compute", seconds)),
    )
    return replace(made, **other)  # type: ignore[arg-type]  # fields of the record


def never() -> Sequence[RefreshRecord]:
    raise AssertionError("the catalog was asked")


def test_a_record_tells_its_way_its_work_and_its_time() -> None:
    assert samples_of([record(3.0)]) == [Sample("changes", WORK, 3.0)]
    assert record(3.0).steps[0].facts["predicted_full"] == 1.5


def test_records_that_did_no_work_tell_nothing() -> None:
    looked = record(0.001, steps=(), state="no-change")
    assert samples_of([looked, record(9.0, state="failed"), record(1.0, state="no-change")]) == [
        Sample("changes", WORK, 1.0)
    ]


@pytest.mark.parametrize("beginning", ["first-fill", "query-changed"])
def test_nothing_from_before_another_query_counts(beginning: str) -> None:
    history = [record(1.0), record(4.0, "full", reason_code=beginning), record(9.0)]
    assert [sample.seconds for sample in samples_of(history)] == [1.0, 4.0]


def test_the_catalog_is_asked_once_and_workers_tell_each_other() -> None:
    book = CostBook(capacity=2)
    assert len(book.past(TABLE, lambda: [record(1.0)])) == 1
    book.note(record(2.0))
    assert [sample.seconds for sample in book.past(TABLE, never)] == [2.0, 1.0]
    assert book.counts() == {"tables": 1, "capacity": 2, "hits": 1, "misses": 1, "evictions": 0}


def test_the_first_refresh_of_its_way_in_a_process_is_cold() -> None:
    book = CostBook(capacity=2)
    assert book.is_first(TABLE, "changes")
    book.note(record(2.0))
    assert not book.is_first(TABLE, "changes")
    assert book.is_first(TABLE, "whole")
    facts = choice_facts("changes", WORK, {}, cold=True)
    [sample] = samples_of([record(2.0, steps=(Step(CHOICE, 0.0, facts),))])
    assert (sample.cold, sample.first_fill) == (True, False)


def test_what_was_computed_together_tells_nothing_of_one_table() -> None:
    facts = choice_facts("changes", WORK, {})
    steps = (Step(CHOICE, 0.0, facts), Step(SHARE, 2.0, {TOGETHER: 8, "led": True}))
    together = record(2.0, steps=steps)
    assert together.computed_together
    assert not record(2.0).computed_together
    assert samples_of([together]) == []
    book = CostBook(capacity=2)
    book.note(together)
    assert not book.is_first(TABLE, "changes")


def test_what_was_waited_for_in_vain_is_no_part_of_what_a_refresh_takes() -> None:
    steps = (Step(CHOICE, 0.0, choice_facts("changes", WORK, {})), Step(SHARE, 5.0))
    [sample] = samples_of([record(5.25, steps=steps)])
    assert sample.seconds == 0.25


def test_the_way_of_the_last_refresh_is_known_where_this_process_made_it() -> None:
    book = CostBook(capacity=2)
    assert book.last_way(TABLE) is None
    book.note(record(4.0, "full", reason_code="first-fill"))
    assert book.last_way(TABLE) is None, "a fill says nothing of what comes"
    book.note(record(2.0, "whole"))
    book.note(record(0.1, steps=(), state="no-change"))
    assert book.last_way(TABLE) == "whole"


def test_an_altered_query_makes_what_is_kept_forgotten() -> None:
    book = CostBook(capacity=2)
    book.past(TABLE, lambda: [record(1.0)])
    book.note(record(4.0, "full", reason_code="query-changed"))
    assert [sample.seconds for sample in book.past(TABLE, never)] == [4.0]


def test_tables_unused_for_longest_are_forgotten() -> None:
    book = CostBook(capacity=2)
    for name in ("a", "b", "a", "c"):
        book.past(InputId(name), list)
    assert book.counts()["evictions"] == 1
    book.past(InputId("a"), never)
    with pytest.raises(AssertionError, match="the catalog was asked"):
        book.past(InputId("b"), never)


def test_what_one_table_took_tells_of_the_machine() -> None:
    book = CostBook(capacity=2)
    expected = RATES["changes"].seconds(WORK)
    book.note(record(3 * expected))
    assert book.machine("changes") == pytest.approx(3.0)
    assert book.machine("full") == pytest.approx(3.0)
    assert book.predict("changes", WORK, ()).seconds == pytest.approx(3 * expected)


def test_sizes_follow_refreshes_without_asking() -> None:
    sizes = Sizes()
    assert sizes.rows(TABLE, lambda: 100) == 100
    sizes.note(record(1.0, rows_inserted=5, rows_deleted=2))
    assert sizes.rows(TABLE, lambda: 0) == 103
    sizes.note(record(1.0, "full", strategy="overwrite", rows_inserted=40, rows_deleted=103))
    assert sizes.rows(TABLE, lambda: 0) == 40
