"""What a read or a write by one of the hands can come to, as values.

Applied      the commit is in the log and is ours
Superseded   another leader's commit holds our place; its stamp is the truth
TooLarge     the small hand declined a read before doing it
NotSmall     the small hand declined a write before any commit; Spark takes over
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from streamtables.positions import Version

if TYPE_CHECKING:
    from streamtables.engine.log_entry import LogEntry

Strategy = Literal["append", "replace-keys", "merge", "overwrite", "none"]


@dataclass(frozen=True)
class Applied:
    """A write that is in the log; `version` is None when there was nothing to write.

    The row counts are those of the change as a reader sees it, not of rows that were rewritten;
    None where the commit does not tell.
    """

    version: Version | None
    rows_inserted: int | None
    rows_deleted: int | None
    strategy: Strategy
    files_written: int = 0
    bytes_written: int = 0


NOTHING_APPLIED = Applied(None, 0, 0, "none")


@dataclass(frozen=True)
class Superseded:
    """Another attempt committed this sequence or a later one."""

    entry: LogEntry


@dataclass(frozen=True)
class TooLarge:
    """Why the small hand does not read this; Spark can."""

    reason: str


class NotSmall(Exception):  # noqa: N818  a signal between the two hands, never shown as an error
    """The small hand cannot do this, and nothing has been written."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
