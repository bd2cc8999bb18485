"""Groups that are replaced in a stored table: those that are named change, and no others."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamtables.engine import key_predicate, small_hand
from streamtables.engine.outcomes import Applied, NotSmall
from streamtables.positions import CommitStamp, Frontier, InputId, RefreshId, Sequence, Version
from tests.support.bags import bag_of

deltalake = pytest.importorskip("deltalake")

NAN = float("nan")
KINDS: dict[str, tuple[pa.DataType, list]] = {
    "int": (pa.int32(), [1, 2, -3, None]),
    "string": (pa.string(), ["a", "b:c", "", None]),
    "date": (pa.date32(), [date(2024, 1, 1), date(2024, 1, 2), date(1969, 12, 31), None]),
    "decimal": (pa.decimal128(12, 2), [Decimal("1.50"), Decimal("2.00"), Decimal(0), None]),
    "timestamp": (
        pa.timestamp("us", "UTC"),
        [datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, 0, 0, 1, tzinfo=UTC), None],
    ),
    "double": (pa.float64(), [0.0, 1.5, NAN, None]),
    "boolean": (pa.bool_(), [True, False, None]),
    "binary": (pa.binary(), [b"", b"x\x00", None]),
}
STAMP = CommitStamp(
    InputId("t"),
    Sequence(2),
    RefreshId("r"),
    Frontier({InputId("s"): Version(2)}),
    Frontier({InputId("s"): Version(2)}),
    "differential",
    "hash",
)


@st.composite
def replacements(draw: st.DrawFn) -> tuple[pa.Schema, list, list, list]:
    """Some key columns, stored groups, and for some groups whether they stay, with which value."""
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=3))
    fields = [(f"k{n}", KINDS[kind][0]) for n, kind in enumerate(kinds)]
    key = st.tuples(*(st.sampled_from(range(len(KINDS[kind][1]))) for kind in kinds))
    places = draw(st.lists(key, min_size=1, max_size=12, unique=True))
    values = [tuple(KINDS[k][1][i] for k, i in zip(kinds, place, strict=True)) for place in places]
    stored = [value for value in values if draw(st.booleans())]
    touched = [value for value in values if draw(st.booleans())]
    kept = [value for value in touched if draw(st.booleans())]
    return pa.schema([*fields, ("n", pa.int64())]), stored, touched, kept


def rows(schema: pa.Schema, keys: list, number: int) -> pa.Table:
    columns = list(zip(*[(*key, number) for key in keys], strict=True)) or [()] * len(schema)
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema)


@given(replacements(), st.sampled_from([1, 20_000]), st.sampled_from([1, 20_000]))
def test_named_groups_are_replaced_and_no_others(replacement, listed_at_most, joined_from):
    schema, stored, touched, kept = replacement
    names = tuple(schema.names[:-1])
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(key_predicate, "KEYS_MAX", listed_at_most)
        # Found by a pass over the table and written by a join, or by a predicate.
        patch.setattr(small_hand, "LISTED_MAX", joined_from)
        patch.setattr(small_hand, "MERGED_FROM", joined_from)
        place = str(Path(folder) / "t")
        deltalake.write_deltalake(place, rows(schema, stored, 1))
        handle = small_hand.open_at(place, 0)
        keys = rows(schema, touched, 0).select(list(names))
        try:
            covered = small_hand.read_keys(handle, names, keys)
            new = rows(schema, kept, 2)
            change = small_hand.change_of_groups(handle, covered, new)
            done = small_hand.apply(handle, change, key_columns=names, stamp=STAMP, covered=covered)
        except NotSmall:
            # Nothing was written, and Spark takes over.
            return
        assert isinstance(done, Applied)
        found = deltalake.DeltaTable(place).to_pyarrow_table()
    images = [image(key) for key in touched]
    expected = [(*key, 1) for key in stored if image(key) not in images]
    expected += [(*key, 2) for key in kept]
    assert bag_of(zip(*found.to_pydict().values(), strict=True)) == bag_of(expected)


def image(key: tuple[object, ...]) -> tuple[object, ...]:
    return tuple("nan" if value != value else value for value in key)
