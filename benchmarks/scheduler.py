"""All benchmarks of the scheduler, one after the other: `python -m benchmarks.scheduler`.

Each runs in a process of its own.  At the end stands one table of bars, which also goes into
docs/SCALING.md; `--quick` runs small sizes, to see that everything works, and leaves the page.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.scheduler_report import dag_bars, pool_bars
from benchmarks.suite import Part, Suite

PAGE = Path(__file__).resolve().parent.parent / "docs" / "SCALING.md"
PARTS = (
    Part("scheduler_idle", "--sizes 200 1000 --ticks 100"),
    Part("scheduler_detect", "--sources 2 --ticks 3"),
    Part("scheduler_wake", "--rounds 5 --seconds 1"),
    Part("scheduler_dag", "--sizes 1000 --rounds 3", dag_bars),
    Part("scheduler_pool", "--rounds 1", pool_bars),
    Part("scheduler_coalescing", "--tables 10 --rounds 1"),
    Part("scheduler_graphs", "--depth 3 --width 3 --rounds 1"),
)
SUITE = Suite("scheduler", PARTS, PAGE, "SCHEDULER")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the options ask for; 1 when a part failed or a result is wrong."""
    description = __doc__.splitlines()[0] if __doc__ else ""
    return SUITE.run(SUITE.read_options(description, arguments))


if __name__ == "__main__":
    sys.exit(main())
