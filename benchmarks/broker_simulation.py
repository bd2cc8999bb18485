"""From how many catalogs on does it pay to read a source once and share what was read.

    python -m benchmarks.broker_simulation

A day of catalogs that follow one source, each at its own rhythm.  Direct: each reads its window of
changes from the source.  Shared: a catalog fetches the batches since its last refresh; if there is
none, or the newest is too old, it takes a lease, reads from there to now and publishes that.  Costs
are assumptions, in seconds of machine time; give your own.

See docs/design/refresh-broker.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from benchmarks.options import positive

DAY = 86_400.0
INTERVALS = (60.0, 300.0, 900.0)
"""The rhythms of the catalogs, in turn."""
FAN_OUTS = (1, 2, 3, 5, 10, 20, 50)
TOLERANCES = (0, 5, 15, 30, 60)

Day = list[tuple[float, int]]
"""The moments at which catalogs refresh, and which one it is."""


@dataclass(frozen=True)
class Cost:
    """Seconds that a step takes: a part that is always there, and one for each million rows."""

    fixed: float
    million_rows: float

    def of(self, rows: float) -> float:
        """Return the seconds for so many rows."""
        return self.fixed + self.million_rows * rows / 1e6


@dataclass(frozen=True)
class Costs:
    """What the steps of both ways cost."""

    read: Cost
    publish: Cost
    fetch: Cost
    lease: float


@dataclass(frozen=True)
class Load:
    """How fast the source changes, and how old a shared batch may be."""

    rows_per_second: float
    tolerance: float


@dataclass(frozen=True)
class Total:
    """What a day took."""

    seconds: float
    reads: int
    """How often the source itself was read."""
    age: float = 0.0
    """By how many seconds, on average, a refresh was older than a direct read."""


READS = {
    "log entries, small files": Cost(0.05, 2.0),
    "change feed by Spark": Cost(2.0, 5.0),
    "another database, far away": Cost(10.0, 60.0),
}


def refreshes(fan_out: int, random: Random) -> Day:
    """Return the refreshes of so many catalogs."""
    found = []
    for catalog in range(fan_out):
        interval = INTERVALS[catalog % len(INTERVALS)]
        moment = random.uniform(0, interval)
        while moment < DAY:
            found.append((moment, catalog))
            moment += interval
    return sorted(found)


def direct(moments: Day, load: Load, costs: Costs) -> Total:
    """Let every catalog read the source itself."""
    last: dict[int, float] = {}
    seconds = 0.0
    for moment, catalog in moments:
        seconds += costs.read.of((moment - last.get(catalog, 0.0)) * load.rows_per_second)
        last[catalog] = moment
    return Total(seconds, len(moments))


def brokered(moments: Day, load: Load, costs: Costs) -> Total:
    """Let catalogs share what one of them has read."""
    cuts, have = [0.0], dict.fromkeys((catalog for _, catalog in moments), 0)
    seconds = age = 0.0
    for moment, catalog in moments:
        missing = range(have[catalog] + 1, len(cuts))
        seconds += sum(
            costs.fetch.of((cuts[at] - cuts[at - 1]) * load.rows_per_second) for at in missing
        )
        # Who has the newest batch gains nothing from its being young enough.
        if not missing or moment - cuts[-1] > load.tolerance:
            rows = (moment - cuts[-1]) * load.rows_per_second
            seconds += costs.lease + costs.read.of(rows) + costs.publish.of(rows)
            cuts.append(moment)
        age += moment - cuts[-1]
        have[catalog] = len(cuts) - 1
    return Total(seconds, len(cuts) - 1, age / len(moments))


def main() -> int:
    """Simulate and show."""
    given = _arguments()
    days = [refreshes(fan_out, Random(given.seed)) for fan_out in FAN_OUTS]
    _by_fan_out(given, days)
    print()
    _by_tolerance(given, days)
    return 0


def _by_fan_out(given: argparse.Namespace, days: Sequence[Day]) -> None:
    load = Load(given.rows_per_second, given.tolerance)
    print(f"{load.rows_per_second:g} changed rows/s, batches up to {load.tolerance:g} s old:")
    print("machine time of the shared way against direct reads, by number of catalogs")
    print(_line("a read of the source", FAN_OUTS, "pays from"))
    for name, read in READS.items():
        shares = _shares(days, load, _costs(given, read))
        print(_line(name, [f"{share:.2f}" for share in shares], _pays_from(shares)))
    costs = _costs(given, Cost(0, 0))
    shared = [brokered(day, load, costs) for day in days]
    print(_line("reads of the source, direct", [f"{len(day):,}" for day in days]))
    print(_line("reads of the source, shared", [f"{total.reads:,}" for total in shared]))
    print(_line("older by, seconds", [f"{total.age:.1f}" for total in shared]))


def _by_tolerance(given: argparse.Namespace, days: Sequence[Day]) -> None:
    print("number of catalogs from which on sharing pays, by seconds that a batch may be old")
    print(_line("a read of the source", TOLERANCES))
    for name, read in READS.items():
        costs = _costs(given, read)
        loads = [Load(given.rows_per_second, tolerance) for tolerance in TOLERANCES]
        print(_line(name, [_pays_from(_shares(days, load, costs)) for load in loads]))


def _shares(days: Sequence[Day], load: Load, costs: Costs) -> list[float]:
    return [brokered(day, load, costs).seconds / direct(day, load, costs).seconds for day in days]


def _costs(given: argparse.Namespace, read: Cost) -> Costs:
    return Costs(read, Cost(given.publish, 4.0), Cost(given.fetch, 1.0), given.lease)


def _pays_from(shares: Sequence[float]) -> str:
    """Return the fan-out from which on sharing is cheaper and stays so; a dash for none of them."""
    dear = [at for at, share in enumerate(shares) if share >= 1]
    first = dear[-1] + 1 if dear else 0
    return str(FAN_OUTS[first]) if first < len(FAN_OUTS) else "–"


def _line(name: str, cells: Sequence[object], last: str = "") -> str:
    line = " | ".join([f"{name:<27}", *(f"{cell:>6}" for cell in cells)])
    return f"{line} | {last}" if last else line


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows-per-second", type=float, default=200.0)
    parser.add_argument("--tolerance", type=float, default=30.0, help="seconds a batch may be old")
    parser.add_argument("--publish", type=float, default=0.3, help="seconds for a batch")
    parser.add_argument("--fetch", type=float, default=0.1, help="seconds for a batch")
    parser.add_argument("--lease", type=float, default=0.1, help="seconds to take one")
    parser.add_argument("--seed", type=positive, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
