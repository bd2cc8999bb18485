"""The statements of trigger capture, as text."""

from __future__ import annotations

import re

import pytest

from streamtables.sources.postgres.buffer_columns import BufferColumn, Captured
from streamtables.sources.postgres.buffer_marks import Mark, Marks, judge
from streamtables.sources.postgres.capture_sql import capture
from streamtables.sources.postgres.trigger_sql import create_buffer, create_function, create_trigger


def table(*columns: BufferColumn, key: tuple[str, ...] = ("id",)) -> Captured:
    return Captured("0a1b2c3d", 4711, (BufferColumn("id", "int4"), *columns), key)


def test_values_of_types_that_are_not_the_servers_own_are_stored_as_text():
    made = create_buffer(table(BufferColumn("feels", "mood", own_type=True))).as_string(None)
    assert '"feels" "pg_catalog"."text"' in made
    assert '"id" "pg_catalog"."int4"' in made


def test_a_buffer_has_wide_columns_first_and_those_of_many_lengths_last():
    source = (
        BufferColumn("name", "text"),
        BufferColumn("small", "int2", aligned=2),
        BufferColumn("large", "int8", aligned=8),
        BufferColumn("feels", "mood", own_type=True, aligned=4),
    )
    made = create_buffer(table(*source)).as_string(None)
    names = re.findall(r'^    "?(\w+)', made, re.MULTILINE)
    assert names == [
        *("__st_seq", "__st_xid", "__st_at", "large"),
        *("__st_relation", "small", "__st_action"),
        *("__st_changed", "id", "name", "feels"),
    ]


def test_texts_are_compared_by_their_bytes_whatever_their_collation():
    said = BufferColumn("name", "text").differs.as_string(None)
    assert said == 'o."name" COLLATE "C" IS DISTINCT FROM n."name" COLLATE "C"'


@pytest.mark.parametrize("name", ["json", "xml", "point", "circle", "interval", "jsonb", "_int4"])
def test_types_whose_equality_is_not_sameness_are_compared_by_their_image(name: str):
    said = BufferColumn("v", name).differs.as_string(None)
    assert said == 'record_image_ne(ROW(o."v"), ROW(n."v"))'


def test_the_mask_of_a_wide_table_is_put_together_from_several_numbers():
    wide = table(*(BufferColumn(f"c{n}", "int4") for n in range(130)))
    made = capture(wide, "update").as_string(None)
    assert re.findall(r"::bit\((\d+)\)", made) == ["60", "60", "11"]


def test_a_table_without_a_key_has_no_mask():
    made = capture(table(key=()), "update").as_string(None)
    assert "NULL::varbit AS mask" in made
    assert "::bit(" not in made


def test_functions_run_as_their_owner_on_a_path_of_the_servers_own_names():
    made = create_function(table(), "insert").as_string(None)
    assert "SECURITY DEFINER SET \"search_path\" = 'pg_catalog', 'pg_temp' AS" in made


def test_functions_fix_the_form_of_texts_only_where_they_store_texts():
    own = table(BufferColumn("feels", "mood", own_type=True))
    assert "DateStyle" in create_function(own, "delete").as_string(None)
    assert "DateStyle" not in create_function(table(), "delete").as_string(None)


def test_a_trigger_carries_the_shape_of_its_relation():
    relation = table().buffer
    made = create_trigger(table(), "truncate", relation, (-5, 3)).as_string(None)
    assert "('-5', '3')" in made
    assert "REFERENCING" not in made


@pytest.mark.parametrize(
    ("marks", "whole", "expected"),
    [
        ([Mark(5, "T", 1)], 1, Marks(cleared_at=5)),
        ([Mark(5, "T", 1), Mark(6, "T", 2), Mark(7, "T", 3)], 1, Marks(cleared_at=7)),
        ([Mark(5, "T", 2), Mark(9, "T", 1)], 1, Marks(cleared_at=9)),
    ],
)
def test_a_table_that_was_emptied_counts_with_its_partitions(
    marks: list[Mark], whole: int, expected: Marks
):
    assert judge(marks, whole) == expected


@pytest.mark.parametrize(
    ("marks", "whole"),
    [
        ([Mark(5, "X", 1)], 1),
        ([Mark(5, "X", 1), Mark(6, "T", 1)], 1),
        ([Mark(5, "T", 2)], 1),
        ([Mark(5, "T", 1), Mark(7, "T", 2)], 1),
        ([Mark(5, "T", 1)], None),
    ],
)
def test_marks_that_rows_do_not_explain_ask_for_a_copy(marks: list[Mark], whole: int | None):
    assert judge(marks, whole).unexplained
