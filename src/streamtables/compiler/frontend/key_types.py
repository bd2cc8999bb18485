"""Which types rows can be grouped by, so that a group found again is the same to the byte."""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.frontend.binding import Binding
from streamtables.compiler.types import (
    UNKNOWN,
    SqlType,
    holds_collated,
    is_orderable,
    nested_types,
    simple_parts,
)
from streamtables.errors import UnimplementedSqlError


def check_key_type(type_: SqlType, place: exp.Expr | None, binding: Binding) -> None:
    """Refuse a type whose equal values may look different, or that has no equality."""
    if holds_collated(type_):
        raise binding.unimplemented("a group, DISTINCT, MIN, MAX or MODE of collated text", place)
    if "map<" in type_:
        raise binding.unimplemented("a group or DISTINCT of a map", place)
    if "variant" in type_:
        raise binding.unimplemented("a group or DISTINCT of a variant", place)


def check_collected_type(
    function: str, type_: SqlType, place: exp.Expr | None, binding: Binding
) -> None:
    """Refuse lists of what Spark cannot order; a map is ordered by its sorted entries."""
    is_map = type_.startswith("map<")
    parts = nested_types(type_) if is_map else simple_parts(type_)
    # What is said of no type may be orderable, and mostly is; a map that it makes is not.
    if all(is_orderable(part) or (part == UNKNOWN and not is_map) for part in parts):
        return
    raise UnimplementedSqlError(
        f'"{function}" of values of type {type_} is not maintained incrementally by this version',
        sql=binding.sql,
        span=binding.place_of(place),
        detail=f"A list is kept in order, and Spark cannot order values of type {type_}.",
        hint="Collect to_json(…) of the value, or let full refreshes keep the table.",
    )


def check_stored_type(type_: SqlType, place: exp.Expr | None, binding: Binding) -> None:
    """Refuse a result that holds values without any equality: no row of it could be found again."""
    if "variant" in type_:
        raise binding.not_incremental("A VARIANT has no equality to find a stored row by.", place)
