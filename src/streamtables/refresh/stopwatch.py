"""Seconds per step of a refresh."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

from streamtables.catalog.models import JsonValue, Step


@dataclass
class Stopwatch:
    """Measures named steps, and the whole since it was made."""

    began: float = field(default_factory=perf_counter)
    steps: list[Step] = field(default_factory=list)

    @contextmanager
    def step(self, name: str, **facts: JsonValue) -> Iterator[dict[str, JsonValue]]:
        """Measure what happens inside as one step; what it learns may be added to the facts."""
        start = perf_counter()
        try:
            yield facts
        finally:
            self.steps.append(Step(name, round(perf_counter() - start, 6), facts))

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return round(perf_counter() - self.began, 6)
