"""What the command line asks of the API, as types.

Commands see only these protocols, so they start without Spark, and tests stand in for the API
with plain objects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

if TYPE_CHECKING:
    import pyarrow as pa

Mode = Literal["auto", "differential", "full"]
FullPolicy = Literal["allow", "forbid"]


class Named(Protocol):
    """Anything that has a name, such as a stream table that was created."""

    @property
    def name(self) -> str: ...


class Source(Named, Protocol):
    """A table that someone else writes."""

    @property
    def kind(self) -> str: ...
    @property
    def location(self) -> str: ...
    @property
    def columns(self) -> object: ...
    @property
    def key_columns(self) -> Sequence[str]: ...


class Reason(Protocol):
    """Why a refresh went the way it did."""

    @property
    def code(self) -> str: ...
    @property
    def text(self) -> str: ...


class Refresh(Protocol):
    """What one refresh did."""

    @property
    def table(self) -> str: ...
    @property
    def mode(self) -> str: ...
    @property
    def outcome(self) -> str: ...
    @property
    def reason(self) -> Reason: ...
    @property
    def rows_inserted(self) -> int: ...
    @property
    def rows_deleted(self) -> int: ...
    @property
    def frontier(self) -> object: ...
    @property
    def seconds(self) -> float: ...
    @property
    def steps(self) -> Sequence[tuple[str, float]]: ...
    @property
    def notes(self) -> Sequence[str]: ...
    @property
    def error(self) -> object: ...


class Verification(Protocol):
    """How the stored rows compare with the query."""

    @property
    def table(self) -> str: ...
    @property
    def equal(self) -> bool: ...
    @property
    def missing(self) -> int: ...
    @property
    def extra(self) -> int: ...
    @property
    def sample(self) -> object: ...


class Explanation(Protocol):
    """How a query is maintained, for people and for programs."""

    @property
    def text(self) -> str: ...
    @property
    def data(self) -> object: ...


class TableStatus(Named, Protocol):
    """Where one stream table stands."""

    @property
    def state(self) -> str: ...
    @property
    def mode(self) -> str: ...
    @property
    def schedule(self) -> str: ...
    @property
    def rows(self) -> int | None: ...
    @property
    def version(self) -> int | None: ...
    @property
    def last_mode(self) -> str | None: ...
    @property
    def last_reason(self) -> str | None: ...
    @property
    def last_refreshed_at(self) -> datetime | None: ...
    @property
    def seconds(self) -> float | None: ...
    @property
    def changes_pending(self) -> bool: ...
    @property
    def reason(self) -> str | None: ...


class ApplyPlan(Protocol):
    """What `apply` would do: (action, name, details) for each stream table."""

    @property
    def items(self) -> Sequence[tuple[str, str, str]]: ...


class Database(Protocol):
    """The part of `streamtables.api.StreamTables` that commands call."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...

    def add_source(
        self,
        name: str,
        *,
        path: str | None = None,
        table: str | None = None,
        key: Sequence[str] | None = None,
        enable_change_feed: bool = False,
    ) -> object: ...
    def sources(self) -> Sequence[Source]: ...
    def drop_source(self, name: str) -> object: ...

    def create(
        self,
        name: str,
        sql: str,
        *,
        schedule: str = ...,
        mode: Mode = ...,
        full: FullPolicy = ...,
        replace: bool = False,
        if_not_exists: bool = False,
        options: Mapping[str, str] = ...,
    ) -> Named: ...
    def alter(
        self,
        name: str,
        *,
        query: str | None = None,
        schedule: str | None = None,
        mode: Mode | None = None,
        full: FullPolicy | None = None,
        options: Mapping[str, str] | None = None,
    ) -> object: ...
    def pause(self, name: str) -> object: ...
    def resume(self, name: str) -> object: ...
    def repair(self, name: str) -> object: ...
    def drop(self, name: str, *, cascade: bool = False) -> object: ...
    def sql(self, text: str) -> object: ...

    def refresh(self, name: str, *, full: bool = False, upstream: bool = True) -> Refresh: ...
    def refresh_all(self) -> Sequence[Refresh]: ...
    def read_rows(self, name: str, limit: int) -> pa.Table: ...
    def verify(self, name: str) -> Verification: ...
    def explain(self, name: str) -> Explanation: ...
    def validate(self, sql: str) -> Explanation: ...
    def history(self, name: str, limit: int) -> Sequence[object]: ...
    def status(self) -> Sequence[TableStatus]: ...

    def plan_apply(self, folder: Path, *, prune: bool = False) -> ApplyPlan: ...
    # A plan is handed back as it came; its own type is the API's affair.
    def apply(self, plan: Any) -> object: ...


Connect = Callable[[str, str | None], Database]
