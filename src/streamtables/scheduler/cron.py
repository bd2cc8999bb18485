"""Cron expressions: which are taken, and when they fire.

The library follows Debian's cron.  A job at a fixed time runs once on the days when clocks change:
at the first moment after a time that is left out, at the first of two times that come twice.  A
minute or hour that starts with `*` follows the clock on the wall instead.
"""

from __future__ import annotations

from datetime import UTC, datetime

from cronsim import CronSim, CronSimError

from streamtables.errors import ConfigError
from streamtables.scheduler.zones import zone_called

_FIELDS = {
    "minute": "0 to 59",
    "hour": "0 to 23",
    "day of the month": "1 to 31, or L for the last",
    "month": "1 to 12, or jan to dec",
    "day of the week": "0 to 7, or sun to sat; 0 and 7 are sunday",
}
FIELD_COUNT = len(_FIELDS)

_ANY_DAY = datetime(2000, 1, 1, tzinfo=UTC)
# A step behind `mon#2` trips over an assertion of the library; a number of some thousand digits
# over a limit of Python.
_REFUSALS = (CronSimError, AssertionError, TypeError, ValueError)


def checked_expression(fields: list[str]) -> str:
    """Return the expression in its one spelling, or refuse it by the field that is wrong."""
    expression = " ".join(fields).lower()
    if len(fields) != FIELD_COUNT:
        raise _refused(expression, f"A cron has five fields; this one has {len(fields)}.")
    for place, (name, permitted) in enumerate(_FIELDS.items()):
        if not _is_readable(_alone(fields[place], place)):
            detail = f'The {name} cannot be "{fields[place]}".'
            raise _refused(expression, detail, f"The {name} is {permitted}.")
    if not _is_readable(expression) or next_fire(expression, "UTC", _ANY_DAY) is None:
        raise _refused(expression, "It names no day that exists, so it would never fire.")
    return expression


def next_fire(expression: str, zone: str, after: datetime) -> datetime | None:
    """Return the first fire after a moment, in UTC; None when none comes in fifty years."""
    # In an hour that comes twice the library may name the first time though the second runs: a
    # table that counted from there would be due again and again, for up to an hour.
    for fire in CronSim(expression, after.astimezone(zone_called(zone))):
        if (moment := fire.astimezone(UTC)) > after:
            return moment
    return None


def _alone(field: str, place: int) -> str:
    return " ".join(field if at == place else "*" for at in range(FIELD_COUNT))


def _is_readable(expression: str) -> bool:
    try:
        CronSim(expression, _ANY_DAY)
    except _REFUSALS:
        return False
    return True


def _refused(expression: str, detail: str, hint: str = "") -> ConfigError:
    return ConfigError(
        f'cron "{expression}" cannot be used',
        detail=detail,
        hint=hint
        or "The fields: minute, hour, day of the month, month, day of the week; "
        "behind them perhaps a zone by its name, such as Europe/Berlin.",
    )
