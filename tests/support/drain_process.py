"""A process that drains once, to be killed on the way: `python -m tests.support.drain_process`."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.support.postgres_chain import Chain


def main() -> int:
    """Drain all captured tables of a warehouse; 0 when nothing went wrong."""
    warehouse, url = sys.argv[1:3]
    with Chain(Path(warehouse), url) as chain:
        return 1 if chain.drain() else 0


if __name__ == "__main__":
    sys.exit(main())
