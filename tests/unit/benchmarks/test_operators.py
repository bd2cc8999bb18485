"""The benchmark of all operators: its shapes follow changes, its tables change, its page is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import DeltaTable

from benchmarks.operator_report import lines, summary
from benchmarks.operator_shapes import SHAPES
from benchmarks.operator_tables import KEYS, OperatorTables
from benchmarks.pages import write_page
from benchmarks.twins import Measurements
from streamtables.compiler.plan import compile_sql

TABLES = {
    "sales": {
        "id": "bigint",
        "store": "bigint",
        "product": "bigint",
        "amount": "decimal(12,2)",
        "status": "string",
        "at": "timestamp",
    },
    "products": {
        "product_id": "bigint",
        "supplier_id": "bigint",
        "category": "bigint",
        "price": "decimal(12,2)",
    },
    "suppliers": {"supplier_id": "bigint", "country": "bigint", "parent_id": "bigint"},
}


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_follows_changes(name: str):
    plan = compile_sql(SHAPES[name], TABLES, {table: [key] for table, key in KEYS.items()})
    assert plan.incremental, plan.refusals


def test_a_change_updates_deletes_and_inserts_rows_of_every_table(tmp_path: Path):
    tables = OperatorTables(tmp_path, rows=2_000)
    tables.make()
    tables.change(100)
    for source in tables.sources:
        table = DeltaTable(str(source.path))
        assert {field.name for field in table.schema().fields} == set(TABLES[source.name])
        done = table.history(1)[0]["operationMetrics"]
        changed = 100 if source.name == "sales" else 10
        fifths = (changed * 3 // 5, changed // 5, changed // 5)
        kinds = ("updated", "deleted", "inserted")
        assert tuple(done[f"num_target_rows_{kind}"] for kind in kinds) == fifths


def _item(name: str, full: float, differential: float) -> dict[str, object]:
    item = Measurements(name, "SELECT 1", form="signed-rows", full=[full])
    item.differential, item.rows_changed = [differential], [7]
    return item.data()


def test_the_summary_names_the_slowest_and_the_middle():
    items = [_item("lag", 3.0, 1.0), _item("scalar", 1.0, 2.0), _item("union", 2.0, 1.0)]
    assert summary(items) == "Slowest: 0.50× (scalar); median 2.0×; 1 of 3 below 1.1×."


def test_the_table_goes_between_the_markers_of_the_page(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("above\n<!-- X -->\nold\n<!-- /X -->\nbelow\n", encoding="utf-8")
    machine = {"cores": 2, "processor": "p", "memory_gb": 8, "load_before": 0, "pyspark": "4"}
    results = {"rounds": 1, "source_rows": 10, "changes": 1, "machine": machine, "verified": True}
    write_page(lines({**results, "items": [_item("lag", 3.0, 1.0)]}), page, "X")
    text = page.read_text(encoding="utf-8")
    assert "old" not in text
    assert "| lag | linear | signed rows | 3.00 | 1.00 | 3.00 | – | 7 |" in text
    assert text.startswith("above\n<!-- X -->\nMedian seconds")
    assert text.endswith("<!-- /X -->\nbelow\n")
