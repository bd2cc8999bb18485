"""Durations as people write them: `30s`, `2 h`, `1 hour 30 minutes`.

A duration is whole numbers with units, from the largest unit to the smallest, each unit once.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from itertools import pairwise

from streamtables.errors import ConfigError

MOST_SECONDS = 366 * 86_400
BOUNDS = "1 second to 366 days"

# From the largest to the smallest: the order in which they are written.
_UNITS = {"week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
_SHORT_FORMS = {
    "w": "week",
    "d": "day",
    "h": "hour",
    "m": "minute",
    "min": "minute",
    "s": "second",
    "sec": "second",
}
_PART = re.compile(r"\s*([0-9]+)\s*([^\W\d_]+)\s*", re.IGNORECASE)


def parse_duration(text: str, what: str) -> float:
    """Return the seconds of a duration; `what` names it in the message that refuses it."""
    parts = _parts(text)
    for _, word in parts:
        if _size(word) is None:
            raise _unreadable(text, what, word)
    sizes = [_size(word) or 0 for _, word in parts]
    if not sizes or any(larger <= smaller for larger, smaller in pairwise(sizes)):
        raise _unreadable(text, what)
    # Not `int`, which refuses texts of some thousand digits in words of its own.
    seconds = sum(float(number) * size for (number, _), size in zip(parts, sizes, strict=True))
    if not 1 <= seconds <= MOST_SECONDS:
        raise ConfigError(f'{what} "{text}" is out of bounds', detail=f"Permitted: {BOUNDS}.")
    return seconds


def duration_text(seconds: float) -> str:
    """Return the one spelling of a duration, which `parse_duration` reads back."""
    if seconds >= _UNITS["week"] and seconds % _UNITS["week"] == 0:
        return _counted(seconds / _UNITS["week"], "week")
    words = []
    for unit, size in _UNITS.items():
        # Ten days are not "1 week 3 days": weeks stand alone or not at all.
        if unit not in ("week", "second") and seconds >= size:
            count, seconds = divmod(seconds, size)
            words.append(_counted(count, unit))
    if seconds or not words:
        words.append(_counted(seconds, "second"))
    return " ".join(words)


def _parts(text: str) -> list[tuple[str, str]]:
    """Return each number with its unit; nothing where anything else is in the text."""
    found, at = [], 0
    while match := _PART.match(text, at):
        found.append((match[1], match[2].lower()))
        at = match.end()
    return found if at == len(text) else []


def _size(word: str) -> int | None:
    # Both "secs" and "sec" are read, as both "seconds" and "second".
    for singular in (word, word.removesuffix("s")):
        unit = _SHORT_FORMS.get(singular, singular)
        if unit in _UNITS:
            return _UNITS[unit]
    return None


def _unreadable(text: str, what: str, unit: str = "") -> ConfigError:
    close = get_close_matches(unit, [*_UNITS, *(f"{name}s" for name in _UNITS)], n=1)
    return ConfigError(
        f'{what} "{text}" cannot be read',
        detail=f'"{unit}" is no unit of time.'
        if unit
        else "A duration is whole numbers with units, the largest unit first: '1 hour 30 minutes'.",
        hint=f'Did you mean "{close[0]}"?' if close else f"Units: {', '.join(_UNITS)}.",
    )


def _counted(count: float, unit: str) -> str:
    return f"{count:g} {unit}" if count == 1 else f"{count:.15g} {unit}s"
