"""Metrics in the text format that Prometheus scrapes.

Written here and not by the client library: of a thousand tables its encoder takes longer than a
scrape may.  What the operating system knows of the process comes from the library.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from streamtables.observe.counts import Counts, Labels, Sample
from streamtables.observe.declared import METRICS, Metric

CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4

_PROCESS = CollectorRegistry(auto_describe=False)
ProcessCollector(registry=_PROCESS)


def exposition(counts: Counts, sampled: Iterable[Sample] = ()) -> str:
    """Return all that was counted, and what was sampled just now, as text.

    A number that was both counted and sampled is the sampled one.
    """
    values: dict[Metric, dict[Labels, float]] = defaultdict(dict)
    for samples in (counts.samples(), sampled):
        for metric, labels, value in samples:
            values[metric][labels] = value
    histograms: dict[Metric, list[tuple[Labels, tuple[float, ...]]]] = defaultdict(list)
    for metric, labels, numbers in counts.histograms():
        histograms[metric].append((labels, numbers))
    lines: list[str] = []
    for metric in METRICS:
        if metric in values or metric in histograms:
            lines.append(f"# HELP {metric.full_name} {_escaped_help(metric.help)}")
            lines.append(f"# TYPE {metric.full_name} {metric.kind}")
        _write_values(lines, metric, values.get(metric, {}))
        for labels, numbers in histograms.get(metric, ()):
            _write_histogram(lines, metric, labels, numbers)
    return "\n".join(lines) + "\n" + generate_latest(_PROCESS).decode()


def _write_values(lines: list[str], metric: Metric, values: dict[Labels, float]) -> None:
    name, names = metric.full_name, metric.labels
    lines += [
        f"{name}{_label_text(names, labels)} {float(value)!r}"
        for labels, value in sorted(values.items())
    ]


def _write_histogram(
    lines: list[str], metric: Metric, labels: Labels, numbers: tuple[float, ...]
) -> None:
    name, names = metric.full_name, (*metric.labels, "le")
    count = 0.0
    for bound, number in zip((*metric.buckets, float("inf")), numbers[:-1], strict=True):
        count += number
        shown = _label_text(names, (*labels, _number(bound)))
        lines.append(f"{name}_bucket{shown} {_number(count)}")
    shown = _label_text(metric.labels, labels)
    lines.append(f"{name}_count{shown} {_number(count)}")
    lines.append(f"{name}_sum{shown} {_number(numbers[-1])}")


@lru_cache(maxsize=65_536)
def _label_text(names: Labels, values: Labels) -> str:
    if not names:
        return ""
    pairs = zip(names, values, strict=True)
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in pairs) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')


def _escaped_help(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _number(value: float) -> str:
    return "+Inf" if value == float("inf") else repr(float(value))
