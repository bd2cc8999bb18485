"""The binary image of a value: equal images if and only if the stored bytes are equal.

SQL equality is coarser: it calls 0.0 and −0.0 equal, and two spellings of collated text; maps have
none.  Netting and matching must not be.  A type that compares like its bytes is its own image.
"""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.types import (
    STRING,
    UNKNOWN,
    SqlType,
    has_plain_image,
    is_float,
    is_orderable,
    is_string,
    orders_by_bytes,
)

# Without these JSON shows milliseconds only.
_JSON_FORMATS = {
    "timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
    "timestampNTZFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSS",
}


def image(value: exp.Expr, type_: SqlType) -> exp.Expr:
    """Return an expression to group by instead of the value itself."""
    if has_plain_image(type_):
        return value
    if is_float(type_):
        # Text keeps the sign of zero, has one spelling of NaN, and tells all other values apart.
        return exp.cast(value, STRING, dialect="spark")
    if is_string(type_):
        return exp.cast(value, "binary", dialect="spark")
    if type_.startswith("map<") and "map<" not in type_[1:]:
        entries = exp.Anonymous(this="map_entries", expressions=[value])
        return _json(exp.Anonymous(this="array_sort", expressions=[entries]))
    if type_ == UNKNOWN or "<" in type_:
        return _json(value)
    return value


def in_order(value: exp.Expr, type_: SqlType) -> tuple[exp.Expr, ...]:
    """Return what to order by, so that values share a place only if their images are equal.

    An order calls equal what SQL does, and there is none of maps; the image tells the rest.
    """
    if orders_by_bytes(type_):
        return (value,)
    if is_orderable(type_):
        return (value, image(value.copy(), type_))
    return (_json(value) if type_ == "variant" else image(value, type_),)


def _json(value: exp.Expr) -> exp.Expr:
    """JSON spells out nested values, with the sign of zero and without any collation.

    A struct round the value keeps NULL apart from everything else.
    """
    wrapped = exp.Anonymous(
        this="named_struct", expressions=[exp.Literal.string("v"), value.copy()]
    )
    formats = [exp.Literal.string(text) for pair in _JSON_FORMATS.items() for text in pair]
    options = exp.Anonymous(this="map", expressions=formats)
    return exp.Anonymous(this="to_json", expressions=[wrapped, options])
