"""The benchmark of fifteen tables: its views follow changes, and its figures are ratios."""

from __future__ import annotations

import pyarrow as pa
import pytest

from benchmarks import second_process, second_process_report
from benchmarks.medallion import _options
from benchmarks.medallion_report import bars, section
from benchmarks.medallion_sides import SIDES, rotated
from benchmarks.medallion_sources import TABLES, fifths, nullable
from benchmarks.medallion_views import BRONZE, GOLD, SILVER, VIEWS
from streamtables.compiler.plan import compile_sql

SOURCES = {
    "customers": {
        "customer_id": "bigint",
        "name": "string",
        "country": "string",
        "segment": "string",
    },
    "products": {"product_id": "bigint", "category": "string", "list_price": "decimal(10,2)"},
    "stores": {"store_id": "bigint", "region": "string"},
    "orders": {
        "order_id": "bigint",
        "customer_id": "bigint",
        "store_id": "bigint",
        "ordered_on": "date",
        "status": "string",
    },
    "order_lines": {
        "line_id": "bigint",
        "order_id": "bigint",
        "product_id": "bigint",
        "quantity": "int",
        "price": "decimal(10,2)",
    },
}
RESULTS = {
    "rows": 5_000,
    "changed_rows": 63,
    "rounds": 3,
    "median_seconds": {"auto": 2.0, "full": 9.0, "overwrite": 5.0},
    "wrong": [],
}


def test_five_six_and_four_views_follow_changes_each_on_those_before_it():
    assert [len(layer) for layer in (BRONZE, SILVER, GOLD)] == [5, 6, 4]
    known = {name: dict(columns) for name, columns in SOURCES.items()}
    keys = {table.name: [table.key] for table in TABLES}
    for name, query in VIEWS.items():
        plan = compile_sql(query, known, keys)
        assert plan.incremental, (name, plan.refusals)
        known[name] = {column: str(type_) for column, type_ in plan.output}
    assert len(known) == len(SOURCES) + 15


def test_every_source_has_rows_at_every_size_and_its_key():
    assert {table.name for table in TABLES} == SOURCES.keys()
    for table in TABLES:
        assert table.key == next(iter(SOURCES[table.name]))
        assert table.rows(1) >= 20
    assert {table.name: table.rows(1_000_000) for table in TABLES}["orders"] == 250_000


@pytest.mark.parametrize(("count", "parts"), [(1, (1, 0, 0)), (2, (1, 0, 1)), (10, (6, 2, 2))])
def test_changed_rows_are_updated_deleted_and_new(count: int, parts: tuple[int, int, int]):
    assert fifths(count) == parts
    assert sum(parts) == count


def test_every_side_comes_first_in_turn():
    firsts = [rotated(number)[0] for number in range(-1, 3)]
    assert set(firsts) == set(SIDES)
    assert all(sorted(rotated(number)) == sorted(SIDES) for number in range(3))


def test_columns_may_be_null_as_in_the_table_that_spark_made():
    field = pa.field("a", pa.int64(), nullable=False)
    rows = pa.table([pa.array([1])], schema=pa.schema([field]))
    assert nullable(rows).schema.field("a").nullable


def test_ratios_are_shown_and_a_wrong_table_is_wrong():
    assert [bar.found for bar in bars(RESULTS)] == ["4.50×", "2.50×", "yes"]
    *_, last = bars({**RESULTS, "wrong": ["gold_customers (auto)"]})
    assert last.verdict == "WRONG"
    told = section({**RESULTS, "wrong": ["gold_customers (auto)"]}).lines
    assert "Tables that differ from their query: gold_customers (auto)." in told


def test_a_process_that_parsed_what_was_kept_is_wrong():
    items = [
        {"seconds": s, "parse_count": n, "differentiate_count": 0} for s, n in [(1, 0), (3, 2)]
    ]
    kept = second_process._summed(items)
    assert kept["parse_count"] == 2, "the worst process counts"
    found = second_process_report.bars({"kept": kept, "cleared": {"median_seconds": 4.0}})
    assert [bar.verdict for bar in found] == ["WRONG", "met", "shown"]


def test_options_have_sizes():
    assert _options(["--rows", "5_000", "--no-page"]).rows == 5_000
    assert second_process._options(["--rounds", "2"]).rounds == 2
