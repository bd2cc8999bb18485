"""Change buffers that another release made, as a drain meets them.

older      upgraded where it stands, with all that it holds
newer      left as it is: its source stops, and nothing of it is trimmed
not whole  the table is copied anew, with the reason
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from streamtables.catalog.models import Capture
from streamtables.errors import SourceUnusableError
from streamtables.positions import InputId
from streamtables.sources.postgres.buffer_layout import LAYOUT, Layout, read_layouts
from streamtables.sources.postgres.buffer_upgrade import newer, upgrade
from streamtables.sources.postgres.facts import describe_table


@dataclass(frozen=True)
class Upgraded:
    """The buffer has the present layout now, and nothing was lost."""

    reason: str


@dataclass(frozen=True)
class NotWhole:
    """The buffer does not have every change; the table has to be copied anew."""

    reason: str


Met = Upgraded | NotWhole | SourceUnusableError


def meet_buffers(connection: Connection[Any], captures: Sequence[Capture]) -> dict[InputId, Met]:
    """Upgrade the buffers of an older layout; return what was met, by source, where it matters."""
    captured = [capture for capture in captures if capture.mode == "triggers"]
    layouts = read_layouts(connection, [capture.tag for capture in captured])
    met = {c.source_id: _met(connection, c, layouts.get(c.tag)) for c in captured}
    return {key: found for key, found in met.items() if found is not None}


def _met(connection: Connection[Any], capture: Capture, layout: Layout | None) -> Met | None:
    if layout is None:
        return NotWhole("its change buffer is gone")
    if layout.layout == LAYOUT:
        return None
    if layout.layout > LAYOUT:
        return newer(capture.tag, layout)
    table = describe_table(connection, capture.relation)
    if table is None:
        # The shape of the table says the same, and more.
        return None
    try:
        upgrade(connection, table, capture.tag)
    except SourceUnusableError as error:
        return NotWhole(f"{error.message}: {error.detail}")
    return Upgraded(f"its change buffer had layout {layout.layout}, and has {LAYOUT} now")
