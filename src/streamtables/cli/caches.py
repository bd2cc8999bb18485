"""`streamtables caches`: what is kept of compiled plans, and how to empty it."""

from __future__ import annotations

import typer

from streamtables.cli.invocation import AsJson, Warehouse, opened
from streamtables.cli.plain import pick
from streamtables.cli.screen import show_json, show_line, show_table


def caches_status(
    context: typer.Context,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
) -> None:
    """Show how much is kept of compiled plans on each level, and where."""
    with opened(context, warehouse) as db:
        levels = list(db.cache_levels())
    if as_json:
        show_json([pick(level, "level", "place", "entries", "fault") for level in levels])
        return
    show_table(
        ["level", "place", "entries", "fault"],
        [[level.level, level.place, level.entries, level.fault] for level in levels],
    )


def caches_clear(
    context: typer.Context,
    warehouse: Warehouse = None,
    as_json: AsJson = False,
) -> None:
    """Empty the caches of compiled plans; the next refresh fills them again."""
    with opened(context, warehouse) as db:
        cleared = db.clear_caches()
    if as_json:
        show_json(pick(cleared, "l0", "l1", "l2"))
        return
    show_line(
        f"removed {cleared.l0} entries of this machine, {cleared.l2} of the catalog "
        f"and {cleared.l1} of this process"
    )
