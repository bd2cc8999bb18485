"""The two ways in which a change can contradict what is stored, the same for both hands."""

from __future__ import annotations

from collections.abc import Iterable

from streamtables.errors import DuplicateKeyError, TableDamagedError


def damaged(missing: int | None = None) -> TableDamagedError:
    """Return the error for rows that a change takes away and that are not stored."""
    count = "rows" if missing is None else f"{missing} row(s)"
    return TableDamagedError(
        f"{count} that the change removes are not stored",
        detail="The stored rows are not the ones that earlier refreshes wrote.",
        hint="Repair the stream table; it is computed afresh from its sources.",
    )


def duplicate_key(key_columns: Iterable[str]) -> DuplicateKeyError:
    """Return the error for two rows of one key."""
    names = ", ".join(f'"{name}"' for name in key_columns)
    return DuplicateKeyError(
        f"two rows share one key ({names})",
        detail="The query gives more than one row for a key that should name one row.",
    )
