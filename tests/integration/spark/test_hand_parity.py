"""Both hands give the same table: rows, schema, change feed, stamp and transaction."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from streamtables.engine import arrow_rows, small_hand, spark_hand
from streamtables.engine.arrow_to_spark import from_arrow
from streamtables.engine.arrow_types import for_spark
from streamtables.engine.names import WEIGHT, without_ordinals
from streamtables.engine.outcomes import Applied
from streamtables.engine.spark_merge import merge_signed
from streamtables.positions import Version
from tests.integration.spark.hands import (
    INF,
    NAN,
    TABLE,
    by_deltalake,
    by_spark,
    entry_at,
    feeds,
    head,
    landed,
    no_difference,
    rows_of,
    same_change,
    signed,
    stamp,
)

pytestmark = pytest.mark.spark

KEY_TYPES = {
    "bigint": pa.array([1, 2, None, 4, 5], pa.int64()),
    "string": pa.array(["it's", '\\`"', None, "é", ""], pa.string()),
    "double": pa.array([0.0, NAN, None, INF, -1.5], pa.float64()),
    "zeros": pa.array([0.0, -0.0, None, 1.0, -1.0], pa.float64()),
    "float": pa.array([0.1, NAN, None, -INF, 3.5], pa.float32()),
    "decimal": pa.array([1, -2, None, 10**17, 0], pa.decimal128(38, 18)),
    "date": pa.array([0, -1, None, 2932896, 1], pa.int32()).cast(pa.date32()),
    "timestamp": pa.array([0, -1, None, 10**15, 1], pa.timestamp("us", "UTC")),
    "timestamp_ntz": pa.array([0, -1, None, 10**15, 1], pa.timestamp("us")),
    "binary": pa.array([b"", b"\x00", None, b"'", b"abc"], pa.binary()),
    "boolean": pa.array([True, False, None], pa.bool_()),
}


@pytest.fixture
def spark(spark_sessions):
    with spark_sessions.lease("quick") as session:
        yield session


def filled(spark, folder: Path, rows: pa.Table, key_columns) -> tuple[str, str]:
    """Make the same table twice: one for each hand."""
    places = str(folder / "small"), str(folder / "large")
    for place in places:
        df = from_arrow(spark, rows)
        done = spark_hand.overwrite(spark, df, place, stamp(0), key_columns=key_columns)
        assert isinstance(done, Applied)
        assert done.version == 0
    return places


def by_merge(spark, change, place, mark, key_columns):
    df = from_arrow(spark, change)
    version = Version(head(place))
    return merge_signed(
        spark, df, place, mark, key_columns=key_columns, version=version, materialised=True
    )


def by_replacing(spark, change, place, mark, key_columns):
    df = from_arrow(spark, change)
    version = Version(head(place))
    keys = for_spark(change).select(list(key_columns))
    return spark_hand.replace_keys(
        spark, df, place, mark, key_columns=key_columns, keys=keys, version=version
    )


def assert_same(spark, small: str, large: str, wanted: pa.Table, change: pa.Table) -> None:
    """Compare everything a reader can see, both hands and both readers."""
    versions = head(small), head(large)
    seen = [by_spark(spark, small), by_spark(spark, large)]
    seen += [by_deltalake(small, versions[0]), by_deltalake(large, versions[1])]
    for table in seen:
        assert no_difference(wanted, table)
    assert spark.read.format("delta").load(small).schema == (
        spark.read.format("delta").load(large).schema
    )
    columns = list(without_ordinals(change.column_names))
    everything = [*feeds(spark, small, versions[0] - 1, versions[0], columns)]
    everything += feeds(spark, large, versions[1] - 1, versions[1], columns)
    netted = arrow_rows.net(change, columns)
    for feed in everything:
        assert same_change(netted, feed)
    entries = [entry_at(place, v) for place, v in zip((small, large), versions, strict=True)]
    mark = entries[0].stamp
    assert mark is not None
    assert entries[1].stamp == mark
    assert entries[0].transactions == entries[1].transactions == {TABLE: mark.sequence}


@pytest.mark.parametrize("kind", KEY_TYPES)
@pytest.mark.parametrize("strategy", [by_merge, by_replacing])
def test_a_keyed_change_gives_the_same_table(spark, tmp_path, kind, strategy):
    keys = KEY_TYPES[kind]
    start = rows_of([0, 1, 2], k=keys[:3])
    small, large = filled(spark, tmp_path, start, ("k",))
    arriving = rows_of([3, 0][: len(keys) - 3], k=keys[3:])
    change = signed(
        (-1, start.slice(0, 1)),
        (1, rows_of([1], k=keys[:1])),
        (-1, start.slice(1, 1)),
        (-1, start.slice(2, 1)),
        (1, rows_of([3], k=keys[2:3])),
        (1, arriving),
    )
    mark = stamp(1)
    first = landed(
        small_hand.apply(small_hand.open_at(small, 0), change, key_columns=("k",), stamp=mark)
    )
    second = strategy(spark, change, large, mark, ("k",))
    assert isinstance(first, Applied)
    assert isinstance(second, Applied)
    assert (first.rows_inserted, first.rows_deleted) == (2 + arriving.num_rows, 3)
    if strategy is by_merge:
        assert (second.rows_inserted, second.rows_deleted) == (2 + arriving.num_rows, 3)
    wanted = pa.concat_tables([rows_of([1], k=keys[:1]), rows_of([3], k=keys[2:3]), arriving])
    assert_same(spark, small, large, wanted, change)


def test_a_change_of_one_zero_leaves_the_other_alone(spark, tmp_path):
    keys = pa.array([0.0, -0.0], pa.float64())
    start = rows_of([0, 1], k=keys)
    small, large = filled(spark, tmp_path, start, ("k",))
    change = signed((-1, start.slice(0, 1)), (1, rows_of([2], k=keys[:1])))
    small_hand.apply(small_hand.open_at(small, 0), change, key_columns=("k",), stamp=stamp(1))
    by_replacing(spark, change, large, stamp(1), ("k",))
    wanted = rows_of([2, 1], k=keys)
    assert_same(spark, small, large, wanted, change)


def test_a_change_with_a_key_of_several_columns(spark, tmp_path):
    a = pa.array([1, 1, 2, None, None], pa.int64())
    b = pa.array(["x", "y", "x", "x", None], pa.string())
    start = rows_of([0, 1, 2, 3, 0], a=a, b=b)
    small, large = filled(spark, tmp_path, start, ("a", "b"))
    change = signed(
        (-1, start.slice(0, 1)),
        (1, rows_of([3], a=a[:1], b=b[:1])),
        (-1, start.slice(4, 1)),
        (1, rows_of([3], a=pa.array([2], pa.int64()), b=pa.array(["y"]))),
    )
    small_hand.apply(small_hand.open_at(small, 0), change, key_columns=("a", "b"), stamp=stamp(1))
    by_merge(spark, change, large, stamp(1), ("a", "b"))
    wanted = pa.concat_tables(
        [
            start.slice(1, 3),
            rows_of([3], a=a[:1], b=b[:1]),
            rows_of([3], a=pa.array([2], pa.int64()), b=pa.array(["y"])),
        ]
    )
    assert_same(spark, small, large, wanted, change)


def test_a_bag_keeps_equal_rows_as_that_many_rows(spark, tmp_path):
    start = rows_of([0, 0, 0, 1, 2, 3, 3])
    small, large = filled(spark, tmp_path, start, None)
    change = signed(
        (-2, rows_of([0])),
        (-1, rows_of([1])),
        (-1, rows_of([3])),
        (3, rows_of([2])),
        (1, rows_of([1])),
    )
    first = landed(
        small_hand.apply(small_hand.open_at(small, 0), change, key_columns=None, stamp=stamp(1))
    )
    second = landed(by_merge(spark, change, large, stamp(1), None))
    assert (first.rows_inserted, first.rows_deleted) == (3, 3)
    assert (second.rows_inserted, second.rows_deleted) == (3, 3)
    assert_same(spark, small, large, rows_of([0, 1, 2, 2, 2, 2, 3]), change)
    for place in (small, large):
        ordinals = by_spark(spark, place).select(["__st_sequence", "__st_position"])
        assert len(set(map(str, ordinals.to_pylist()))) == ordinals.num_rows


def test_an_append_reads_nothing_and_gives_the_same_bag(spark, tmp_path):
    small, large = filled(spark, tmp_path, rows_of([0]), None)
    change = signed((2, rows_of([0])), (1, rows_of([2])))
    first = landed(
        small_hand.apply(small_hand.open_at(small, 0), change, key_columns=None, stamp=stamp(1))
    )
    df = from_arrow(spark, change)
    second = landed(spark_hand.append(spark, df, large, stamp(1), key_columns=None))
    assert first.strategy == second.strategy == "append"
    assert (first.rows_inserted, second.rows_inserted) == (3, 3)
    assert_same(spark, small, large, rows_of([0, 0, 0, 2]), change)


def test_an_append_of_new_keys_gives_the_same_table(spark, tmp_path):
    start = rows_of([0], k=pa.array([1], pa.int64()))
    small, large = filled(spark, tmp_path, start, ("k",))
    arriving = rows_of([1, 2], k=pa.array([2, None], pa.int64()))
    change = signed((1, arriving))
    first = landed(
        small_hand.apply(small_hand.open_at(small, 0), change, key_columns=("k",), stamp=stamp(1))
    )
    df = from_arrow(spark, arriving)
    second = landed(spark_hand.append(spark, df, large, stamp(1), key_columns=("k",)))
    assert first.strategy == second.strategy == "append"
    assert_same(spark, small, large, pa.concat_tables([start, arriving]), change)


def test_a_global_row_is_replaced(spark, tmp_path):
    small, large = filled(spark, tmp_path, rows_of([0]), ())
    change = signed((-1, rows_of([0])), (1, rows_of([1])))
    small_hand.apply(small_hand.open_at(small, 0), change, key_columns=(), stamp=stamp(1))
    by_merge(spark, change, large, stamp(1), ())
    assert_same(spark, small, large, rows_of([1]), change)


def test_an_overwrite_shows_in_the_feed_as_what_differs(spark, tmp_path):
    keys = pa.array([1, 2, 3], pa.int64())
    start = rows_of([0, 1, 2], k=keys)
    small, large = filled(spark, tmp_path, start, ("k",))
    after = rows_of([0, 3], k=pa.array([1, 4], pa.int64()))
    change = signed((-1, start.slice(1, 2)), (1, after.slice(1, 1)))
    small_hand.apply(small_hand.open_at(small, 0), change, key_columns=("k",), stamp=stamp(1))
    df = from_arrow(spark, after)
    done = landed(spark_hand.overwrite(spark, df, large, stamp(1), key_columns=("k",)))
    assert done.strategy == "overwrite"
    assert_same(spark, small, large, after, change)


def test_the_hands_take_turns_on_one_table(spark, tmp_path):
    keys = pa.array([1, 2, 3], pa.int64())
    start = rows_of([0, 1, 2], k=keys)
    place, _ = filled(spark, tmp_path, start, ("k",))
    rows = start
    for turn in range(1, 7):
        new = rows_of([turn % 4], k=pa.array([turn % 3 + 1], pa.int64()))
        old = rows.filter(pc.equal(rows.column("k"), turn % 3 + 1))
        change = signed((-1, old), (1, new))
        if turn % 2:
            handle = small_hand.open_at(place, head(place))
            small_hand.apply(handle, change, key_columns=("k",), stamp=stamp(turn))
        else:
            by_merge(spark, change, place, stamp(turn), ("k",))
        rows = pa.concat_tables([rows.filter(pc.not_equal(rows.column("k"), turn % 3 + 1)), new])
        assert no_difference(rows, by_spark(spark, place))
    columns = list(start.column_names)
    whole = signed((-1, start), (1, rows))
    for feed in feeds(spark, place, 0, head(place), columns):
        assert same_change(arrow_rows.net(whole, columns), feed)


def test_a_change_that_nets_to_nothing_makes_no_commit(spark, tmp_path):
    start = rows_of([0, 1], k=pa.array([1, 2], pa.int64()))
    small, _ = filled(spark, tmp_path, start, ("k",))
    change = signed((-1, start), (1, start))
    done = small_hand.apply(
        small_hand.open_at(small, 0), change, key_columns=("k",), stamp=stamp(1)
    )
    assert landed(done).version is None
    assert head(small) == 0
    assert WEIGHT in change.column_names
