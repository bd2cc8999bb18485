"""The 22 queries on one set of sources, all of which change."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.twins import Measurements, SourceTable, Twins
from tests.support.versions_in_delta import apply_round, write_tables
from tests.tpch.duckdb_versions import Versions
from tests.tpch.queries import query_name, query_text
from tests.tpch.schema import KEYS


class TpchLab(Twins):
    """Everything that is measured on one set of sources."""

    def __init__(
        self, folder: Path, versions: Versions, scale: float, numbers: Sequence[int]
    ) -> None:
        self._versions = versions
        self._paths = write_tables(versions, folder / "sources")
        found = [Measurements(query_name(n), query_text(n, scale)) for n in numbers]
        sources = [SourceTable(name, path, KEYS[name]) for name, path in self._paths.items()]
        super().__init__(folder, found, sources)

    def change(self, share: float, *, rename: bool) -> None:
        """Change all eight tables, in one commit each."""
        number = self._versions.add_round(share, rename=rename).number
        apply_round(self._versions, number, self._paths)
        self._versions.forget([number - 1])
