"""What a change of one table costs, and that the class is true of the program that runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtables.compiler.explaining.complexity import cost_of_change
from tests.golden.golden import Golden
from tests.unit.compiler.tables import compiled

# A recursion counts as large whatever it starts from, and its class says more than that.
GOLDEN = [
    path
    for path in sorted((Path(__file__).parents[2] / "golden").rglob("*.sql"))
    if path.parent.name != "recursion" and path.stem != "refused"
]

ROWS = "O(changed rows)"
MATCHES = "O(changed rows × matches)"
LOST = "O(lost groups)"
GROUPS = "O(touched groups)"
PARTITIONS = "O(touched partitions)"
PAIRS = "O(changed rows × rows)"
WHOLE = "O(whole)"


@pytest.mark.parametrize(
    ("sql", "orders"),
    [
        ("SELECT id FROM orders WHERE amount > 1", ROWS),
        ("SELECT count(*) AS n FROM orders", ROWS),
        ("SELECT DISTINCT note FROM orders", ROWS),
        ("SELECT orders.id FROM orders JOIN customers c ON customer = c.id", ROWS),
        ("SELECT orders.id FROM orders JOIN customers c ON note = name", MATCHES),
        (
            "SELECT c.id, orders.id AS o FROM customers c LEFT JOIN orders ON customer = c.id",
            MATCHES,
        ),
        ("SELECT note, max(double(id)) AS m FROM orders GROUP BY note", GROUPS),
        ("SELECT note, max(id) AS m FROM orders GROUP BY note", LOST),
        ("SELECT max(id) AS m FROM orders", LOST),
        ("SELECT id, rank() OVER (PARTITION BY note ORDER BY id) AS r FROM orders", PARTITIONS),
        ("SELECT orders.id FROM orders JOIN customers c ON customer < c.id", PAIRS),
        ("SELECT id, rank() OVER (ORDER BY amount) AS r FROM orders", WHOLE),
        ("SELECT id FROM orders ORDER BY amount LIMIT 3", LOST),
        ("SELECT id FROM orders ORDER BY amount LIMIT 3 OFFSET 1", WHOLE),
        ("SELECT max(double(id)) AS m FROM orders", WHOLE),
    ],
)
def test_the_worst_operator_on_the_way_decides(sql: str, orders: str):
    assert cost_of_change(compiled(sql).maintenance, "orders").cost == orders


def test_each_table_has_its_own_class():
    kept = compiled("SELECT o.id FROM orders o JOIN customers c ON customer = c.id").maintenance
    assert cost_of_change(kept, "orders").cost == ROWS
    assert cost_of_change(kept, "customers").cost == MATCHES
    assert "InnerJoin customer = id_2" in cost_of_change(kept, "customers").reason


def test_a_table_of_which_nothing_is_read_costs_nothing():
    sql = """SELECT o.id FROM orders o
    LEFT JOIN (SELECT id, count(*) AS n FROM customers GROUP BY id) c ON customer = c.id"""
    plan = compiled(sql)
    assert plan.tables == ("orders", "customers")
    assert cost_of_change(plan.maintenance, "customers").cost == "nothing"


def test_a_recursion_costs_what_it_walks():
    sql = """WITH RECURSIVE up AS (SELECT id, 1 AS depth FROM customers
    UNION ALL SELECT id, depth + 1 FROM up WHERE depth < 3) SELECT id, depth FROM up"""
    assert cost_of_change(compiled(sql).maintenance, "customers").cost == MATCHES


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_class_agrees_with_the_program(path: Path):
    """A program that computes with whole tables has the class that says so."""
    plan = Golden.read(path).plan()
    for table in plan.tables:
        program = plan.maintenance.restricted_to(frozenset({table}), small=True).answer
        whole = cost_of_change(plan.maintenance, table).cost == WHOLE
        assert whole or not program.large, table
