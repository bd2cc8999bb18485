"""The options of a stream table: what each takes, how it is stored, and how it is read back.

One entry of `_OPTIONS` is one option.  What is stored is ready for JSON and has one spelling, so
two definitions that say the same are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, cast

from streamtables.catalog.models import JsonValue, Options
from streamtables.errors import ConfigError
from streamtables.scheduler.durations import duration_text, parse_duration
from streamtables.scheduler.windows import Window, parse_windows, windows_text

_NONE = "none"
_STRATEGIES = ("auto", "replace-keys", "merge")
_YES_AND_NO = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


@dataclass(frozen=True)
class TableOptions:
    """The options of one table; None, nothing and False where none is set."""

    target_lag: float | None = None
    """The lag that is aimed at, in seconds; past it the table is at risk."""
    sla: float | None = None
    """The lag that is promised, in seconds; past it the table is late."""
    fuse_rows: int | None = None
    """More pending changed rows than this wait for someone to look."""
    fuse_factor: float | None = None
    """So many times the usual changed rows wait for someone to look."""
    blackout: tuple[Window, ...] = ()
    """When no refresh starts by itself."""
    notify: bool = False
    """Whether writers of its PostgreSQL sources wake the scheduler, where it follows changes."""
    merge_strategy: str = "auto"
    """Which hand writes small changes of stored rows: deltalake, Spark, or the cheaper one."""
    approximate_floats: bool = False
    """Whether sums of floats are kept by adding to them, within a bound."""
    store_groups: bool = False
    """Whether groups below other operators are stored apart, in internal tables."""
    verify_every: float | None = None
    """After how many seconds the table is compared with its query again, by the scheduler."""
    verify_share: float = 1.0
    """The part of the rows that is compared each time."""


def checked_options(options: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Return options as they are stored, or refuse one with its bounds; `none` takes one back."""
    stored = {
        name: _OPTIONS[name](name, value)
        for name, value in _by_name(options).items()
        if not _is_none(value)
    }
    target, sla = (_seconds_of(stored, name) for name in ("target_lag", "sla"))
    if target is not None and sla is not None and target > sla:
        raise ConfigError(
            f'option "target_lag" is {stored["target_lag"]}, longer than the sla',
            detail=f"The sla is {stored['sla']}.",
            hint="Aim at no more than what is promised.",
        )
    return stored


def altered_options(stored: Options, changes: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Return stored options with changes to some of them."""
    return checked_options({**stored, **_by_name(changes)})


def every_option_none() -> dict[str, JsonValue]:
    """Return the changes that take every option back."""
    return dict.fromkeys(_OPTIONS)


def read_options(stored: Options) -> TableOptions:
    """Return stored options as values."""
    return TableOptions(
        target_lag=_seconds_of(stored, "target_lag"),
        sla=_seconds_of(stored, "sla"),
        fuse_rows=cast("int | None", stored.get("fuse_rows")),
        fuse_factor=cast("float | None", stored.get("fuse_factor")),
        blackout=parse_windows(str(stored.get("blackout", ""))),
        notify=bool(stored.get("notify", False)),
        merge_strategy=str(stored.get("merge_strategy", "auto")),
        approximate_floats=bool(stored.get("approximate_floats", False)),
        store_groups=bool(stored.get("store_groups", False)),
        verify_every=_seconds_of(stored, "verify_every"),
        verify_share=float(cast("float", stored.get("verify_share", 1.0))),
    )


def _by_name(options: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in options.items():
        known = _known(name)
        if known in found:
            raise ConfigError(f'option "{known}" is given twice', hint="Keep one of the two.")
        found[known] = value
    return found


def _known(name: str) -> str:
    if (said := name.strip().lower()) in _OPTIONS:
        return said
    close = get_close_matches(said, _OPTIONS, n=1)
    raise ConfigError(
        f'unknown option "{name}"',
        detail=f"Options of a stream table: {', '.join(_OPTIONS)}.",
        hint=f'Did you mean "{close[0]}"?' if close else "",
    )


def _is_none(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.strip().lower() == _NONE)


def _seconds_of(stored: Options, name: str) -> float | None:
    value = stored.get(name)
    return None if value is None else parse_duration(str(value), f'option "{name}"')


def _duration(name: str, value: object) -> JsonValue:
    return duration_text(parse_duration(str(value), f'option "{name}"'))


def _rows(name: str, value: object) -> JsonValue:
    number = _number(value)
    if number is None or number != int(number) or not 1 <= number <= 10**12:
        raise _out_of_bounds(name, value, "a whole number from 1 to 1,000,000,000,000")
    return int(number)


def _factor(name: str, value: object) -> JsonValue:
    number = _number(value)
    if number is None or not 1 <= number <= 1_000_000:
        raise _out_of_bounds(name, value, "a number from 1 to 1,000,000")
    return number


def _share(name: str, value: object) -> JsonValue:
    number = _number(value)
    if number is None or not 0 < number <= 1:
        raise _out_of_bounds(name, value, "more than 0, at most 1")
    return number


def _number(value: object) -> float | None:
    # A bool is an int to Python; and what is not finite has no place between bounds.
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if abs(number) < float("inf") else None


def _windows(name: str, value: object) -> JsonValue:
    if windows := parse_windows(str(value)):
        return windows_text(windows)
    raise _out_of_bounds(name, value, "windows such as 'mon-fri 08:00-18:00 Europe/Berlin'")


def _flag(name: str, value: object) -> JsonValue:
    said = str(value).strip().lower()
    if said not in _YES_AND_NO:
        raise _out_of_bounds(name, value, "true or false")
    return _YES_AND_NO[said]


def _strategy(name: str, value: object) -> JsonValue:
    said = str(value).strip().lower().replace("_", "-")
    if said not in _STRATEGIES:
        raise _out_of_bounds(name, value, ", ".join(_STRATEGIES))
    return said


def _out_of_bounds(name: str, value: object, permitted: str) -> ConfigError:
    return ConfigError(
        f'option "{name}" has the value "{value}", which is out of bounds',
        detail=f"Permitted: {permitted}.",
        hint=f"Write {_NONE} to take the option back.",
    )


_OPTIONS: Mapping[str, Callable[[str, object], JsonValue]] = {
    "target_lag": _duration,
    "sla": _duration,
    "fuse_rows": _rows,
    "fuse_factor": _factor,
    "blackout": _windows,
    "notify": _flag,
    "merge_strategy": _strategy,
    "approximate_floats": _flag,
    "store_groups": _flag,
    "verify_every": _duration,
    "verify_share": _share,
}
