"""Many keys: a pass over the table finds their rows, and a join writes them."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from streamtables.engine import small_bag, small_hand, small_merge
from streamtables.engine.names import POSITION, SEQUENCE
from streamtables.engine.outcomes import Applied, NotSmall
from streamtables.errors import CommitConflictError, DuplicateKeyError, TableDamagedError
from streamtables.positions import CommitStamp, Frontier, InputId, RefreshId, Sequence, Version

deltalake = pytest.importorskip("deltalake")

FEED = {"delta.enableChangeDataFeed": "true"}


def stamp(sequence: int = 2) -> CommitStamp:
    frontier = Frontier({InputId("s"): Version(sequence)})
    refresh = RefreshId(f"r{sequence}")
    return CommitStamp(
        InputId("t"), Sequence(sequence), refresh, frontier, frontier, "differential", "hash"
    )


def signed(rows: list[tuple[object, ...]], schema: pa.Schema) -> pa.Table:
    wide = pa.schema([*schema, pa.field("__st_weight", pa.int64())])
    columns = zip(*rows, strict=True)
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, wide, strict=True)], wide)


def stored(place: Path) -> list[tuple[object, ...]]:
    rows = deltalake.DeltaTable(str(place)).to_pyarrow_table().to_pydict()
    return sorted(zip(*rows.values(), strict=True), key=str)


@pytest.fixture(autouse=True)
def joined_from_one(monkeypatch):
    for module in (small_hand, small_bag):
        monkeypatch.setattr(module, "MERGED_FROM", 1)
        monkeypatch.setattr(module, "LISTED_MAX", 0)


SCHEMA = pa.schema([("k", pa.int64()), ("Group By", pa.string()), ("n", pa.int64())])
KEY = ("k", "Group By")


@pytest.fixture
def table(tmp_path):
    place = tmp_path / "t"
    rows = [(1, "a", 10), (1, None, 11), (2, "a", 20), (None, "a", 30), (3, "x", 40)]
    columns = list(zip(*rows, strict=True))
    made = pa.table([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], SCHEMA)
    deltalake.write_deltalake(str(place), made, configuration=FEED)
    return place


def test_rows_are_replaced_added_and_removed_in_one_commit(table):
    change = signed(
        [
            (1, "a", 10, -1),
            (1, "a", 12, 1),
            (1, None, 11, -1),
            (None, "a", 30, -1),
            (None, "a", 31, 1),
            (4, "new", 50, 1),
        ],
        SCHEMA,
    )
    handle = small_hand.open_at(str(table), 0)
    done = small_hand.apply(handle, change, key_columns=KEY, stamp=stamp())
    assert isinstance(done, Applied)
    assert (done.version, done.rows_inserted, done.rows_deleted) == (1, 3, 3)
    expected = [(1, "a", 12), (2, "a", 20), (3, "x", 40), (4, "new", 50), (None, "a", 31)]
    assert stored(table) == expected
    log = (table / "_delta_log" / "00000000000000000001.json").read_text().splitlines()
    assert sum("txn" in json.loads(line) for line in log) == 1
    feed = deltalake.DeltaTable(str(table)).load_cdf(starting_version=1)
    kinds = pa.table(feed).column("_change_type").to_pylist()
    assert kinds.count("update_postimage") == 2
    assert kinds.count("delete") == 1
    assert kinds.count("insert") == 1


def test_the_same_refresh_lands_once(table):
    change = signed([(5, "z", 1, 1), (1, "a", 10, -1)], SCHEMA)
    first = small_hand.apply(
        small_hand.open_at(str(table), 0), change, key_columns=KEY, stamp=stamp()
    )
    again = small_hand.apply(
        small_hand.open_at(str(table), 1), change, key_columns=KEY, stamp=stamp()
    )
    assert isinstance(first, Applied)
    assert isinstance(again, Applied)
    assert again.version == first.version


def test_another_writer_who_came_first_wins(table):
    handle = small_hand.open_at(str(table), 0)
    other = pa.table({"k": [9], "Group By": ["q"], "n": [1]})
    deltalake.write_deltalake(str(table), other, mode="append")
    change = signed([(1, "a", 10, -1)], SCHEMA)
    with pytest.raises(CommitConflictError):
        small_hand.apply(handle, change, key_columns=KEY, stamp=stamp())
    assert len(stored(table)) == 6


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ([(1, "a", 99, -1)], TableDamagedError),
        ([(7, "none", 1, -1), (7, "none", 2, 1)], TableDamagedError),
        ([(2, "a", 21, 1), (1, "a", 10, -1)], DuplicateKeyError),
    ],
    ids=["another value", "no such key", "a key that is there already"],
)
def test_a_change_that_does_not_fit_the_stored_rows_writes_nothing(table, change, error):
    handle = small_hand.open_at(str(table), 0)
    with pytest.raises(error):
        small_hand.apply(handle, signed(change, SCHEMA), key_columns=KEY, stamp=stamp())
    assert deltalake.DeltaTable(str(table)).version() == 0


def test_a_commit_that_is_not_what_was_asked_for_is_told(table):
    handle = small_hand.open_at(str(table), 0)
    rows = pa.table({"k": [77, 78], "Group By": ["new", "missing"], "n": [1, 2]})
    change = rows.append_column("__st_weight", pa.array([1, -1]))
    with pytest.raises(TableDamagedError, match="is not what was asked"):
        small_merge.commit_merge(
            handle, rows.slice(0, 1), rows.slice(1), key_columns=KEY, stamp=stamp(), change=change
        )


def test_of_equal_rows_the_oldest_go(tmp_path):
    place = tmp_path / "bag"
    first = pa.table({"v": ["a", "a", "b"], SEQUENCE: [1, 1, 1], POSITION: [0, 1, 2]})
    deltalake.write_deltalake(str(place), first, configuration=FEED)
    schema = pa.schema([("v", pa.string())])
    change = signed([("a", -1), ("b", 2)], schema)
    handle = small_hand.open_at(str(place), 0)
    small_hand.apply(handle, change, key_columns=None, stamp=stamp())
    assert stored(place) == [("a", 1, 1), ("b", 1, 2), ("b", 2, 0), ("b", 2, 1)]


def test_more_rows_than_the_driver_may_hold_are_left_to_spark(table):
    keys = pa.table({"k": [1, 2], "Group By": ["a", "a"]})
    with pytest.raises(NotSmall, match="more than 1"):
        small_merge.read_named(small_hand.open_at(str(table), 0), keys, KEY, rows_max=1)


def test_floats_are_not_joined():
    keys = pa.table({"k": [0.0], "n": [1]})
    assert not small_merge.can_join(keys, ("k", "n"))
    assert small_merge.can_join(keys, ("n",))
    assert not small_merge.can_join(keys, ())
