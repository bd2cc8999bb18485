"""Compiled plans that are kept: the part of the interface that looks at them and empties them."""

from __future__ import annotations

from streamtables.refresh.plan_cache import CacheLevel
from streamtables.refresh.plans import ClearedCaches
from streamtables.refresh.surroundings import Surroundings


class Caches:
    """The methods of an open warehouse that are about its caches."""

    _around: Surroundings

    def clear_caches(self) -> ClearedCaches:
        """Empty the plan caches of this process, of this machine and of the catalog.

        Returns how many entries each held.  The next refresh compiles, and fills them again.
        """
        return self._around.plans.clear()

    def cache_levels(self) -> list[CacheLevel]:
        """Return what each level of the plan caches holds, and where."""
        return self._around.plans.held()
