"""A predicate that covers the rows of a bounded list of keys, null-safe, for either engine.

It may cover more rows than the keys name, never fewer: 0.0 covers -0.0, NaN is always covered, and
lists of values per column cover their cross product.  So whoever deletes by it reads the covered
rows first.

Why lists and not `(a = 1 AND b = 2) OR …`: DataFusion walks a chain of ORs recursively, takes
seconds for 500 of them and overflows its stack at 5,000; a list of 5,000 values takes 0.15 s.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from streamtables.engine.outcomes import NotSmall
from streamtables.engine.sql_text import (
    Dialect,
    Literals,
    has_literals,
    identifier,
    text_literal,
)

KEYS_MAX = 20_000
EVERY_ROW = "TRUE"

# Engines skip files by the values of a list only while the list is short.
_LIST_PRUNED_UP_TO = 20
_NULL_TEXT = "\u2205"


def key_predicate(keys: pa.Table, columns: Sequence[str], dialect: Dialect) -> str:
    """Return a predicate that is true for every stored row whose key is one of `keys`.

    Raises:
        NotSmall: there are too many keys, or a key type has no literal.
    """
    if not columns:
        return EVERY_ROW
    if keys.num_rows == 0:
        return "FALSE"
    if keys.num_rows > KEYS_MAX:
        return _range(keys, columns, dialect)
    parts = [_membership(name, keys.column(name), dialect) for name in columns]
    if (pairs := _pairs(keys, columns, dialect)) is not None:
        parts.append(pairs)
    return " AND ".join(f"({part})" for part in parts)


def key_range(keys: pa.Table, columns: Sequence[str], dialect: Dialect) -> str:
    """Return the range of the first column that has one; every row where none has."""
    for name in columns:
        values = keys.column(name)
        if len(values) and _has_plain_order(values.type) and not values.null_count:
            return _between(identifier(name, dialect), values, Literals(values.type, dialect))
    return EVERY_ROW


def _range(keys: pa.Table, columns: Sequence[str], dialect: Dialect) -> str:
    """Return a range: there are too many keys to name each of them."""
    if (found := key_range(keys, columns, dialect)) == EVERY_ROW:
        raise NotSmall(f"{keys.num_rows} keys are more than a predicate should name")
    return found


def value_predicate(rows: pa.Table, columns: Sequence[str], dialect: Dialect) -> str:
    """Return a predicate that covers these rows by those of the columns that have literals."""
    usable = [name for name in columns if has_literals(rows.schema.field(name).type)]
    return key_predicate(rows, usable, dialect)


def _membership(name: str, column: pa.ChunkedArray, dialect: Dialect) -> str:
    if not has_literals(column.type):
        raise NotSmall(f"a value of the type {column.type} cannot stand in a predicate")
    quoted = identifier(name, dialect)
    parts = []
    if column.null_count:
        parts.append(f"{quoted} IS NULL")
    present = column.drop_null()
    if pa.types.is_floating(column.type):
        # Statistics leave NaN out: `= NaN` would skip the very files that hold it, and a file whose
        # other values are all listed would count as covered, and its NaN be removed unread.
        parts.append(f"isnan({quoted})")
        present = present.filter(pc.invert(pc.is_nan(present)))
    if len(present):
        parts.append(_listed(quoted, present, dialect))
    return " OR ".join(f"({part})" for part in parts)


def _listed(quoted: str, values: pa.ChunkedArray, dialect: Dialect) -> str:
    literals = Literals(values.type, dialect)
    distinct = pc.unique(_plain(values))
    listed = ", ".join(literals.write(value) for value in distinct.to_pylist())
    text = f"{quoted} IN ({listed})"
    if len(distinct) <= _LIST_PRUNED_UP_TO or not _has_plain_order(values.type):
        return text
    return f"{_between(quoted, values, literals)} AND {text}"


def _between(quoted: str, values: pa.ChunkedArray, literals: Literals) -> str:
    bounds = pc.min_max(_plain(values)).as_py()
    low, high = literals.write(bounds["min"]), literals.write(bounds["max"])
    return f"{quoted} >= {low} AND {quoted} <= {high}"


def _plain(values: pa.ChunkedArray) -> pa.ChunkedArray:
    return values.cast(pa.int64()) if pa.types.is_timestamp(values.type) else values


def _has_plain_order(kind: pa.DataType) -> bool:
    tests = (pa.types.is_integer, pa.types.is_date32, pa.types.is_timestamp)
    return any(test(kind) for test in tests)


def _pairs(keys: pa.Table, columns: Sequence[str], dialect: Dialect) -> str | None:
    """Narrow the cross product to the combinations that occur, over columns with exact text."""
    exact = [name for name in columns if _has_exact_text(keys.schema.field(name).type)]
    if len(exact) < 2 or keys.num_rows == 1:
        return None
    texts = [pc.fill_null(keys.column(name).cast(pa.string()), _NULL_TEXT) for name in exact]
    combined = pc.unique(pc.binary_join_element_wise(*texts, ":")).to_pylist()
    if any("\x00" in text for text in combined):
        return None
    kind = "STRING" if dialect == "spark" else "VARCHAR"
    null_text = text_literal(_NULL_TEXT, dialect)
    images = [f"COALESCE(CAST({identifier(n, dialect)} AS {kind}), {null_text})" for n in exact]
    listed = ", ".join(text_literal(text, dialect) for text in combined)
    image = " || ':' || ".join(images)
    return f"({image}) IN ({listed})"


def _has_exact_text(kind: pa.DataType) -> bool:
    return any(test(kind) for test in (pa.types.is_integer, pa.types.is_string))
