"""All gates of the project; none needs Spark."""

from __future__ import annotations

from benchmarks.gates import compiling, reading, scheduling
from benchmarks.gates.gate import Gate

GATES: tuple[Gate, ...] = (*compiling.gates(), *scheduling.gates(), *reading.gates())
