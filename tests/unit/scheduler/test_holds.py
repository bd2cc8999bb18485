"""Why a table that is due does not start."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from streamtables.catalog.scheduler_models import (
    EVERYTHING,
    Pause,
    Rules,
    SourceGate,
    SourceGroup,
    namespace_scope,
)
from streamtables.positions import InputId
from streamtables.scheduler.holds import Standstill, held_back, namespace_of
from streamtables.scheduler.options import TableOptions
from streamtables.scheduler.windows import parse_windows
from tests.unit.catalog.builders import START, at, stream_table

ORDERS, LINES = InputId("orders-id"), InputId("lines-id")
NAMES = {ORDERS: "orders", LINES: "lines"}


def facts(**changes: Any) -> Standstill:
    values: dict[str, Any] = {
        "table": stream_table("sales.revenue"),
        "options": TableOptions(),
        "roots": frozenset({ORDERS, LINES}),
        "ancestors": (),
        "not_before": {},
    }
    return Standstill(**{**values, **changes})


def hold(
    known: Standstill,
    rules: Rules | None = None,
    now: datetime = START,
    watermarks: dict[InputId, datetime] | None = None,
):
    return held_back(known, rules or Rules(), NAMES, lambda: watermarks or {}, now)


def test_nothing_holds_an_ordinary_table_back():
    assert hold(facts()) is None


@pytest.mark.parametrize("state", ["paused", "suspended", "damaged"])
def test_a_stopped_table_waits_with_its_reason(state: str):
    found = hold(facts(table=stream_table("t", state=state, state_reason="somebody said so")))
    assert found is not None
    assert (found.kind, found.text) == (state, "somebody said so")


def test_a_table_to_be_rebuilt_does_not_wait():
    assert hold(facts(table=stream_table("t", state="needs-rebuild"))) is None


@pytest.mark.parametrize("scope", [EVERYTHING, namespace_scope("Sales")])
def test_a_pause_of_all_or_of_its_namespace_holds_a_table(scope: str):
    found = hold(facts(), Rules(pauses={scope: Pause(scope, "month end", START)}))
    assert found is not None
    assert found.kind == "paused"
    assert "month end" in found.text


def test_a_pause_of_another_namespace_does_not():
    scope = namespace_scope("finance")
    assert hold(facts(), Rules(pauses={scope: Pause(scope, "month end", START)})) is None


def test_a_table_waits_for_what_it_reads():
    above = stream_table("base", state="suspended", state_reason="three failures")
    found = hold(facts(ancestors=(above,)))
    assert found is not None
    assert (found.kind, found.text) == ("upstream", '"base", which it reads, waits: three failures')


def test_a_table_waits_while_what_it_reads_backs_off():
    above = stream_table("base")
    waiting = facts(ancestors=(above,), not_before={above.id: at(1)})
    found = hold(waiting)
    assert found is not None
    assert (found.kind, found.until) == ("upstream", at(1))
    assert hold(waiting, now=at(1)) is None


def test_a_closed_gate_holds_what_stands_on_the_source():
    rules = Rules(gates={ORDERS: SourceGate(ORDERS, "the load runs", START)})
    found = hold(facts(), rules)
    assert found is not None
    assert found.text == 'the gate of source "orders" is closed: the load runs'
    assert hold(facts(roots=frozenset({LINES})), rules) is None


def test_watermarks_are_asked_for_only_by_a_group_that_concerns_the_table():
    rules = Rules(groups=(SourceGroup("shop", (ORDERS, LINES), 60.0),))
    found = hold(facts(), rules, watermarks={ORDERS: at(0), LINES: at(5)})
    assert found is not None
    assert found.kind == "watermark"
    assert '"orders"' in found.text
    assert hold(facts(), rules, watermarks={ORDERS: at(5), LINES: at(5)}) is None

    def never() -> dict[InputId, datetime]:
        raise AssertionError

    alone = facts(roots=frozenset({ORDERS}))
    assert held_back(alone, rules, NAMES, never, START) is None


def test_a_group_with_a_time_holds_a_table_of_one_source_too():
    rules = Rules(groups=(SourceGroup("close", (ORDERS, LINES), 60.0, at(3)),))
    alone = facts(roots=frozenset({ORDERS}))
    found = hold(alone, rules, watermarks={ORDERS: at(2)})
    assert found is not None
    assert found.kind == "watermark"
    assert "is waited for" in found.text
    assert hold(alone, rules, watermarks={ORDERS: at(3)}) is None


def test_a_blackout_window_holds_until_it_ends():
    window = parse_windows("daily 00:00-06:00")
    found = hold(facts(options=replace(TableOptions(), blackout=window)))
    assert found is not None
    assert (found.kind, found.until) == ("blackout", START + timedelta(hours=6))


def test_a_name_without_a_dot_is_in_the_default_namespace():
    assert namespace_of("revenue") == "default"
    assert namespace_of("Sales.revenue") == "sales"


def test_a_table_does_not_bring_another_along_in_its_blackout_window():
    nightly = stream_table("nightly")
    windows = {nightly.id: parse_windows("daily 00:00-23:59 UTC")}
    found = hold(facts(ancestors=(nightly,), blackouts=windows))
    assert found is not None
    assert found.kind == "upstream"
    assert found.text.startswith('"nightly", which it reads, waits: its blackout window lasts')
    assert found.until is not None
    # One that is current is not touched, so its window says nothing.
    assert hold(facts(ancestors=(nightly,))) is None
