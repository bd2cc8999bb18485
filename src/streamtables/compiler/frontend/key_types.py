"""Which types rows can be grouped by, so that a group found again is the same to the byte."""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.frontend.binding import Binding
from streamtables.compiler.types import SqlType, is_collated


def check_key_type(type_: SqlType, place: exp.Expr | None, binding: Binding) -> None:
    """Refuse a type whose equal values may look different, or that has no equality."""
    if is_collated(type_):
        raise binding.unimplemented("a group, DISTINCT, MIN or MAX of collated text", place)
    if "map<" in type_:
        raise binding.unimplemented("a group or DISTINCT of a map", place)
    if "variant" in type_:
        raise binding.unimplemented("a group or DISTINCT of a variant", place)


def check_stored_type(type_: SqlType, place: exp.Expr | None, binding: Binding) -> None:
    """Refuse a result that holds values without any equality: no row of it could be found again."""
    if "variant" in type_:
        raise binding.not_incremental("A VARIANT has no equality to find a stored row by.", place)
