"""Every version of the eight tables in one DuckDB database, and the changes between them."""

from __future__ import annotations

from pathlib import Path

from tests.support.table_versions import TableVersions
from tests.tpch.refresh_functions import SEED, Round
from tests.tpch.schema import KEYS, TABLES


class Versions(TableVersions):
    """Version 0 is the generated data; each round changes all tables by the refresh functions."""

    def __init__(self, data: Path, database: Path) -> None:
        super().__init__(data, database, TABLES, KEYS)

    def add_round(self, share: float, *, seed: int = SEED, rename: bool = True) -> Round:
        """Change every table once more."""
        self.rounds += 1
        added = Round(self.rounds, share, seed=seed, rename=rename)
        for statement in added.statements():
            self.connection.execute(statement)
        return added
