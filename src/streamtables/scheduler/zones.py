"""Time zones by name, whatever their letters' case."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from streamtables.errors import ConfigError

UTC_NAME = "UTC"


def zone_name(text: str) -> str:
    """Return the name of a zone as the time zone database spells it, or refuse it."""
    if text.upper() == UTC_NAME:
        return UTC_NAME
    known = _known_zones()
    if (name := known.get(text.lower())) is not None:
        return name
    close = get_close_matches(text.lower(), known, n=1)
    raise ConfigError(
        f'there is no time zone "{text}"',
        detail="A zone is named as in the IANA time zone database, such as Europe/Berlin.",
        hint=f'Did you mean "{known[close[0]]}"?' if close else "Leave it out for UTC.",
    )


@cache
def zone_called(name: str) -> ZoneInfo:
    """Return the zone of a name that `zone_name` gave."""
    return ZoneInfo(name)


@cache
def _known_zones() -> dict[str, str]:
    # Looked up here and not by opening the zone: some file systems open it in any case.
    return {name.lower(): name for name in available_timezones()}
