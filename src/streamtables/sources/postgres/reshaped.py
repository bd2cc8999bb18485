"""Whether a table in the stream still is what its mirror was made for."""

from __future__ import annotations

from collections.abc import Sequence

from streamtables.sources.postgres.descriptions import Relation, RelationColumn
from streamtables.sources.postgres.types import MirrorColumn

# Only of these does the mirror's type depend on the modifier, which has precision and scale.
_NUMERIC = (1700, 1231)


def what_changed(relation: Relation, columns: Sequence[MirrorColumn], key: Sequence[str]) -> str:
    """Return how the table differs from what is expected, as a sentence; empty when it does not.

    Without a `key` the mirror needs whole old rows; with one, old rows have to be named by it.
    """
    return _columns_changed(relation, columns) or _identity_changed(relation, key)


def _columns_changed(relation: Relation, columns: Sequence[MirrorColumn]) -> str:
    table = f"{relation.schema}.{relation.name}"
    found = {column.name: column for column in relation.columns}
    expected = {column.name: column for column in columns}
    added, dropped = _listed(set(found) - set(expected)), _listed(set(expected) - set(found))
    if added or dropped:
        parts = [f"{added} added" if added else "", f"{dropped} dropped" if dropped else ""]
        return f"The table {table} was altered: {' and '.join(filter(None, parts))}."
    retyped = _listed({name for name in found if _retyped(found[name], expected[name])})
    if retyped:
        return f"The table {table} was altered: {retyped} of another type."
    if list(found) != list(expected):
        return f"The table {table} was altered: its columns stand in another order."
    return ""


def _retyped(found: RelationColumn, expected: MirrorColumn) -> bool:
    kind = expected.pg.type
    if found.type_oid == kind.oid:
        return kind.oid in _NUMERIC and found.modifier != kind.modifier
    # The stream has the domain; the facts have what it stands on.
    return found.type_name != kind.name


def _identity_changed(relation: Relation, key: Sequence[str]) -> str:
    if relation.identity == "f":
        return ""
    named = {column.name for column in relation.columns if column.in_identity}
    if key and named == set(key):
        return ""
    table = f"{relation.schema}.{relation.name}"
    by = f"by {_listed(set(key))}" if key else "as whole rows"
    return f"The replica identity of the table {table} changed: old rows do not come {by} any more."


def _listed(names: set[str]) -> str:
    return ", ".join(f'"{name}"' for name in sorted(names))
