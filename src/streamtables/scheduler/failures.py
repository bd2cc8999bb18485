"""What happens to a table after a refresh of it failed: the family of the error decides.

UserError               stopped: it would fail alike
TableDamagedError       stopped: only a repair helps
SourceChangedError      tried again soon, as a rebuild; stopped where full is forbidden
TransientError          tried again soon
EnvironmentFaultError   tried again slowly, and so is a function that this process lacks
InternalError, others   tried again soon, suspended at the third since it last went well
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from streamtables.errors import (
    EnvironmentFaultError,
    FunctionMissingError,
    SourceChangedError,
    StreamTablesError,
    TableDamagedError,
    TransientError,
    UserError,
)

_OF_THE_PLACE = (EnvironmentFaultError, FunctionMissingError)
"""What the machine or the process lacks, and not the table."""
SOON_SECONDS = 1.0
SLOWLY_SECONDS = 30.0
LONGEST_SECONDS = 300.0
"""The delay doubles from failure to failure, up to this."""
SUSPENDED_AT = 3
"""So many failures that nobody expected suspend a table, if it did not go well in between."""


@dataclass(frozen=True)
class Failures:
    """How often a table failed since it last went well."""

    in_a_row: int
    unexpected: int
    """Those that nobody expected."""


@dataclass(frozen=True)
class Retry:
    """The table is refreshed again, but not before `at`."""

    at: datetime
    reason: str


@dataclass(frozen=True)
class Stop:
    """The table is not refreshed until someone resumes it: trying again cannot help."""

    reason: str


@dataclass(frozen=True)
class Suspend:
    """The table is not refreshed until someone resumes it: trying again has not helped."""

    reason: str


Decision = Retry | Stop | Suspend


def after_failure(
    error: StreamTablesError,
    failures: Failures,
    now: datetime,
    random_unit: float,
    *,
    full_forbidden: bool = False,
) -> Decision:
    """Decide what becomes of a table whose refresh failed with `error`.

    `failures` counts this failure too.  `random_unit`, from 0 to 1, spreads the retries of tables
    that failed together.
    """
    if (way_on := _way_on(error, full_forbidden=full_forbidden)) is not None:
        return Stop(f"{_told(error)} {way_on} Then run resume.")
    if is_expected(error) or failures.unexpected < SUSPENDED_AT:
        first = SLOWLY_SECONDS if isinstance(error, _OF_THE_PLACE) else SOON_SECONDS
        delay = _delay(first, failures.in_a_row, random_unit)
        return Retry(now + delay, f"{_told(error)} It is tried again by itself.")
    return Suspend(
        f"{_told(error)} It failed like that {failures.unexpected} times since it last went well, "
        "which looks like a bug. "
        "The other tables go on; run resume to try again."
    )


def _way_on(error: StreamTablesError, *, full_forbidden: bool) -> str | None:
    """Say what a person has to do first; None when trying again may help."""
    match error:
        case FunctionMissingError():
            # It is missing in this process; another one, or this one later, may have it.
            return None
        case UserError():
            return error.hint or "It would fail alike until the cause is removed."
        case TableDamagedError():
            return error.hint or "Run repair to rebuild it."
        case SourceChangedError() if full_forbidden:
            return "It has to be rebuilt, which its policy forbids: alter it with full='allow'."
        case _:
            return None


def is_expected(error: StreamTablesError) -> bool:
    """Whether such failures come and go by themselves, and so say nothing of a bug."""
    return isinstance(error, (TransientError, SourceChangedError, *_OF_THE_PLACE))


def _delay(first: float, failures_in_a_row: int, random_unit: float) -> timedelta:
    # Past 20 doublings any first delay is beyond the longest, and no number grows out of bounds.
    doubled = first * 2.0 ** min(max(failures_in_a_row - 1, 0), 20)
    longest = min(doubled, LONGEST_SECONDS)
    return timedelta(seconds=longest * (0.5 + 0.5 * random_unit))


def _told(error: StreamTablesError) -> str:
    """Return the error as sentences."""
    message = error.message[:1].upper() + error.message[1:]
    return " ".join(filter(None, (f"{message} ({error.code}).", error.detail)))
