"""What may be chosen for a stream table beside its query, and the bounds of each choice."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

from streamtables.catalog.models import CaptureWish
from streamtables.errors import ConfigError
from streamtables.refresh.define import Choices

MODES = ("auto", "differential", "full")
FULL_POLICIES = ("allow", "forbid")
CAPTURES = ("auto", "triggers", "wal")
TIERS = ("hot", "warm", "cold", "frozen")
_DURATION = re.compile(
    r"^\s*\d+\s*(s|sec|second|m|min|minute|h|hour|d|day|w|week)s?\s*$", re.IGNORECASE
)
_WORDS = ("manual", "on change", "calculated")


def checked_choices(
    schedule: str, mode: str, full: str, tier: str, options: Mapping[str, Any] | None
) -> Choices:
    """Return the choices, each in its one spelling, or refuse one with its bounds."""
    return Choices(
        schedule=_schedule(schedule),
        mode=_one_of("mode", mode, MODES),
        full=_one_of("full", full, FULL_POLICIES),
        tier=_one_of("tier", tier, TIERS),
        options=checked_options(options),
    )


def checked_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return options that are known; none are in this version."""
    for name in options or {}:
        raise ConfigError(
            f'unknown option "{name}"', hint="This version has no options for a stream table."
        )
    return {}


def _one_of(what: str, value: str, permitted: tuple[str, ...]) -> str:
    text = str(value).strip().lower()
    if text not in permitted:
        raise ConfigError(
            f'{what} "{value}" is not one of the permitted values',
            detail=f"Permitted: {', '.join(permitted)}.",
        )
    return text


def _schedule(value: str) -> str:
    text = " ".join(str(value).split()).lower()
    is_cron = text.startswith("cron ") and len(text.split()) == 6
    if text in _WORDS or _DURATION.match(text) or is_cron:
        return text
    raise ConfigError(
        f'schedule "{value}" cannot be read',
        detail="Permitted: a duration such as '1 minute', 'cron …' with five fields, 'on change', "
        "'calculated' or 'manual'.",
    )


def checked_capture(value: str) -> CaptureWish:
    """Return how a PostgreSQL table is to be captured."""
    return cast("CaptureWish", _one_of("capture", value, CAPTURES))
