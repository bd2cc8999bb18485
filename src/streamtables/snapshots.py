"""Snapshots: the part of the interface that keeps tables at a moment, and puts them back to it."""

from __future__ import annotations

from collections.abc import Sequence

from streamtables.catalog import Catalog
from streamtables.catalog.names import check_name
from streamtables.catalog.snapshot_models import KeptSnapshot
from streamtables.errors import ConfigError
from streamtables.refresh.results import Refresh
from streamtables.refresh.snapshots import PutBack, take
from streamtables.refresh.surroundings import Surroundings


class Snapshotting:
    """The methods of an open warehouse that are about snapshots."""

    _catalog: Catalog
    _around: Surroundings

    def snapshot(
        self, names: str | Sequence[str], *, label: str, epoch: int | None = None
    ) -> KeptSnapshot:
        """Keep tables as they stand for one moment, now or at an epoch, under a label.

        Their files of that moment stay until the label is dropped.
        """
        check_name(label, kind="a snapshot")
        listed = [names] if isinstance(names, str) else list(dict.fromkeys(names))
        if not listed:
            raise ConfigError("a snapshot needs at least one table")
        found = self._catalog.snapshot()
        tables = [found.definitions.stream_table(name) for name in listed]
        return take(label, tables, found, self._around, epoch)

    def snapshots(self) -> list[KeptSnapshot]:
        """Return all snapshots, the newest first."""
        return self._catalog.kept_snapshots()

    def drop_snapshot(self, label: str) -> KeptSnapshot:
        """Forget a label; what only it kept may be removed."""
        return self._catalog.drop_snapshot(label)

    def restore_snapshot(self, label: str) -> list[Refresh]:
        """Put the tables of a snapshot back to it; the next refresh brings them forward again."""
        kept = self._catalog.kept_snapshot(label)
        snapshot = self._catalog.snapshot()
        order = {key: place for place, key in enumerate(snapshot.definitions.order)}
        tables = sorted(kept.tables, key=lambda item: order.get(item.table_id, 0))
        work = [PutBack(self._around, snapshot, item, label) for item in tables]
        for item in work:
            item.check()
        done = [item.run() for item in work]
        moved = [item.table_id for item in kept.tables]
        self._catalog.record_epoch(moved, self._around.clock())
        return done
