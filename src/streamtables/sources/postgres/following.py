"""Captured databases, followed from look to look: quiet ones cost the catalog nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from streamtables.catalog.captures import CapturedDatabase
from streamtables.catalog.models import Source
from streamtables.positions import InputId, Version
from streamtables.sources.postgres.capture import PostgresCapture


@dataclass
class Following:
    """Remembers what the catalog knows of captured databases while nothing happens in them."""

    capture: PostgresCapture
    _known: Mapping[str, CapturedDatabase] | None = None

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
        drained = self.capture.drain_known(self._known.values(), mirrors)
        if drained.quiet and not anew:
            return {}
        if not drained.quiet:
            self.forget()
        pins = self.capture.pins()
        return {
            source.id: None if source.id in drained.errors else pins.get(source.id)
            for source in mirrors
        }
