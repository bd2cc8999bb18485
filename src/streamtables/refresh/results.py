"""What a refresh gives back, and why it went the way it did."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from streamtables.catalog.models import RefreshRecord
from streamtables.errors import StreamTablesError
from streamtables.positions import Frontier

Mode = Literal["full", "differential", "no-change"]
Outcome = Literal["applied", "no-change", "superseded", "deferred", "cancelled", "failed"]


@dataclass(frozen=True)
class Reason:
    """Why: a stable code for programs, a sentence for people."""

    code: str
    text: str


@dataclass(frozen=True)
class Refresh:
    """One refresh of one stream table."""

    table: str
    mode: Mode
    outcome: Outcome
    reason: Reason
    rows_inserted: int = 0
    rows_deleted: int = 0
    frontier: Frontier = Frontier.EMPTY
    seconds: float = 0.0
    steps: tuple[tuple[str, float], ...] = ()
    notes: tuple[str, ...] = ()
    strategy: str = ""
    version: int | None = None
    error: StreamTablesError | None = field(default=None, compare=False)

    @classmethod
    def of(
        cls, name: str, record: RefreshRecord, version: int | None, error: StreamTablesError | None
    ) -> Refresh:
        """Build the answer from the record that was kept."""
        return cls(
            table=name,
            mode=record.mode,  # type: ignore[arg-type]  # written from the same literal
            outcome=record.state,  # type: ignore[arg-type]  # a finished record has no other state
            reason=Reason(record.reason_code, record.reason_text),
            rows_inserted=record.rows_inserted,
            rows_deleted=record.rows_deleted,
            frontier=record.to_frontier,
            seconds=record.seconds,
            steps=tuple((step.name, step.seconds) for step in record.steps),
            notes=record.notes,
            strategy=record.strategy,
            version=version,
            error=error,
        )
