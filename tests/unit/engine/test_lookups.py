"""Finding rows that changes name: as they are, as they were, and by what was found before."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from streamtables.compiler.algebra.plain_conditions import PlainCondition
from streamtables.compiler.backend.statement import KeyValues, Lookup
from streamtables.engine.binding import TableVersion
from streamtables.engine.lookups import LookupLimits, find_rows, wanted_values
from streamtables.engine.outcomes import NotSmall
from streamtables.errors import TableDamagedError
from streamtables.positions import Version

CHANGES = "__st_changes_t"
LIMITS = LookupLimits(rows=1_000, bytes=1_000_000)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table as it is after the changes of the tests; two rows of it are equal."""
    rows = pa.table(
        {
            "K": pa.array([1, 1, 2, None, 3], pa.int64()),
            "x": pa.array([0.0, 0.0, -0.0, float("nan"), 7.0]),
        }
    )
    write_deltalake(tmp_path / "t", rows)
    return tmp_path


def changes(*rows: tuple[int | None, float, int]) -> pa.Table:
    keys, values, weights = zip(*rows, strict=True)
    return pa.table(
        {
            "K": pa.array(keys, pa.int64()),
            "x": pa.array(values, pa.float64()),
            "__st_weight": pa.array(weights, pa.int64()),
        }
    )


def lookup(
    view: str,
    held: tuple[str, str],
    *conditions: PlainCondition,
    before: bool = False,
    left_out: bool = False,
) -> Lookup:
    values = KeyValues("k", (held,), null_left_out=left_out)
    return Lookup(view, "t", ("k", "x"), ((values,),), CHANGES if before else "", conditions)


def find(folder: Path, held: pa.Table, *lookups: Lookup) -> dict[str, list[tuple[object, str]]]:
    place = TableVersion(str(folder / "t"), Version(0))
    found = find_rows(lookups, {CHANGES: held}, lambda _: place, LIMITS)
    return {
        view: sorted(
            ((row["k"], str(row["x"])) for row in rows.to_pylist()),
            key=lambda row: (row[0] is None, row),
        )
        for view, rows in found.items()
    }


BY_CHANGES = (CHANGES, "K")


def test_what_was_there_before_is_what_is_there_without_the_changes(folder: Path):
    held = changes((1, 0.0, 1), (2, -0.0, 1), (2, 0.0, -1))
    found = find(folder, held, lookup("now", BY_CHANGES), lookup("old", BY_CHANGES, before=True))
    assert found["now"] == [(1, "0.0"), (1, "0.0"), (2, "-0.0")]
    assert found["old"] == [(1, "0.0"), (2, "0.0")]


def test_rows_that_are_gone_were_there_as_often_as_they_were_taken_away(folder: Path):
    found = find(folder, changes((9, 1.5, -2)), lookup("old", BY_CHANGES, before=True))
    assert found["old"] == [(9, "1.5"), (9, "1.5")]


@pytest.mark.parametrize(("left_out", "rows"), [(False, [(None, "nan")]), (True, [])])
def test_null_is_a_value_unless_it_is_left_out(folder: Path, left_out: bool, rows: list[object]):
    held = changes((None, float("nan"), 1))
    assert find(folder, held, lookup("now", BY_CHANGES, left_out=left_out))["now"] == rows
    assert find(folder, held, lookup("old", BY_CHANGES, before=True, left_out=left_out)) == {
        "old": []
    }


def test_only_rows_that_meet_the_conditions_are_found_now_and_before(folder: Path):
    held = changes((1, 0.0, 1), (2, -0.0, 1), (1, 5.0, -1), (2, 6.0, -1))
    above_one = PlainCondition("k", ">", "number", ("1",))
    found = find(
        folder,
        held,
        lookup("all", BY_CHANGES),
        lookup("now", BY_CHANGES, above_one),
        lookup("old", BY_CHANGES, above_one, before=True),
    )
    assert found["all"] == [(1, "0.0"), (1, "0.0"), (2, "-0.0")]
    assert found["now"] == [(2, "-0.0")]
    assert found["old"] == [(2, "6.0")]


def test_rows_whose_condition_is_null_are_found_by_whoever_does_not_ask_for_it(folder: Path):
    held = changes((None, 1.0, 1), (2, -0.0, 1))
    above_one = PlainCondition("k", ">", "number", ("1",))
    everything, some = lookup("all", BY_CHANGES), lookup("some", BY_CHANGES, above_one)
    found = find(folder, held, everything, some)
    assert found == {"all": [(2, "-0.0"), (None, "nan")], "some": [(2, "-0.0")]}


def test_rows_that_fail_the_conditions_do_not_count_towards_the_limit(folder: Path):
    held = changes((1, 0.0, 1), (2, -0.0, 1))
    place = TableVersion(str(folder / "t"), Version(0))
    limits = LookupLimits(rows=1, bytes=1_000_000)
    above_one = PlainCondition("k", ">", "number", ("1",))
    asked = lookup("now", BY_CHANGES, above_one)
    assert find_rows([asked], {CHANGES: held}, lambda _: place, limits)["now"].num_rows == 1
    with pytest.raises(NotSmall, match="more than 1"):
        find_rows([lookup("now", BY_CHANGES)], {CHANGES: held}, lambda _: place, limits)


def test_what_was_found_is_looked_up_by(folder: Path):
    first = lookup("first", BY_CHANGES)
    then = lookup("then", ("first", "k"), before=True)
    assert find(folder, changes((3, 7.0, 1)), first, then) == {"first": [(3, "7.0")], "then": []}


def test_changes_that_the_table_contradicts_are_an_error(folder: Path):
    with pytest.raises(TableDamagedError):
        find(folder, changes((3, 8.0, 1)), lookup("old", BY_CHANGES, before=True))


def test_what_is_not_at_hand_is_left_to_spark(folder: Path):
    with pytest.raises(NotSmall, match="not on the driver"):
        find(folder, changes((3, 7.0, 1)), lookup("now", ("elsewhere", "k")))
    with pytest.raises(NotSmall, match="not on the driver"):
        wanted_values(KeyValues("k", (("elsewhere", "k"),)), {})
