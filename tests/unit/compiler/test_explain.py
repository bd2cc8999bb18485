"""Explain says how each part is kept, and why."""

from __future__ import annotations

import json

import pytest

from streamtables.compiler.algebra import node
from streamtables.compiler.explain import explain_data, plan_tree
from tests.unit.compiler.tables import compiled

REVENUE = """SELECT name, sum(amount) AS total
FROM orders JOIN customers ON customer = customers.id WHERE amount > 0 GROUP BY name"""


def test_the_text_shows_output_key_form_operators_and_delta():
    text = compiled(REVENUE).explain()
    assert "output    name string, total decimal(20,2)" in text
    assert "key       name" in text
    assert "kept by   stored state: every aggregate at the root follows from sums" in text
    assert "reads     orders, customers" in text
    assert "InnerJoin customer = id_2  [multilinear]" in text
    assert "delta SQL\n  WITH" in text


def test_the_tree_has_one_operator_per_line_with_its_kind():
    assert plan_tree(compiled("SELECT DISTINCT note FROM orders WHERE id > 1").definition) == (
        "Project note_2 as note  [linear]\n"
        "  Distinct  [keyed]\n"
        "    Project note as note_2  [linear]\n"
        "      Filter id > 1  [linear]\n"
        "        Scan orders (id, note)  [linear]"
    )


def test_a_shared_part_is_written_once():
    sql = "WITH w AS (SELECT customer, count(*) AS n FROM orders GROUP BY customer) "
    tree = plan_tree(compiled(sql + "SELECT a.n FROM w a JOIN w b ON a.n = b.n").definition)
    assert tree.count("Aggregate") == 1
    assert "(#1)" in tree
    assert "\n    #1" in tree.replace("      #1", "    #1")


@pytest.mark.parametrize(
    ("sql", "form", "reason"),
    [
        ("SELECT id FROM orders", "signed-rows", "no aggregate or DISTINCT stands at the root"),
        (
            "SELECT max(id) AS m FROM orders",
            "stored-state",
            "groups whose state does not tell them",
        ),
        (
            "SELECT max(score) AS m FROM customers",
            "touched-groups",
            '"max" of double looks at all rows',
        ),
        ("SELECT sum(score) AS s FROM customers", "touched-groups", '"sum" of double has no exact'),
        ("SELECT count(DISTINCT id) AS s FROM orders", "touched-groups", '"count" of DISTINCT'),
        ("SELECT id FROM orders GROUP BY id HAVING id > 1", "touched-groups", "hides some groups"),
        ("SELECT count(*) AS n FROM orders", "stored-state", "sums and counts"),
    ],
)
def test_the_form_of_maintenance_has_a_reason(sql: str, form: str, reason: str):
    data = explain_data(compiled(sql))
    assert data["form"] == form
    assert reason in str(data["form_reason"])


def test_the_data_can_be_json_and_says_the_same():
    data = json.loads(json.dumps(explain_data(compiled(REVENUE))))
    assert data["incremental"] is True
    assert data["key"] == ["name"]
    assert data["output"][0] == {"name": "name", "type": "string"}
    assert [item["operator"] for item in data["operators"]][:2] == ["Project", "Aggregate"]
    assert data["columns_read"]["orders"] == ["customer", "amount"]
    assert "__st_rows" in data["stored_columns"]


def test_a_refusal_is_shown_with_its_caret():
    plan = compiled("SELECT id,\n  rand() AS r\nFROM orders")
    assert "refused[ST-1201]: the query cannot be maintained" in plan.explain()
    assert "    rand() AS r\n    ^^^^" in plan.explain()
    assert "kept by   full refreshes" in plan.explain()
    (refusal,) = json.loads(json.dumps(explain_data(plan)))["refusals"]
    assert (refusal["line"], refusal["column"]) == (2, 3)


def test_notes_are_shown():
    assert "note: ORDER BY without LIMIT" in compiled("SELECT id FROM orders ORDER BY id").explain()


def test_a_delta_that_gives_up_its_rules_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(node, "FORMS_AT_MOST", 3)
    plan = compiled(
        "SELECT id FROM orders WHERE EXISTS (SELECT 1 FROM customers WHERE customer = id)"
    )
    assert "before and after, and subtracted" in plan.explain()
