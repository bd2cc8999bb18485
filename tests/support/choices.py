"""One way to choose at random for two masters: a seed (fast, many) and Hypothesis (shrinks)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import DataObject

T = TypeVar("T")


class Choices(Protocol):
    """Where a generator's decisions come from."""

    def pick(self, options: Sequence[T]) -> T:
        """Choose one of the options; the first is the simplest."""

    def number(self, low: int, high: int) -> int:
        """Choose a whole number, both ends included; the low end is the simplest."""


class Seeded:
    """Decisions from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def pick(self, options: Sequence[T]) -> T:
        return self._random.choice(options)

    def number(self, low: int, high: int) -> int:
        return self._random.randint(low, high)


class Drawn:
    """Decisions that Hypothesis draws, and shrinks when a test fails."""

    def __init__(self, data: DataObject) -> None:
        self._data = data

    def pick(self, options: Sequence[T]) -> T:
        return self._data.draw(st.sampled_from(options))

    def number(self, low: int, high: int) -> int:
        return self._data.draw(st.integers(low, high))
