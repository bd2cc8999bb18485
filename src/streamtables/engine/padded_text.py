"""CHAR(n) columns as Spark reads them: filled up with blanks to their length.

Spark's writers do not always store the blanks, but its readers always show them.  deltalake gives
what is stored.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from streamtables.engine.outcomes import NotSmall

_DECLARED = b"__CHAR_VARCHAR_TYPE_STRING"
_CHAR = re.compile(rb"char\((\d+)\)")


def is_padded(field: pa.Field) -> bool:
    """Whether a column is CHAR(n)."""
    return _CHAR.fullmatch(_declared(field)) is not None


def _declared(field: pa.Field) -> bytes:
    declared: bytes = (field.metadata or {}).get(_DECLARED, b"")
    return declared.lower()


def padded(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return the rows with the blanks that the table's schema declares.

    Raises:
        NotSmall: such text lies inside a nested column.
    """
    for place, name in enumerate(rows.column_names):
        if name not in schema.names:
            continue
        declared = _declared(schema.field(name))
        if match := _CHAR.fullmatch(declared):
            filled = pc.utf8_rpad(rows.column(place).cast(pa.string()), int(match[1]))
            rows = rows.set_column(place, name, filled)
        elif b"<" in declared and re.search(rb"\bchar\(", declared):
            raise NotSmall(f"{name} holds CHAR inside {declared.decode()}")
    return rows
