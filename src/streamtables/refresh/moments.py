"""Tables that are read together must stand for one moment."""

from __future__ import annotations

from collections.abc import Sequence

from streamtables.errors import WouldMixError
from streamtables.positions import Frontier, Standing, next_base_frontier


def require_one_moment(standings: Sequence[tuple[str, Standing]]) -> None:
    """Refuse tables whose base frontiers name different versions of a common source."""
    frontiers = [standing.base_frontier for _, standing in standings]
    if next_base_frontier(frontiers, Frontier.EMPTY) is None:
        names = ", ".join(f'"{name}"' for name, _ in standings)
        raise WouldMixError(
            f"the tables {names} do not stand for one moment",
            detail="They have consumed different versions of a source that they share.",
            hint="Run refresh_all(), then read again.",
        )
