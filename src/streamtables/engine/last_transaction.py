"""The number of an application's last commit, which a table keeps longer than its log."""

from __future__ import annotations

from streamtables.positions import InputId


def last_transaction(location: str, application: InputId) -> int | None:
    """Return the number; None where there was no such commit, or the table cannot be opened."""
    from deltalake import DeltaTable
    from deltalake.exceptions import DeltaError

    try:
        found: int | None = DeltaTable(location).transaction_version(application)
    except (DeltaError, OSError):
        return None
    return found
