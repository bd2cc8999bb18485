"""A small evaluator for the part of PromQL that the alert rules use.

`metric{label="value"} > 1`, with `increase(…[15m])` or `max(…)` round the metric.  Samples come
every half minute; an alert fires once its expression has held for its time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import eq, ge, gt, lt

STEP = 30
"""Seconds between two samples."""

_RULE = re.compile(
    r"(?:(?P<call>increase|max)\()?(?P<metric>[a-z0-9_]+)(?:\{(?P<label>\w+)=\"(?P<value>[^\"]*)\"\})?"
    r"(?:\[(?P<range>\w+)\])?\)? (?P<compare>>=|==|>|<) (?P<bound>[0-9.]+)"
)
_COMPARE: dict[str, Callable[[float, float], bool]] = {">": gt, ">=": ge, "==": eq, "<": lt}


def seconds(text: str) -> int:
    """Return a duration such as 15m in seconds."""
    return int(text[:-1]) * {"s": 1, "m": 60, "h": 3_600}[text[-1]]


@dataclass(frozen=True)
class Series:
    """One series: its labels, and a value for each half minute."""

    labels: Mapping[str, str]
    values: Sequence[float]


class Rule:
    """One alert rule."""

    def __init__(self, expression: str, lasting: str) -> None:
        found = _RULE.fullmatch(expression)
        assert found is not None, f"the evaluator does not know {expression}"
        self.metric = found["metric"]
        self._call, self._range = found["call"], found["range"]
        assert (self._call == "increase") == (self._range is not None), expression
        self._matcher = {found["label"]: found["value"]} if found["label"] else {}
        self._compare, self._bound = _COMPARE[found["compare"]], float(found["bound"])
        self._lasting = seconds(lasting)

    def fires(self, series: Sequence[Series]) -> bool:
        """Whether the alert fires at some moment of some series."""
        wanted = [s for s in series if self._matcher.items() <= s.labels.items()]
        if self._call == "max" and wanted:
            tops = [max(values) for values in zip(*(s.values for s in wanted), strict=True)]
            wanted = [Series({}, tops)]
        return any(self._held(one) for one in wanted)

    def _held(self, series: Series) -> bool:
        held = 0
        for at in range(len(series.values)):
            true = self._compare(self._value(series.values, at), self._bound)
            held = held + STEP if true else 0
            # The first sample that is true begins the time; it has not lasted yet.
            if true and held - STEP >= self._lasting:
                return True
        return False

    def _value(self, values: Sequence[float], at: int) -> float:
        if self._range is None:
            return values[at]
        first = max(0, at - seconds(self._range) // STEP)
        steps = zip(values[first:at], values[first + 1 : at + 1], strict=True)
        # A counter that fell was started anew, and has counted from 0 since.
        return sum(after - before if after >= before else after for before, after in steps)
