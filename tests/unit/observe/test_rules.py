"""The alert rules and the dashboard that come with the package."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from streamtables.cli.metrics import DASHBOARD, RULES, shipped
from streamtables.observe.declared import METRICS
from tests.unit.observe.rule_evaluator import Rule, Series

ALERTS: dict[str, Any] = {
    rule["alert"]: rule
    for group in yaml.safe_load(shipped(RULES))["groups"]
    for rule in group["rules"]
}
DECLARED = {metric.full_name: metric for metric in METRICS}
LONG = 2 * 60
"""An hour, in samples."""


def flat(value: float, count: int = LONG) -> list[float]:
    return [value] * count


def rising(by: float, times: int, *, start: float = 0.0) -> list[float]:
    """Return a counter that grows a few times, sample after sample, and then rests."""
    grown = [start + by * min(n, times) for n in range(LONG)]
    return [start, *grown]


def blip(value: float, samples: int, usual: float = 0.0) -> list[float]:
    return [*flat(usual, 10), *flat(value, samples), *flat(usual, 10)]


# Alert → labels, values that fire, values that stay silent.
CASES: dict[str, tuple[dict[str, str], list[float], list[float]]] = {
    # Ten samples are four and a half minutes, eleven are five.
    "StreamtablesWalBacklog": ({"server": "s"}, blip(10_001, 11), blip(10_001, 10)),
    "StreamtablesWalHeldBack": ({"server": "s"}, flat(2.0**31), flat(2.0**30)),
    "StreamtablesSlotLost": ({"kind": "slot-lost"}, rising(1, 1), flat(3)),
    "StreamtablesSlotTooLarge": ({"kind": "slot-too-large"}, rising(1, 1), flat(3)),
    "StreamtablesCaptureSlow": ({"source": "s"}, flat(61), flat(60)),
    "StreamtablesSourceNotSeen": ({"source": "s"}, flat(301), blip(301, 2)),
    "StreamtablesChangesPileUp": ({"kind": "change_buffer_backpressure"}, rising(1, 1), flat(2)),
    "StreamtablesFreshnessAtRisk": ({"stream_table": "t"}, flat(1), blip(1, 10)),
    "StreamtablesFreshnessLate": ({"stream_table": "t"}, blip(2, 3), flat(1)),
    "StreamtablesTablesSuspended": ({}, flat(1), blip(1, 2)),
    "StreamtablesRefreshesFail": ({"stream_table": "t", "code": "c"}, rising(1, 3), rising(1, 2)),
    "StreamtablesFallsBackToFull": ({"stream_table": "t"}, rising(1, 6), rising(1, 5)),
    "StreamtablesVerifyDifference": ({"result": "different"}, rising(1, 1), flat(4)),
    "StreamtablesNobodyLeads": ({}, flat(0), blip(0, 2, usual=1)),
    "StreamtablesQueueLong": ({}, flat(101), flat(100)),
    "StreamtablesNoticesDropped": ({"sink": "webhook"}, rising(1, 1), flat(9)),
}


def test_every_alert_has_a_case():
    assert ALERTS.keys() == CASES.keys()


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_fires_and_stays_silent(name: str):
    rule = Rule(ALERTS[name]["expr"], ALERTS[name]["for"])
    labels, loud, silent = CASES[name]
    assert labels.keys() <= set(DECLARED[rule.metric].labels)
    assert rule.fires([Series(labels, loud)])
    assert not rule.fires([Series(labels, silent)])


def test_one_leader_among_several_processes_is_enough():
    rule = Rule(ALERTS["StreamtablesNobodyLeads"]["expr"], "1m")
    standby, leader = Series({"instance": "a"}, flat(0)), Series({"instance": "b"}, flat(1))
    assert rule.fires([standby])
    assert not rule.fires([standby, leader])


def test_another_value_of_a_label_does_not_fire():
    rule = Rule(ALERTS["StreamtablesVerifyDifference"]["expr"], "0m")
    assert not rule.fires([Series({"result": "equal"}, rising(1, 5))])


def test_a_counter_that_starts_anew_is_no_increase_below_zero():
    rule = Rule("increase(streamtables_sink_dropped_total[15m]) > 0", "0m")
    assert not rule.fires([Series({}, [5.0, 5.0, 0.0, 0.0])])
    assert rule.fires([Series({}, [5.0, 5.0, 0.0, 1.0])])


@pytest.mark.parametrize("name", ALERTS)
def test_an_alert_says_what_it_is_and_names_only_labels_that_it_has(name: str):
    rule = ALERTS[name]
    assert rule["labels"]["severity"] in ("warning", "critical")
    metric = DECLARED[Rule(rule["expr"], rule["for"]).metric]
    used = re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"])
    assert set(used) <= set(metric.labels)


def test_the_docs_say_what_to_do_about_every_alert():
    page = (Path(__file__).parents[3] / "docs" / "observability.md").read_text(encoding="utf-8")
    assert [name for name in ALERTS if f"`{name}`" not in page] == []


def names_in(expression: str) -> set[str]:
    return set(re.findall(r"streamtables_\w+", expression))


def is_declared(name: str) -> bool:
    if name in DECLARED:
        return DECLARED[name].kind != "histogram"
    base = re.sub(r"_(bucket|sum|count)$", "", name)
    return base in DECLARED and DECLARED[base].kind == "histogram"


def test_the_dashboard_shows_only_metrics_that_exist():
    board = json.loads(shipped(DASHBOARD))
    shown = {
        name
        for panel in board["panels"]
        for target in panel["targets"]
        for name in names_in(target["expr"])
    }
    assert len(shown) > 20
    assert [name for name in shown if not is_declared(name)] == []
    ids = [panel["id"] for panel in board["panels"]]
    assert len(ids) == len(set(ids))


def test_the_evaluator_refuses_what_it_does_not_know():
    with pytest.raises(AssertionError, match="does not know"):
        Rule("sum(streamtables_lag_seconds) > 1", "0m")
