"""Columns of a Delta schema with their types as Spark DDL writes them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from streamtables.engine.sql_text import identifier
from streamtables.errors import SourceUnusableError

# Where Spark keeps the declared type of text with a length.
_DECLARED = "__CHAR_VARCHAR_TYPE_STRING"
_CHAR = re.compile(r"\bchar\(")
# The schema's JSON has its own names for these; all others are the same in DDL.
_NAMES = {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}


@dataclass(frozen=True)
class Column:
    """A column by name and Spark DDL type, such as `decimal(12,2)` or `struct<a:int>`."""

    name: str
    type: str
    nullable: bool


def columns_of(schema: Mapping[str, object]) -> tuple[Column, ...]:
    """Read the columns of a schema in the JSON form that Delta and Spark share."""
    return tuple(
        Column(str(field["name"]), _declared(field), bool(field["nullable"]))
        for field in _fields(schema)
    )


def _declared(field: Mapping[str, object]) -> str:
    """Return the type of a column; CHAR, which the schema calls a string, as it was declared."""
    metadata = field.get("metadata")
    declared = metadata.get(_DECLARED) if isinstance(metadata, Mapping) else None
    if isinstance(declared, str) and _CHAR.search(declared.lower()):
        return declared.lower()
    return ddl_type(field["type"])


def ddl_type(kind: object) -> str:
    """Return the DDL text of a type in its JSON form."""
    if isinstance(kind, str):
        return _NAMES.get(kind, kind.replace(" ", ""))
    if not isinstance(kind, Mapping):
        raise SourceUnusableError(f"the column type {kind!r} is not known")
    match kind.get("type"):
        case "struct":
            parts = [f"{_name(f['name'])}:{ddl_type(f['type'])}" for f in _fields(kind)]
            return f"struct<{','.join(parts)}>"
        case "array":
            return f"array<{ddl_type(kind['elementType'])}>"
        case "map":
            return f"map<{ddl_type(kind['keyType'])},{ddl_type(kind['valueType'])}>"
    raise SourceUnusableError(f"the column type {kind.get('type')!r} is not known")


def _fields(schema: Mapping[str, object]) -> list[Mapping[str, object]]:
    fields = schema.get("fields")
    return fields if isinstance(fields, list) else []


def _name(name: object) -> str:
    text = str(name)
    return text if text.replace("_", "a").isalnum() else identifier(text)
