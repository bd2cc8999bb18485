"""The life of a stream table, for a process of its own: it prints how each refresh was done.

`python -m tests.support.table_life FOLDER` uses the Spark that the settings name, or the one that
`spark-submit` made.
"""

from __future__ import annotations

import sys
from pathlib import Path

from streamtables.api import StreamTables, connect
from tests.support.delta_tables import DeltaTableFile
from tests.support.settings import settings_with

QUERY = "SELECT g, count(*) AS n, max(id) AS top FROM t GROUP BY g"


class Life:
    """A source of two columns, and a table of its groups."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self._rows = DeltaTableFile(folder / "t", {"id": "bigint", "g": "bigint"}, _rows(9, 3))
        chosen = settings_with(full_threshold=1.0, **settings)
        self.db: StreamTables = connect(folder / "w", settings=chosen)
        self.db.add_source("t", path=folder / "t", key="id")
        self.db.create("s", QUERY)
        self.db.refresh("s")

    def goes_on(self, rows: int, groups: int) -> str:
        """Change the source and refresh; return the way, when the rows are those of the query."""
        self._rows.overwrite(_rows(rows, groups))
        result = self.db.refresh("s")
        assert self.db.verify("s").equal
        return f"{result.mode}/{result.strategy}"


def _rows(count: int, groups: int) -> list[tuple[int, int]]:
    return [(number, number % groups) for number in range(count)]


def main(folder: Path) -> None:
    """Live in one process: small changes by the small hand, then all by Spark."""
    for name, limit in (("small", 10_000), ("spark", 0)):
        life = Life(folder / name, driver_rows_max=limit)
        with life.db:
            print(life.goes_on(12, 3), life.goes_on(20, 4), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
