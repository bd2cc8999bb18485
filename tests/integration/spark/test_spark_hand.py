"""What the Spark hand refuses, notices and counts."""

from __future__ import annotations

import pyarrow as pa
import pytest

from streamtables.engine import collect, small_hand, spark_hand
from streamtables.engine.arrow_to_spark import from_arrow
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.names import WEIGHT
from streamtables.engine.outcomes import Applied, Superseded
from streamtables.engine.spark_commit import stamp_settings
from streamtables.engine.spark_errors import spark_border
from streamtables.engine.spark_merge import merge_signed
from streamtables.errors import (
    CommitConflictError,
    DuplicateKeyError,
    QueryFailedError,
    SourceMissingError,
    TableDamagedError,
)
from streamtables.positions import Version
from tests.integration.spark.hands import by_spark, entry_at, head, landed, no_difference, stamp

pytestmark = pytest.mark.spark

START = pa.table({"k": [1, 2, 3], "v": [1.5, -0.0, None]})


@pytest.fixture
def spark(spark_sessions):
    with spark_sessions.lease("quick") as session:
        yield session


@pytest.fixture
def place(spark, tmp_path) -> str:
    folder = str(tmp_path / "t")
    spark_hand.overwrite(spark, from_arrow(spark, START), folder, stamp(0), key_columns=("k",))
    return folder


def change(*rows: tuple[int, float | None, int]) -> pa.Table:
    return pa.table(
        {
            "k": pa.array([row[0] for row in rows], pa.int64()),
            "v": pa.array([row[1] for row in rows], pa.float64()),
            WEIGHT: pa.array([row[2] for row in rows], pa.int64()),
        }
    )


def merged(spark, place, signed, mark, *, key_columns=("k",), **more):
    return merge_signed(
        spark,
        from_arrow(spark, signed),
        place,
        mark,
        key_columns=key_columns,
        version=Version(head(place)),
        materialised=True,
        **more,
    )


def test_a_new_table_records_changes_and_has_no_deletion_vectors(place):
    entry = entry_at(place, 0)
    assert entry.configuration["delta.enableChangeDataFeed"] == "true"
    assert entry.configuration["delta.enableDeletionVectors"] == "false"
    assert entry.configuration["delta.dataSkippingStatsColumns"] == "k,v"
    assert entry.stamp == stamp(0)


WRONG = {
    "a row that is not there": (change((9, 1.0, -1)), TableDamagedError),
    "a row with another value": (change((1, 7.0, -1)), TableDamagedError),
    "the other zero": (change((2, 0.0, -1), (2, 5.0, 1)), TableDamagedError),
    "two rows of one key": (change((8, 1.0, 1), (8, 2.0, 1), (1, 1.5, -1)), DuplicateKeyError),
}


@pytest.mark.parametrize("name", WRONG)
def test_both_hands_refuse_before_any_commit(spark, place, name):
    signed, error = WRONG[name]
    with pytest.raises(error):
        merged(spark, place, signed, stamp(1))
    with pytest.raises(error):
        small_hand.apply(small_hand.open_at(place, 0), signed, key_columns=("k",), stamp=stamp(1))
    assert head(place) == 0


def test_an_insert_of_a_stored_key_is_damage(spark, place):
    with pytest.raises(TableDamagedError):
        merged(spark, place, change((1, 9.0, 1)), stamp(1))


def test_a_float_aggregate_is_retracted_by_its_key(spark, tmp_path):
    signed = change((1, 1.5000001, -1), (1, 9.0, 1))
    for number, hand in enumerate(("small", "spark")):
        folder = str(tmp_path / f"{number}")
        rows = from_arrow(spark, START)
        spark_hand.overwrite(spark, rows, folder, stamp(0), key_columns=("k",))
        if hand == "small":
            handle = small_hand.open_at(folder, 0)
            small_hand.apply(handle, signed, key_columns=("k",), stamp=stamp(1), inexact=("v",))
        else:
            merged(spark, folder, signed, stamp(1), inexact=("v",))
        wanted = pa.table({"k": [1, 2, 3], "v": [9.0, -0.0, None]})
        assert no_difference(wanted, by_spark(spark, folder))


def test_a_bag_that_lacks_the_rows_is_damaged(spark, tmp_path):
    folder = str(tmp_path / "bag")
    rows = pa.table({"x": ["a", "a", "b"]})
    spark_hand.overwrite(spark, from_arrow(spark, rows), folder, stamp(0), key_columns=None)
    for signed in (
        pa.table({"x": ["a"], WEIGHT: [-3]}),
        pa.table({"x": ["z", "q"], WEIGHT: [-1, 1]}),
    ):
        with pytest.raises(TableDamagedError):
            merged(spark, folder, signed, stamp(1), key_columns=None)
        with pytest.raises(TableDamagedError):
            small_hand.apply(
                small_hand.open_at(folder, 0), signed, key_columns=None, stamp=stamp(1)
            )
    assert head(folder) == 0


def test_a_sequence_that_landed_already_is_superseded(spark, place):
    first = stamp(1, refresh="other")
    merged(spark, place, change((1, 1.5, -1)), first)
    for attempt in (
        lambda: merged(spark, place, change((2, -0.0, -1)), stamp(1)),
        lambda: spark_hand.append(
            spark, from_arrow(spark, START), place, stamp(1), key_columns=("k",)
        ),
        lambda: spark_hand.overwrite(
            spark, from_arrow(spark, START), place, stamp(1), key_columns=("k",)
        ),
        lambda: small_hand.apply(
            small_hand.open_at(place, 1), change((7, 1.0, 1)), key_columns=("k",), stamp=stamp(1)
        ),
    ):
        done = attempt()
        assert isinstance(done, Superseded)
        assert done.entry.stamp == first
    assert head(place) == 1


def test_our_own_repeated_commit_is_recognised(spark, place):
    merged(spark, place, change((1, 1.5, -1)), stamp(1))
    again = merged(spark, place, change((2, -0.0, -1)), stamp(1))
    assert isinstance(again, Applied)
    assert again.version == 1
    assert head(place) == 1


def test_of_two_small_writers_of_one_version_one_fails(place):
    one, other = small_hand.open_at(place, 0), small_hand.open_at(place, 0)
    small_hand.apply(one, change((7, 1.0, 1)), key_columns=("k",), stamp=stamp(1))
    with pytest.raises(CommitConflictError):
        small_hand.apply(other, change((8, 1.0, 1)), key_columns=("k",), stamp=stamp(2))
    assert head(place) == 1


def test_rows_already_read_are_used_for_the_commit(place):
    handle = small_hand.open_at(place, 0)
    covered = small_hand.read_keys(handle, ("k",), pa.table({"k": [1, 2]}))
    assert sorted(covered.rows.column("k").to_pylist()) == [1, 2]
    signed = change((1, 1.5, -1), (1, 2.5, 1))
    done = landed(
        small_hand.apply(handle, signed, key_columns=("k",), stamp=stamp(1), covered=covered)
    )
    assert (done.rows_inserted, done.rows_deleted) == (1, 1)


def test_settings_of_a_statement_do_not_stay(spark, place):
    merged(spark, place, change((1, 1.5, -1)), stamp(1))
    for name in stamp_settings(stamp(1)):
        assert spark.conf.get(name, None) is None


def test_rows_are_put_where_a_predicate_holds(spark, place):
    rows = from_arrow(spark, pa.table({"k": [1, 2], "v": [7.0, 8.0]}))
    done = spark_hand.replace_where(spark, rows, place, stamp(1), predicate="k IN (1, 2)")
    assert isinstance(done, Applied)
    wanted = pa.table({"k": [1, 2, 3], "v": [7.0, 8.0, None]})
    assert no_difference(wanted, by_spark(spark, place))


@pytest.mark.parametrize(
    ("sql", "condition"),
    [
        ("SELECT 1 / (id - id) AS x FROM range(3)", "DIVIDE_BY_ZERO"),
        (
            "SELECT CAST(id + 9223372036854775806 AS BIGINT) AS x FROM range(3)",
            "ARITHMETIC_OVERFLOW",
        ),
        ("SELECT CAST(concat('x', id) AS INT) AS x FROM range(3)", "CAST_INVALID_INPUT"),
        ("SELECT nothing FROM range(3)", "UNRESOLVED_COLUMN"),
    ],
)
def test_what_the_query_did_wrong_is_the_users_error(spark, tmp_path, sql, condition):
    with pytest.raises(QueryFailedError) as failure, spark_border():
        spark.sql(sql).write.format("delta").save(str(tmp_path / "t"))
    assert condition in failure.value.detail
    assert "\n" not in failure.value.detail
    assert " at org." not in failure.value.detail


def test_a_table_that_is_not_there_is_missing(spark, tmp_path):
    with pytest.raises(SourceMissingError), spark_border():
        spark.read.format("delta").load(str(tmp_path / "none")).toArrow()


def test_a_fetch_is_bounded(spark):
    whole = collect.fetch(spark.range(10), 10)
    assert whole is not None
    assert whole.num_rows == 10
    assert collect.fetch(spark.range(11), 10) is None


def test_a_full_refresh_may_change_the_schema(spark, place):
    rows = from_arrow(spark, pa.table({"k": [1], "other": ["x"]}))
    done = spark_hand.overwrite(spark, rows, place, stamp(1), key_columns=("k",))
    assert isinstance(done, Applied)
    assert by_spark(spark, place).column_names == ["k", "other"]
    names = [entry.table_id for entry in DeltaLog(place).entries(Version(-1), Version(head(place)))]
    assert len({name for name in names if name}) == 1
    last = entry_at(place, head(place))
    assert last.configuration["delta.dataSkippingStatsColumns"] == "k,other"


def test_a_single_row_that_does_not_change_stays(spark, tmp_path):
    folder = str(tmp_path / "one")
    one = pa.table({"k": pa.array([None], pa.int64()), "v": pa.array([0.5])})
    spark_hand.overwrite(spark, from_arrow(spark, one), folder, stamp(0), key_columns=())
    assert isinstance(merged(spark, folder, change(), stamp(1), key_columns=()), Applied)
    assert no_difference(by_spark(spark, folder), one)
