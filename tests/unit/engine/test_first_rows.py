"""When stored rows and changed ones tell the first rows of all."""

from __future__ import annotations

import pyarrow as pa
import pytest

from streamtables.compiler.maintenance import PLACE
from streamtables.engine.first_rows import first_of

STORED = pa.table({"id": [1, 2], "x": [0.0, None]})


def candidates(*rows: tuple[int, float | None]) -> pa.Table:
    places = pa.array(range(1, len(rows) + 1), pa.int32())
    return pa.table(
        {
            "id": pa.array([row[0] for row in rows], pa.int64()),
            "x": pa.array([row[1] for row in rows], pa.float64()),
            PLACE: places,
        }
    )


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([(1, 0.0), (2, None)], [1, 2]),
        ([(3, 1.0), (1, 0.0), (2, None)], [3, 1]),
        ([(3, 1.0), (2, None)], [3, 2]),
        ([(3, 1.0), (4, 1.0), (2, None)], [3, 4]),
        ([(1, 0.0), (3, 1.0)], None),
        ([(3, 1.0), (4, 1.0)], None),
        ([(1, 0.0)], None),
        ([], None),
    ],
)
def test_a_stored_row_that_is_still_there_stands_at_the_limit_or_behind(
    rows: list[tuple[int, float | None]], told: list[int] | None
) -> None:
    found = first_of(candidates(*rows), STORED, 2)
    assert (None if found is None else found.column("id").to_pylist()) == told


def test_a_row_is_the_stored_one_only_to_the_byte() -> None:
    assert first_of(candidates((2, None), (1, -0.0)), STORED, 2) is None


def test_fewer_stored_rows_than_the_limit_are_all_there_were() -> None:
    found = first_of(candidates((3, 1.0)), STORED, 3)
    assert found is not None
    assert found.column_names == ["id", "x"]
    assert found.num_rows == 1
    nothing = first_of(candidates((3, 1.0)), STORED.slice(0, 0), 0)
    assert nothing is not None
    assert nothing.num_rows == 0
