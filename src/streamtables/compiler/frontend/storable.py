"""Types that a query may compute with, and a stream table cannot show."""

from __future__ import annotations

from streamtables.compiler.frontend.binding import Bound
from streamtables.compiler.types import SqlType, is_collated, is_padded
from streamtables.errors import UnsupportedSqlError


def require_storable(bound: Bound, sql: str) -> None:
    """Raise where a column of the result is text that would mean something else once stored.

    Delta has no collated columns, and CHAR columns cannot be merged into.
    """
    for item in bound.columns:
        if (kind := _unstorable(item.type)) is not None:
            raise UnsupportedSqlError(
                f'column "{item.shown}" of the result is {kind}, which a stream table cannot store',
                sql=sql,
                detail="A query may compare by it; what it shows has to be plain text.",
                hint=f"Show it as plain text: CAST(… AS STRING) AS {item.shown}.",
            )


def _unstorable(type_: SqlType) -> str | None:
    if is_collated(type_):
        return "collated text"
    return type_.upper() if is_padded(type_) else None
