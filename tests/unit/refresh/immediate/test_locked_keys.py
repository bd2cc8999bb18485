"""The same key is the same lock, however it was spelled."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from streamtables.engine import small_hand
from streamtables.refresh.immediate.batch import Batch
from streamtables.refresh.immediate.locking import key_locks
from tests.support.delta_tables import DeltaTableFile


@pytest.mark.parametrize(
    ("column", "spellings"),
    [
        ("id", [7, "7", Decimal("7")]),
        ("price", [Decimal("7.5"), Decimal("7.50"), "7.5"]),
        ("day", ["2030-01-31"]),
    ],
)
def test_a_key_has_one_image(tmp_path: Path, column: str, spellings: list[object]) -> None:
    columns = {"id": "bigint", "price": "decimal(12,2)", "day": "date"}
    table = DeltaTableFile(tmp_path / "t", columns)
    handle = small_hand.open_at(str(table.path), 0)
    images = set()
    for value in spellings:
        keys = Batch([{column: value}], list(columns), [column]).keys(handle)
        assert keys is not None
        found = key_locks("t", keys, [column])
        assert found is not None
        images |= found
    assert len(images) == 1
    other = Batch([{column: None}], list(columns), [column]).keys(handle)
    assert other is not None
    assert key_locks("t", other, [column]) != images
