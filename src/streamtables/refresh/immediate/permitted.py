"""Which tables may follow writes at once."""

from __future__ import annotations

from streamtables.catalog.definitions import Definitions
from streamtables.catalog.models import Source
from streamtables.compiler import Plan
from streamtables.errors import ConfigError
from streamtables.refresh.immediate import IMMEDIATE


def whose_rows(source: Source) -> str:
    """Return where the rows of a mirror come from, as the end of a sentence about it."""
    return "is captured from PostgreSQL" if source.kind == "postgres" else "is a folder of files"


def require_immediate(plan: Plan, definitions: Definitions) -> None:
    """Refuse a query whose result moves by other things than writes through this package."""
    if plan.reads_clock:
        raise ConfigError(
            "a table of mode immediate cannot ask for the time",
            detail="Its rows would change while nobody writes.",
            hint="Use mode auto with a schedule.",
        )
    for name in plan.tables:
        entry = definitions.named(name)
        if isinstance(entry, Source):
            if entry.is_mirror:
                raise ConfigError(
                    f'"{name}" {whose_rows(entry)}, and is not written here',
                    hint="Use mode auto; wait_for() waits until a table has what you wrote.",
                )
        elif getattr(entry, "mode", "") != IMMEDIATE:
            raise ConfigError(
                f'a table of mode immediate cannot read "{name}", which is not',
                hint=f'Give "{name}" the mode immediate too, or read what it reads.',
            )
