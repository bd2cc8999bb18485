"""All benchmarks of PostgreSQL sources, one after the other: `python -m benchmarks.postgres`.

Each runs in a process of its own.  At the end stands one table of bars, which also goes into
docs/postgresql.md; `--quick` runs small sizes, to see that everything works, and leaves the page.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.postgres_report import decode_bars, writer_bars
from benchmarks.suite import Part, Suite

PAGE = Path(__file__).resolve().parent.parent / "docs" / "postgresql.md"
PARTS = (
    Part("postgres_writer", "--rows 1000 --rounds 3 --single 200", writer_bars),
    Part("postgres_decode", "--rounds 1 --many 20000", decode_bars),
    Part("postgres_layout", "--rows 1000 --rounds 2"),
    Part("postgres_load", "--rate 500 --seconds 10 --every 5 --rows 10000 --work 1000 --rounds 2"),
    Part("postgres_snapshot", "--rows 50000 --rounds 1"),
)
SUITE = Suite("postgres", PARTS, PAGE, "POSTGRES")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the options ask for; 1 when a part failed or a result is wrong."""
    description = __doc__.splitlines()[0] if __doc__ else ""
    return SUITE.run(SUITE.read_options(description, arguments))


if __name__ == "__main__":
    sys.exit(main())
