"""Columns that keep their name and become others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streamtables.engine.column_identity import moved_columns
from streamtables.errors import HistoryGoneError
from streamtables.positions import Version


def _commit(place: Path, version: int, **columns: tuple[str, str] | str) -> None:
    """Write one entry; each column is a type, or a physical name and a type."""
    fields = []
    for name, column in columns.items():
        physical, kind = (column, None) if isinstance(column, str) else column
        metadata = {} if kind is None else {"delta.columnMapping.physicalName": physical}
        fields.append({"name": name, "type": kind or physical, "metadata": metadata})
    action: dict[str, dict[str, object]] = {
        "metaData": {"id": "t", "schemaString": json.dumps({"fields": fields})}
    }
    if not columns:
        action = {"add": {"path": "f", "dataChange": True}}
    log = place / "_delta_log"
    log.mkdir(exist_ok=True)
    (log / f"{version:020d}.json").write_text(json.dumps(action), encoding="utf-8")


def _moved(place: Path, after: int, upto: int, *columns: str) -> tuple[str, ...]:
    return moved_columns(str(place), Version(after), Version(upto), columns)


def test_rows_that_change_move_no_column(tmp_path: Path) -> None:
    _commit(tmp_path, 0, a="long")
    _commit(tmp_path, 1)
    assert _moved(tmp_path, 0, 1, "a") == ()


def test_two_columns_that_exchange_their_names_are_others(tmp_path: Path) -> None:
    _commit(tmp_path, 0, a=("p1", "long"), B=("p2", "long"), c=("p3", "long"))
    _commit(tmp_path, 1)
    _commit(tmp_path, 2, a=("p2", "long"), B=("p1", "long"), c=("p3", "long"))
    assert _moved(tmp_path, 1, 2, "a", "B", "c") == ("a", "b")
    assert _moved(tmp_path, 1, 2, "c") == ()


def test_mapping_that_is_switched_on_moves_nothing(tmp_path: Path) -> None:
    _commit(tmp_path, 0, a="long")
    _commit(tmp_path, 1, a=("a", "long"), new=("p9", "string"))
    assert _moved(tmp_path, 0, 1, "a") == ()


def test_another_type_is_another_column(tmp_path: Path) -> None:
    _commit(tmp_path, 0, a="integer")
    _commit(tmp_path, 1, a="string")
    assert _moved(tmp_path, 0, 1, "a") == ("a",)


def test_a_schema_that_nobody_knows_any_more_counts_as_another(tmp_path: Path) -> None:
    _commit(tmp_path, 1)
    _commit(tmp_path, 2, a="long")
    assert _moved(tmp_path, 1, 2, "a") == ("a",)
    with pytest.raises(HistoryGoneError):
        _moved(tmp_path, 0, 4, "a")
