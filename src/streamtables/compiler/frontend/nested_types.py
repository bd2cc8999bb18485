"""The types of calls that make arrays, maps and structs, or take them apart.

As everywhere, only what is certain is said: where parts have different types Spark may cast them,
and what it casts them to is its own business.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from streamtables.compiler.types import (
    DATE,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    UNKNOWN,
    SqlType,
    array_of,
    is_integer,
    map_of,
    nested_types,
    struct_fields,
    struct_of,
    written_type,
)

Variables = Mapping[str, SqlType]
TypeIn = Callable[[exp.Expr, Variables], SqlType]
"""Tells the type of an expression that may also read these variables of a lambda function."""

_TEXTS = array_of(STRING)


def variable(name: str) -> str:
    """Return under which name the type of a variable stands among those of columns."""
    return f"->{name.lower()}"


def item_type(given: SqlType) -> SqlType:
    """Return the type of what brackets find in an array or a map.

    >>> item_type(SqlType("map<int,array<date>>")), item_type(STRING)
    ('array<date>', 'unknown')
    """
    return nested_types(given)[-1] if given.startswith(("array<", "map<")) else UNKNOWN


def nested_type(name: str, items: Sequence[exp.Expr], type_in: TypeIn) -> SqlType:
    """Return the type of a call; UNKNOWN for what has nothing to do with nested values."""
    if name == "named_struct":
        return _named_struct(items, type_in)
    if name == "struct":
        # Without a name a field has one that depends on what stands there.
        named = all(isinstance(item, exp.Alias) for item in items)
        return (
            struct_of([(item.alias, type_in(item.this, {})) for item in items])
            if named
            else UNKNOWN
        )
    if name in ("from_json", "from_csv", "variant_get", "try_variant_get"):
        return _as_written(name, items)
    if any(isinstance(item, exp.Lambda) for item in items):
        return _with_lambda(name, items, type_in)
    rule = _RULES.get(name)
    if rule is None or not items:
        return UNKNOWN
    return rule([type_in(item, {}) for item in items])


def _named_struct(items: Sequence[exp.Expr], type_in: TypeIn) -> SqlType:
    names, values = items[::2], items[1::2]
    written = all(isinstance(name, exp.Literal) and name.is_string for name in names)
    if not written or len(names) != len(values):
        return UNKNOWN
    pairs = zip(names, values, strict=True)
    return struct_of([(name.name, type_in(value, {})) for name, value in pairs])


def _as_written(name: str, items: Sequence[exp.Expr]) -> SqlType:
    place = 2 if name.endswith("variant_get") else 1
    schema = items[place] if len(items) > place else None
    if not isinstance(schema, exp.Literal) or not schema.is_string:
        return UNKNOWN
    found = written_type(schema.name)
    return UNKNOWN if name == "from_csv" and not found.startswith("struct<") else found


def _with_lambda(name: str, items: Sequence[exp.Expr], type_in: TypeIn) -> SqlType:
    given = type_in(items[0], {})
    if name in ("filter", "array_sort", "map_filter"):
        return given if given.startswith(("array<", "map<")) else UNKNOWN
    if name in ("aggregate", "reduce"):
        start = type_in(items[1], {})
        return start if len(items) == 3 else _result(items[-1], [start], type_in)
    parts = nested_types(given) if given.startswith(("array<", "map<")) else []
    match name, parts:
        case "transform", [item]:
            return array_of(_result(items[-1], [item, SqlType("int")], type_in))
        case "zip_with", [item]:
            other = item_type(type_in(items[1], {}))
            return array_of(_result(items[-1], [item, other], type_in))
        case "transform_keys", [key, value]:
            return map_of(_result(items[-1], [key, value], type_in), value)
        case "transform_values", [key, value]:
            return map_of(key, _result(items[-1], [key, value], type_in))
        case _:
            return UNKNOWN


def _result(function: exp.Expr, given: Sequence[SqlType], type_in: TypeIn) -> SqlType:
    """Return the type of what a lambda function gives for arguments of these types."""
    if not isinstance(function, exp.Lambda):
        return UNKNOWN
    names = [variable(item.name) for item in function.expressions]
    return type_in(function.this, dict(zip(names, given, strict=False)))


def _first(given: list[SqlType]) -> SqlType:
    return given[0] if given[0].startswith(("array<", "map<")) else UNKNOWN


def _same(given: list[SqlType]) -> SqlType:
    return _first(given) if len(set(given)) == 1 else UNKNOWN


def _with_item(given: list[SqlType]) -> SqlType:
    return _first(given) if item_type(given[0]) == given[-1] else UNKNOWN


def _inner(given: list[SqlType]) -> SqlType:
    inner = item_type(given[0])
    return inner if given[0].startswith("array<array<") else UNKNOWN


def _keys(given: list[SqlType]) -> SqlType:
    return array_of(nested_types(given[0])[0]) if given[0].startswith("map<") else UNKNOWN


def _values(given: list[SqlType]) -> SqlType:
    return array_of(item_type(given[0])) if given[0].startswith("map<") else UNKNOWN


def _entries(given: list[SqlType]) -> SqlType:
    if not given[0].startswith("map<"):
        return UNKNOWN
    key, value = nested_types(given[0])
    return array_of(struct_of([("key", key), ("value", value)]))


def _from_entries(given: list[SqlType]) -> SqlType:
    fields = struct_fields(item_type(given[0]))
    return map_of(fields[0][1], fields[1][1]) if len(fields) == 2 else UNKNOWN


def _from_arrays(given: list[SqlType]) -> SqlType:
    arrays = len(given) == 2 and all(item.startswith("array<") for item in given)
    return map_of(item_type(given[0]), item_type(given[1])) if arrays else UNKNOWN


def _sequence(given: list[SqlType]) -> SqlType:
    if len(given) > 1 and given[0] == given[1]:
        if is_integer(given[0]) and set(given) == {given[0]}:
            return array_of(given[0])
        if given[0] in (DATE, TIMESTAMP, TIMESTAMP_NTZ):
            return array_of(given[0])
    return UNKNOWN


def _of_text(made: SqlType) -> Callable[[list[SqlType]], SqlType]:
    return lambda given: made if given[0] == STRING else UNKNOWN


def _item(given: list[SqlType]) -> SqlType:
    return item_type(given[0])


def _array_item(given: list[SqlType]) -> SqlType:
    return item_type(given[0]) if given[0].startswith("array<") else UNKNOWN


def _repeated(given: list[SqlType]) -> SqlType:
    return array_of(given[0])


_RULES: dict[str, Callable[[list[SqlType]], SqlType]] = {
    **dict.fromkeys(("array_distinct", "array_compact", "slice", "sort_array"), _first),
    **dict.fromkeys(("array_union", "array_intersect", "array_except", "map_concat"), _same),
    **dict.fromkeys(("array_append", "array_prepend", "array_insert", "array_remove"), _with_item),
    **dict.fromkeys(("element_at", "try_element_at"), _item),
    **dict.fromkeys(("array_max", "array_min", "get"), _array_item),
    "array_repeat": _repeated,
    "flatten": _inner,
    "map_entries": _entries,
    "map_from_arrays": _from_arrays,
    "map_from_entries": _from_entries,
    "map_keys": _keys,
    "map_values": _values,
    "sequence": _sequence,
    "json_object_keys": _of_text(_TEXTS),
    "regexp_extract_all": _of_text(_TEXTS),
    "sentences": _of_text(array_of(_TEXTS)),
    "split": _of_text(_TEXTS),
    "str_to_map": _of_text(map_of(STRING, STRING)),
}
