"""What may be chosen for a stream table beside its query, and the bounds of each choice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from streamtables.catalog.models import CaptureWish, JsonValue
from streamtables.errors import ConfigError
from streamtables.refresh.define import Choices
from streamtables.refresh.immediate import IMMEDIATE
from streamtables.scheduler import options as table_options
from streamtables.scheduler.schedule import parse_schedule, schedule_text
from streamtables.scheduler.tiers import TIER_FACTOR

MODES = ("auto", "differential", "full", IMMEDIATE)
FULL_POLICIES = ("allow", "forbid")
CAPTURES = ("auto", "triggers", "wal")
TIERS = tuple(TIER_FACTOR)


def checked_choices(
    schedule: str, mode: str, full: str, tier: str, options: Mapping[str, Any] | None
) -> Choices:
    """Return the choices, each in its one spelling, or refuse one with its bounds."""
    return Choices(
        schedule=checked_schedule(schedule),
        mode=_one_of("mode", mode, MODES),
        full=_one_of("full", full, FULL_POLICIES),
        tier=_one_of("tier", tier, TIERS),
        options=checked_options(options),
    )


def checked_schedule(value: str) -> str:
    """Return a schedule in its one spelling."""
    return schedule_text(parse_schedule(value))


def checked_options(options: Mapping[str, Any] | None) -> dict[str, JsonValue]:
    """Return options as they are stored."""
    return table_options.checked_options(options or {})


def _one_of(what: str, value: str, permitted: tuple[str, ...]) -> str:
    text = str(value).strip().lower()
    if text not in permitted:
        raise ConfigError(
            f'{what} "{value}" is not one of the permitted values',
            detail=f"Permitted: {', '.join(permitted)}.",
        )
    return text


def checked_capture(value: str) -> CaptureWish:
    """Return how a PostgreSQL table is to be captured."""
    return cast("CaptureWish", _one_of("capture", value, CAPTURES))
