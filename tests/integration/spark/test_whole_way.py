"""The query computed whole and compared with the stored rows: the same rows, one small commit."""

from __future__ import annotations

import pytest

from streamtables.api import StreamTables
from streamtables.refresh import choosing
from streamtables.refresh.decide import Decision, Facts, decide
from streamtables.refresh.results import Reason
from tests.support.shop import QUERIES, Shop, change
from tests.support.spark_oracle import refreshed


@pytest.fixture(autouse=True)
def whole_where_there_is_a_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    def chosen(facts: Facts) -> Decision:
        decision = decide(facts)
        if decision.mode == "full" or not facts.small:
            return decision
        return Decision("whole", Reason("whole-was-faster", "as the test wants it"))

    monkeypatch.setattr(choosing, "decide", chosen)


@pytest.mark.parametrize("query", QUERIES.values(), ids=QUERIES)
def test_the_table_follows_its_query(db: StreamTables, shop: Shop, query: str) -> None:
    db.create("t", query, mode="differential")
    refreshed(db, "t")
    change(shop)
    result = refreshed(db, "t")
    assert (result.mode, result.outcome) == ("differential", "applied")
    assert result.reason.code == "whole-was-faster"
    shop.orders.delete("id > 0")
    assert refreshed(db, "t").mode in ("differential", "no-change")


def test_a_reader_sees_only_what_differs(db: StreamTables, shop: Shop) -> None:
    db.create("copy", "SELECT id, amount FROM orders", mode="differential")
    db.create("total", "SELECT sum(amount) AS total FROM copy", mode="differential")
    db.refresh("total")
    shop.orders.delete("id = 1")
    result = refreshed(db, "copy")
    assert (result.rows_inserted, result.rows_deleted) == (0, 1)
    refreshed(db, "total")
