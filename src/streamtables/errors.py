"""Every error this package raises on purpose.

    StreamTablesError            code · message · detail · hint
    ├── UserError                the request is wrong; never retried
    │   ├── SqlError             has the span in the query's SQL
    │   │   ├── SqlSyntaxError · UnknownNameError · SqlTypeError
    │   │   └── UnsupportedSqlError · UnimplementedSqlError · NotIncrementalError
    │   ├── CycleError · NotFoundError · AlreadyExistsError · InUseError · NameNotAllowedError
    │   ├── ConfigError · PausedError · FullForbiddenError · SourceUnusableError · NotFilledError
    │   ├── WouldMixError · DuplicateKeyError · FunctionMissingError
    │   ├── PositionRefusedError · TargetRefusedError
    │   └── QueryFailedError     the rows make the query fail
    │       └── RecursionLimitError
    ├── SourceChangedError       schema or history moved; the table is marked for rebuild
    │   └── HistoryGoneError · SourceRecreatedError · SchemaChangedError · SourceMissingError
    ├── TableDamagedError        what is stored no longer is what we wrote; repair rebuilds it
    ├── TransientError           commit conflict, lost connection; retried with back-off
    │   ├── CommitConflictError · AnotherLeaderError · RefreshTimeoutError
    │   ├── DeliveryError        a push did not arrive
    │   ├── RefreshCancelledError  somebody asked that it stop; not a failure
    │   └── SparkGoneError       the Spark that was used has ended, or forgot the session
    ├── EnvironmentFaultError    the machine lacks something: Java, jars, rights, disk
    │   └── CatalogUnreadableError
    └── InternalError            a bug; this table stops, the others run on

The family decides what happens next (retry, rebuild, stop); the message is for people.
Each code has a section in `docs/errors.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Span:
    """A place in SQL text: offsets of the first character and of the one after the last."""

    start: int
    end: int

    def line_and_column(self, sql: str) -> tuple[int, int]:
        """Return the line and the column of the start, both counted from 1."""
        before = sql[: self.start]
        return before.count("\n") + 1, self.start - (before.rfind("\n") + 1) + 1

    def caret(self, sql: str) -> str:
        """Return the line that holds the start of the span, with carets under the span."""
        line_start = sql.rfind("\n", 0, self.start) + 1
        line_end = sql.find("\n", self.start)
        line = sql[line_start : len(sql) if line_end < 0 else line_end]
        indent = self.start - line_start
        width = max(1, min(self.end, line_start + len(line)) - self.start)
        return f"{line}\n{' ' * indent}{'^' * width}"


class StreamTablesError(Exception):
    """The root of all errors of this package."""

    code: ClassVar[str] = "ST-0001"

    def __init__(self, message: str, *, detail: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        self.hint = hint


class UserError(StreamTablesError):
    """The request is wrong: asking again gives the same answer."""

    code = "ST-1000"


class SqlError(UserError):
    """The SQL text is wrong at one place."""

    code = "ST-1100"

    def __init__(
        self,
        message: str,
        *,
        sql: str = "",
        span: Span | None = None,
        detail: str = "",
        hint: str = "",
    ) -> None:
        super().__init__(message, detail=detail, hint=hint)
        self.sql = sql
        self.span = span

    @property
    def place(self) -> str:
        """The line of the SQL with a caret under the span, or nothing when the place is unknown."""
        return self.span.caret(self.sql) if self.span and self.sql else ""


class SqlSyntaxError(SqlError):
    """The text cannot be read as SQL."""

    code = "ST-1101"


class UnknownNameError(SqlError):
    """A table, column or function is not known, or the name is ambiguous."""

    code = "ST-1102"


class SqlTypeError(SqlError):
    """An expression has a type that does not fit where it stands."""

    code = "ST-1103"


class NotIncrementalError(SqlError):
    """The query has no incremental form, by its nature."""

    code = "ST-1201"


class UnsupportedSqlError(SqlError):
    """The statement is not something a stream table can be defined by."""

    code = "ST-1202"


class UnimplementedSqlError(SqlError):
    """The query could be maintained incrementally, but this version has no rule for it."""

    code = "ST-1203"


class CycleError(UserError):
    """A stream table would depend on itself."""

    code = "ST-1301"


class NotFoundError(UserError):
    """There is no object of this name."""

    code = "ST-1302"


class AlreadyExistsError(UserError):
    """The name is taken."""

    code = "ST-1303"


class InUseError(UserError):
    """Other stream tables read this object."""

    code = "ST-1304"


class NameNotAllowedError(UserError):
    """The text is not a name for a source or stream table."""

    code = "ST-1305"


class ConfigError(UserError):
    """A setting, option or argument has a value outside its bounds."""

    code = "ST-1401"


class PausedError(UserError):
    """The stream table is paused."""

    code = "ST-1402"


class FullForbiddenError(UserError):
    """Only a full refresh could go on, and the table's policy forbids one."""

    code = "ST-1403"


class SourceUnusableError(UserError):
    """The table cannot be a source as it stands."""

    code = "ST-1404"


class NotFilledError(UserError):
    """The stream table has no rows yet because it was never refreshed."""

    code = "ST-1405"


class DuplicateKeyError(UserError):
    """The query gives two rows for one key of the stream table."""

    code = "ST-1406"


class QueryFailedError(UserError):
    """Spark cannot run the query on the rows as they are: a division by zero, an overflow."""

    code = "ST-1407"


class WouldMixError(UserError):
    """Refreshing or reading these tables now would put two moments into one result."""

    code = "ST-1408"


class FunctionMissingError(UserError):
    """The query calls a Python function that this process has not registered."""

    code = "ST-1409"


class RecursionLimitError(QueryFailedError):
    """A recursion goes on for more levels, or gives more rows, than Spark is told to allow."""

    code = "ST-1410"


class PositionRefusedError(UserError):
    """A subscriber of a publication cannot stand at this version."""

    code = "ST-1501"


class TargetRefusedError(UserError):
    """The place to which changes should be pushed is not ours, or no longer as we left it."""

    code = "ST-1502"


class SourceChangedError(StreamTablesError):
    """A source moved in a way that changes alone cannot follow."""

    code = "ST-2000"


class HistoryGoneError(SourceChangedError):
    """Versions between the frontier and now are gone, or show columns that became others since."""

    code = "ST-2001"


class SourceRecreatedError(SourceChangedError):
    """Another table stands where the source was."""

    code = "ST-2002"


class SchemaChangedError(SourceChangedError):
    """A column that the query reads is gone or has another type."""

    code = "ST-2003"


class SourceMissingError(SourceChangedError):
    """The source's table is no longer there."""

    code = "ST-2004"


class TableDamagedError(StreamTablesError):
    """The stored rows are not the ones that refreshes wrote."""

    code = "ST-2101"


class TransientError(StreamTablesError):
    """Trying again may work."""

    code = "ST-3000"


class CommitConflictError(TransientError):
    """Another writer committed first."""

    code = "ST-3001"


class AnotherLeaderError(TransientError):
    """Another process leads: it decides what is refreshed until its lease ends."""

    code = "ST-3002"


class RefreshTimeoutError(TransientError):
    """A refresh took longer than it may; its Spark jobs were cancelled."""

    code = "ST-3003"


class DeliveryError(TransientError):
    """A push of changes did not arrive; it is tried again."""

    code = "ST-3004"


class SparkGoneError(TransientError):
    """The Spark that a session belongs to has ended, or knows the session no more."""

    code = "ST-3005"


class RefreshCancelledError(TransientError):
    """Somebody asked that a refresh stop; its Spark jobs were cancelled."""

    code = "ST-3006"


class EnvironmentFaultError(StreamTablesError):
    """The machine lacks something that is needed."""

    code = "ST-4001"


class CatalogUnreadableError(EnvironmentFaultError):
    """The catalog cannot be opened, or is of a version this release does not know."""

    code = "ST-4002"


class InternalError(StreamTablesError):
    """A bug in this package."""

    code = "ST-9001"
