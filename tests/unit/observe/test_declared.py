"""The rules that every declared metric follows."""

from __future__ import annotations

import re

import pytest

from streamtables.observe.declared import METRICS, Metric

# A label is the name of something that exists, or one of a few words.
LABELS = {
    "stream_table",
    "source",
    "server",
    "mode",
    "action",
    "code",
    "kind",
    "level",
    "outcome",
    "publication",
    "reason",
    "result",
    "sink",
    "state",
    "subscriber",
    "way",
}
PROMISED = {
    "refresh_total",
    "refresh_seconds",
    "cdc_lag_p50_seconds",
    "cdc_lag_p95_seconds",
    "cdc_lag_p99_seconds",
    "wal_decoder_pending_records",
    "parallel_queue_depth",
    "worker_idle_seconds_total",
}


def by_name(metric: Metric) -> str:
    return metric.name


@pytest.mark.parametrize("metric", METRICS, ids=by_name)
def test_a_metric_has_a_plain_name_a_sentence_and_known_labels(metric: Metric):
    assert re.fullmatch(r"[a-z][a-z0-9_]*", metric.name)
    assert metric.full_name == f"streamtables_{metric.name}"
    assert metric.help.endswith(".")
    assert set(metric.labels) <= LABELS
    assert metric.name.endswith("_total") == (metric.kind == "counter")


@pytest.mark.parametrize("metric", [m for m in METRICS if m.kind == "histogram"], ids=by_name)
def test_a_histogram_has_rising_bounds_and_no_label_for_each_table(metric: Metric):
    assert list(metric.buckets) == sorted(set(metric.buckets))
    assert "stream_table" not in metric.labels


def test_names_are_unique_and_the_promised_ones_are_there():
    names = [metric.name for metric in METRICS]
    assert len(names) == len(set(names))
    assert set(names) >= PROMISED
