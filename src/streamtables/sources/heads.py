"""Which Delta logs have grown: two questions to the file system for each, and no table opened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from streamtables.catalog.models import Source
from streamtables.engine.delta_log import HeadProbe
from streamtables.engine.stores import local_path
from streamtables.errors import StreamTablesError
from streamtables.positions import InputId

_FEW = 3
"""So many logs in stores are worth asking at the same time."""
_AT_A_TIME = 16


@dataclass
class Heads:
    """Remembers the head of each log, and notices where it is another one."""

    _probes: dict[InputId, tuple[str, HeadProbe]] = field(default_factory=dict)

    def moved(self, sources: Iterable[Source]) -> tuple[list[Source], list[Source]]:
        """Return the sources whose log is not as it was at the last look; at first, all.

        Beside them, those whose log cannot be read now: one of them must not hide the others.
        """
        asked = list(sources)
        answers = dict(zip((s.id for s in asked), self._asked(asked), strict=True))
        moved = [source for source in asked if answers[source.id]]
        return moved, [source for source in asked if answers[source.id] is None]

    def _asked(self, sources: Sequence[Source]) -> list[bool | None]:
        """Ask each log whether it moved; None where it cannot be read."""
        if sum(local_path(source.location) is None for source in sources) < _FEW:
            return [self._moved(source) for source in sources]
        # A store answers each question some milliseconds later, and many at a time.
        with ThreadPoolExecutor(_AT_A_TIME) as threads:
            return list(threads.map(self._moved, sources))

    def _moved(self, source: Source) -> bool | None:
        try:
            return self._probe(source).moved()
        except (OSError, StreamTablesError):
            return None

    def forget(self, source_id: InputId) -> None:
        """Count a source as moved the next time."""
        self._probes.pop(source_id, None)

    def _probe(self, source: Source) -> HeadProbe:
        known = self._probes.get(source.id)
        if known is None or known[0] != source.location:
            known = self._probes[source.id] = (source.location, HeadProbe(source.location))
        return known[1]
