"""Which Delta logs have grown: two questions to the file system for each, and no table opened."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from streamtables.catalog.models import Source
from streamtables.engine.delta_log import HeadProbe
from streamtables.errors import StreamTablesError
from streamtables.positions import InputId


@dataclass
class Heads:
    """Remembers the head of each log, and notices where it is another one."""

    _probes: dict[InputId, tuple[str, HeadProbe]] = field(default_factory=dict)

    def moved(self, sources: Iterable[Source]) -> tuple[list[Source], list[Source]]:
        """Return the sources whose log is not as it was at the last look; at first, all.

        Beside them, those whose log cannot be read now: one of them must not hide the others.
        """
        moved, unreadable = [], []
        for source in sources:
            try:
                if self._probe(source).moved():
                    moved.append(source)
            except (OSError, StreamTablesError):
                unreadable.append(source)
        return moved, unreadable

    def forget(self, source_id: InputId) -> None:
        """Count a source as moved the next time."""
        self._probes.pop(source_id, None)

    def _probe(self, source: Source) -> HeadProbe:
        known = self._probes.get(source.id)
        if known is None or known[0] != source.location:
            known = self._probes[source.id] = (source.location, HeadProbe(source.location))
        return known[1]
