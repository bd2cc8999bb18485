"""Captured databases, followed from look to look: quiet ones cost the catalog nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from streamtables.catalog.captures import CapturedDatabase
from streamtables.catalog.models import Source
from streamtables.errors import StreamTablesError, TransientError
from streamtables.positions import InputId, Version
from streamtables.sources.postgres.capture import Drained, PostgresCapture
from streamtables.sources.postgres.resting import Resting


@dataclass
class Following:
    """Remembers what the catalog knows of captured databases while nothing happens in them."""

    capture: PostgresCapture
    _known: Mapping[str, CapturedDatabase] | None = None
    _resting: Resting[str] = field(default_factory=Resting)

    def forget(self) -> None:
        """Ask the catalog the next time: sources may have come or gone."""
        self._known = None

    def moved(self, mirrors: Sequence[Source]) -> Mapping[InputId, Version | None]:
        """Return where mirrors stand that may have moved since the last look.

        None is one that cannot be read.  Nothing where all is quiet.
        """
        if not mirrors:
            return {}
        anew = self._known is None
        if self._known is None:
            self._known = self.capture.shop.catalog.captured_databases()
        drained = self._drained(self._known.values(), mirrors)
        if drained.quiet and not anew:
            return {}
        if not drained.quiet:
            self.forget()
        pins = self.capture.pins()
        return {
            source.id: None if source.id in drained.errors else pins.get(source.id)
            for source in mirrors
        }

    def _drained(self, databases: Iterable[CapturedDatabase], mirrors: Sequence[Source]) -> Drained:
        """Drain each database; one that took long to fail is not asked again for a while."""
        errors: dict[InputId, StreamTablesError] = {}
        quiet = True
        for known in databases:
            began = perf_counter()
            error = self._resting.error_of(known.name)
            if error is None:
                found = self.capture.drain_known([known], mirrors)
                away = next((e for e in found.errors.values() if _is_away(e)), None)
                if away is None:
                    self._resting.worked(known.name)
                else:
                    self._resting.failed(known.name, away, perf_counter() - began)
            else:
                here = {capture.source_id for capture in known.captures}
                found = Drained({s.id: error for s in mirrors if s.id in here}, quiet=False)
            errors |= found.errors
            quiet = quiet and found.quiet
        return Drained(errors, quiet)


def _is_away(error: StreamTablesError) -> bool:
    return isinstance(error, TransientError)
