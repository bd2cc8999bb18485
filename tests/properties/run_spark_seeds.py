"""Random queries with Spark as the judge, by seed: `python -m tests.properties.run_spark_seeds FROM TO`.

    --families outer,semi   only queries that contain something of these families
    --depth 1               nested at most so deep
    --minutes 0             when to stop, whatever is left; 0 goes on to the end

All run on one Spark.  Every eighth group of seeds is compiled to Java, as users' queries are; the
others are interpreted, which takes a fraction of the time.  Prints every seed that found a
difference, and at the end how many were tried and what became of them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from streamtables.engine.session import SparkSessions
from tests.properties.spark_trials import ANY, GROUP, SparkCase, Wanted, groups, try_group
from tests.properties.tally import Tally
from tests.support.generator.families import EVERY, parse_families
from tests.support.small_spark import compiled, small_spark

COMPILED_ONE_IN = 8


def run(first: int, last: int, wanted: Wanted = ANY, minutes: float = 0) -> int:
    """Try a range, print the counts, return the number of failures."""
    started = time.monotonic()
    tally, by, comparisons = Tally(), Counter[str](), 0
    sessions = small_spark()
    for seeds in groups(first, last):
        cases = _tried(seeds, sessions, wanted)
        for case in cases:
            tally.add(case.outcome)
            by.update([f"hand: {case.hand}", f"judge: {case.judge}"])
            comparisons += case.compared
            if case.outcome.failed:
                print(case.outcome.report(), flush=True)
        passed = time.monotonic() - started
        print(f"{tally.tried} seeds, {tally.failures} failures in {passed:.0f} s", flush=True)
        if minutes and passed > 60 * minutes:
            break
    sessions.stop()
    seconds = time.monotonic() - started
    print(f"{tally.tried} seeds from {first} to {first + tally.tried - 1} in {seconds:.0f} s")
    equal = tally.tried - tally.failures
    print(f"{equal} cases equal, a query and a history each, in {comparisons} comparisons")
    for what, count in sorted(by.items()):
        print(f"  {what:<16}{count:>8}")
    print(tally.table())
    return tally.failures


def _tried(seeds: range, sessions: SparkSessions, wanted: Wanted) -> list[SparkCase]:
    java = seeds[0] // GROUP % COMPILED_ONE_IN == COMPILED_ONE_IN - 1
    with (
        compiled(sessions.get()) if java else nullcontext(),
        tempfile.TemporaryDirectory() as folder,
    ):
        return try_group(seeds, sessions, Path(folder), wanted)


def main(arguments: Sequence[str]) -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="run_spark_seeds")
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--families", type=parse_families, default=EVERY)
    parser.add_argument("--depth", type=int)
    parser.add_argument("--minutes", type=float, default=0)
    given = parser.parse_args(arguments)
    wanted = Wanted(given.families, given.depth)
    return 1 if run(given.first, given.last, wanted, given.minutes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
