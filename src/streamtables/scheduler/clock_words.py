"""Whether the passing of time alone changes a table, found without compiling where possible."""

from __future__ import annotations

import logging
import re

from streamtables.catalog.definitions import Definitions
from streamtables.catalog.models import StreamTable
from streamtables.errors import UserError
from streamtables.refresh.plans import Plans

_log = logging.getLogger("streamtables.scheduler")

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
    except UserError:
        # It no longer compiles, which its refresh will say.
        return False
    except Exception:
        # A bug, which its own refresh meets too; no other table waits for it.
        _log.exception("cannot tell whether a table asks for the time")
        return False
