"""What to measure, from the command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SHAPES = ("filter", "join", "aggregate", "join-aggregate")
PARTS = (*SHAPES, "no-change", "compile")
RESULTS = Path(__file__).resolve().parent / "results"


@dataclass(frozen=True)
class Options:
    """One run: sizes, parts and rounds."""

    rows: tuple[int, ...]
    changes: tuple[int, ...]
    parts: tuple[str, ...]
    rounds: int
    results: Path
    driver_memory: str = "4g"
    page: bool = False
    """Whether the results are kept for docs/performance.md."""

    @property
    def shapes(self) -> tuple[str, ...]:
        """The queries whose refresh is measured."""
        return tuple(shape for shape in SHAPES if shape in self.parts)


def read_options(arguments: Sequence[str] | None = None) -> Options:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--rows",
        type=positive,
        nargs="+",
        default=[1_000_000, 10_000_000],
        help="rows of the base table; several sizes also measure growth",
    )
    parser.add_argument(
        "--changes", type=positive, nargs="+", default=[10, 1_000], help="changed rows per refresh"
    )
    parser.add_argument(
        "--only", choices=PARTS, nargs="+", default=list(PARTS), help="the parts to measure"
    )
    parser.add_argument("--rounds", type=positive, default=7, help="measured rounds; the median")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the JSON goes")
    parser.add_argument("--driver-memory", default="4g", help="memory of Spark's driver")
    parser.add_argument(
        "--page",
        action="store_true",
        help="keep the results for docs/performance.md, and write it; asks for one changed row",
    )
    given = parser.parse_args(arguments)
    if given.page and 1 not in given.changes:
        parser.error("--page shows one changed row: add --changes 1")
    return Options(
        rows=tuple(given.rows),
        changes=tuple(given.changes),
        parts=tuple(part for part in PARTS if part in given.only),
        rounds=given.rounds,
        results=given.results,
        driver_memory=given.driver_memory,
        page=given.page,
    )


def positive(text: str) -> int:
    """Read a whole number above 0."""
    value = int(text.replace("_", "").replace(",", ""))
    if value < 1:
        raise argparse.ArgumentTypeError("a number above 0 is needed")
    return value
