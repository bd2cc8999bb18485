"""What the tests of the two hands share: rows of every type, stamps, comparisons as bags."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa

from streamtables.engine import arrow_rows, change_feed, small_hand
from streamtables.engine.arrow_types import for_spark
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.log_entry import LogEntry
from streamtables.engine.names import WEIGHT, without_ordinals
from streamtables.engine.outcomes import Applied, Superseded
from streamtables.positions import CommitStamp, Frontier, InputId, RefreshId, Sequence, Version

NAN, INF = float("nan"), float("inf")
TABLE = InputId("11111111-2222-3333-4444-555555555555")

VALUES = pa.schema(
    [
        ("dec", pa.decimal128(38, 18)),
        ("ts", pa.timestamp("us", "UTC")),
        ("ntz", pa.timestamp("us")),
        ("day", pa.date32()),
        ("st", pa.struct([("a", pa.int32()), ("f", pa.float64())])),
        ("ar", pa.list_(pa.float64())),
        ("ma", pa.map_(pa.string(), pa.int32())),
        ("bin", pa.binary()),
        ("f4", pa.float32()),
        ("f8", pa.float64()),
        ("flag", pa.bool_()),
        ("O'd-é", pa.string()),
    ]
)
# Spark rewrites a map in the order of its entries, so equal maps come in both orders.
SAMPLES: tuple[tuple[object, ...], ...] = (
    (
        Decimal("12345678901234567890.123456789012345678"),
        datetime(2024, 3, 10, 2, 30, 0, 123456, tzinfo=UTC),
        datetime.fromisoformat("1582-10-04T23:59:59.999999"),
        date(9999, 12, 31),
        {"a": 1, "f": -0.0},
        [1.0, None, NAN],
        [("b", 2), ("a", 1)],
        b"\x00\xff'",
        0.1,
        -0.0,
        True,
        'it\'s a \\ "test"\n`x`',
    ),
    (
        Decimal("-0.000000000000000001"),
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        datetime.fromisoformat("2024-02-29T00:00:00"),
        date(1969, 12, 31),
        {"a": None, "f": NAN},
        [],
        [],
        b"",
        NAN,
        0.0,
        False,
        "",
    ),
    (
        Decimal(0),
        datetime(1900, 1, 1, tzinfo=UTC),
        datetime.fromisoformat("9999-12-31T23:59:59"),
        date(1900, 1, 1),
        {"a": -5, "f": INF},
        [-0.0, 0.0],
        [("é", None)],
        b"abc",
        -INF,
        NAN,
        None,
        "🎉 Zürich",
    ),
    (None,) * len(VALUES),
)


def stamp(sequence: int, *, refresh: str | None = None) -> CommitStamp:
    frontier = Frontier({InputId("root"): Version(sequence)})
    refresh_id = RefreshId(refresh or f"refresh-{sequence}")
    return CommitStamp(
        TABLE, Sequence(sequence), refresh_id, frontier, frontier, "differential", "hash"
    )


def rows_of(samples: list[int], **keys: pa.Array) -> pa.Table:
    """Return rows with the given key columns and the samples' values."""
    columns = {
        field.name: pa.array([SAMPLES[i][n] for i in samples], field.type)
        for n, field in enumerate(VALUES)
    }
    return pa.table({**keys, **columns})


def signed(*parts: tuple[int, pa.Table]) -> pa.Table:
    """Return a signed change made of (weight, rows)."""
    return pa.concat_tables([arrow_rows.with_weight(rows, weight) for weight, rows in parts])


def no_difference(left: pa.Table, right: pa.Table) -> bool:
    """Whether two tables hold the same rows the same number of times."""
    columns = without_ordinals(left.column_names)
    assert columns == without_ordinals(right.column_names)
    narrow = right.select(list(columns)).cast(left.select(list(columns)).schema)
    both = signed((1, left.select(list(columns))), (-1, narrow))
    return arrow_rows.net(both, columns).num_rows == 0


def by_spark(spark, location: Path | str, version: int | None = None) -> pa.Table:
    reader = spark.read.format("delta")
    if version is not None:
        reader = reader.option("versionAsOf", version)
    return for_spark(reader.load(str(location)).toArrow())


def by_deltalake(location: Path | str, version: int) -> pa.Table:
    handle = small_hand.open_at(str(location), version)
    return for_spark(small_hand.read_keys(handle, (), pa.table({})).rows)


def feeds(spark, location: Path | str, after: int, upto: int, columns: list[str]) -> list[pa.Table]:
    """Return the net change feed, as deltalake and as Spark read it."""
    small = change_feed.read_small(
        str(location), Version(after), Version(upto), columns=columns, limit=100_000
    )
    large = change_feed.read_spark(spark, str(location), Version(after), Version(upto), columns)
    assert isinstance(small, pa.Table), small
    return [small, for_spark(large.toArrow())]


def same_change(left: pa.Table, right: pa.Table) -> bool:
    """Whether two netted changes are the same rows with the same weights."""
    columns = [name for name in left.column_names if name != WEIGHT]
    negated = right.select(columns).cast(left.select(columns).schema)
    weights = pa.array([-w for w in right.column(WEIGHT).to_pylist()], pa.int64())
    both = pa.concat_tables([left, negated.append_column(WEIGHT, weights)])
    return arrow_rows.net(both, columns).num_rows == 0


def head(location: Path | str) -> int:
    version = DeltaLog(str(location)).head()
    assert version is not None
    return version


def entry_at(location: Path | str, version: int) -> LogEntry:
    entry = DeltaLog(str(location)).entry(Version(version))
    assert entry is not None
    return entry


def landed(outcome: Applied | Superseded) -> Applied:
    assert isinstance(outcome, Applied)
    return outcome
