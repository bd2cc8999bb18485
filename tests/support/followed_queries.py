"""Queries as stream tables on Spark that follow rounds of changes, in mode differential."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from streamtables.api import StreamTables
from streamtables.errors import StreamTablesError
from streamtables.refresh.results import Refresh
from tests.support.table_versions import TableVersions
from tests.support.versions_in_delta import apply_round, write_tables

Failures = dict[str, list[str]]


class FollowedQueries:
    """One stream table for each query that is not refused, and what went wrong with each."""

    def __init__(
        self, db: StreamTables, queries: Mapping[str, str], versions: TableVersions, folder: Path
    ) -> None:
        self.failures: Failures = defaultdict(list)
        self.changed: set[str] = set()
        """Tables whose rows a round has changed."""
        self._db = db
        self._versions = versions
        self._paths = write_tables(versions, folder)
        for table, path in self._paths.items():
            db.add_source(table, path=path, key=list(versions.keys[table]))
        self._created = [name for name, sql in queries.items() if self._is_created(name, sql)]
        self._note_other_than(("full",), db.refresh_all())

    def follow(self, number: int) -> None:
        """Make the commits of a round, and refresh all tables by what it changed."""
        apply_round(self._versions, number, self._paths)
        done = self._db.refresh_all()
        # A round may leave a result as it is, which can be plain before anything is computed.
        self._note_other_than(("differential", "no-change"), done)
        self.changed |= {one.table for one in done if one.rows_inserted or one.rows_deleted}

    def verify(self) -> None:
        """Compare every table with its query, recomputed by Spark."""
        for name in self._created:
            self._note_difference(name)

    def _is_created(self, name: str, sql: str) -> bool:
        try:
            self._db.create(name, sql, mode="differential")
        except StreamTablesError as refused:
            self.failures[name].append(f"refused: {refused.message}: {refused.detail}")
            return False
        return True

    def _note_other_than(self, modes: Collection[str], refreshes: Iterable[Refresh]) -> None:
        for done in refreshes:
            if done.error is not None:
                self.failures[done.table].append(f"{done.mode} refresh failed: {done.error!r}")
            elif done.mode not in modes:
                self.failures[done.table].append(
                    f"{' or '.join(modes)} expected, not {done.mode}: {done.reason.text}"
                )

    def _note_difference(self, name: str) -> None:
        try:
            found = self._db.verify(name)
        except StreamTablesError as error:
            self.failures[name].append(f"cannot be verified: {error!r}")
            return
        if not found.equal:
            self.failures[name].append(
                f"{found.missing} rows missing, {found.extra} extra\n{found.sample.to_pydict()}"
            )
