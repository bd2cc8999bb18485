"""Whether the passing of time alone changes a table, found without compiling where possible."""

from __future__ import annotations

import re

from streamtables.catalog.definitions import Definitions
from streamtables.catalog.models import StreamTable
from streamtables.refresh.plans import Plans

# Whatever asks Spark for the time has one of these in its text.
_WORDS = re.compile(
    r"now|current|localtimestamp|unix_timestamp|curdate|today|yesterday|tomorrow", re.IGNORECASE
)


def reads_clock(table: StreamTable, definitions: Definitions, plans: Plans) -> bool:
    """Whether the query of a table asks for the current time."""
    if not table.uses and not _WORDS.search(table.query):
        return False
    try:
        return plans.plan(table, definitions).facts.reads_clock
    except Exception:
        # It no longer compiles, or meets a bug: its own refresh says so, and no other table waits.
        return False
