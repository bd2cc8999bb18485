"""The type of a bound expression, as Spark's analyser would derive it, or `UNKNOWN`.

Only what can be said with certainty is said: rules that lean on a type (sums by state, netting by
plain equality) stay off for an unknown one.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from streamtables.compiler.frontend.dialect import VerbatimSpark
from streamtables.compiler.frontend.functions import WITH_UNIT, fixed_type
from streamtables.compiler.frontend.nested_types import (
    Variables,
    item_type,
    nested_type,
    variable,
)
from streamtables.compiler.frontend.whole_numbers import whole_number
from streamtables.compiler.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    MAX_PRECISION,
    NULL,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    UNKNOWN,
    SqlType,
    array_of,
    decimal,
    decimal_parts,
    field_type,
    is_collated,
    is_decimal,
    is_float,
    is_integer,
    is_numeric,
    map_of,
    normal_type,
    wider,
)

Types = Mapping[str, SqlType]

_PREDICATES = (
    exp.Predicate,
    exp.And,
    exp.Or,
    exp.Not,
    exp.Between,
    exp.In,
    exp.Like,
    exp.ILike,
    exp.RegexpLike,
    exp.Is,
    exp.Escape,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
    exp.Boolean,
)
_SAME_NUMBER = frozenset({"abs", "negative", "positive", "nullifzero"})
_SAME_ARRAY = frozenset({"array_sort", "map_filter", "reverse"})
_WIDEST = frozenset({"coalesce", "ifnull", "nvl", "greatest", "least"})
_BINARY_TOO = frozenset({"elt", "left", "lpad", "overlay", "right", "rpad", "substr", "substring"})
"""Functions of text that take bytes too, and then give bytes."""

_OPERATORS: dict[str, type[exp.Binary]] = {
    "mod": exp.Mod,
    "pmod": exp.Mod,
    "try_add": exp.Add,
    "try_divide": exp.Div,
    "try_mod": exp.Mod,
    "try_multiply": exp.Mul,
    "try_subtract": exp.Sub,
}
_SHIFTS = frozenset({"shiftleft", "shiftright", "shiftrightunsigned"})
_LONG_UNITS = frozenset({"DAY", "DAYS", "WEEK", "WEEKS", "MONTH", "MONTHS", "YEAR", "YEARS"})


def type_of(expression: exp.Expr, columns: Types) -> SqlType:
    """Return the type of an expression over columns of known types."""
    match expression:
        case exp.Column():
            return columns.get(expression.name, UNKNOWN)
        case exp.Identifier():
            return columns.get(variable(expression.name), UNKNOWN)
        case exp.Paren() | exp.Alias():
            return type_of(expression.this, columns)
        case exp.Neg():
            return _number(type_of(expression.this, columns))
        case exp.Null():
            return NULL
        case exp.Literal():
            return _literal(expression)
        case exp.Cast():
            return cast_type(expression)
        case exp.Add() | exp.Sub() | exp.Mul() | exp.Div() | exp.Mod() | exp.IntDiv():
            return _arithmetic(expression, columns)
        case exp.Case() | exp.If():
            return _branches(expression, columns)
        case exp.Dot():
            return field_type(type_of(expression.this, columns), expression.name)
        case exp.RawString():
            return STRING
        case exp.HexString():
            return BINARY
        case exp.DPipe():
            return _concatenated([expression.this, expression.expression], columns)
        case exp.Substring() | exp.Overlay() if type_of(expression.this, columns) == BINARY:
            return BINARY
        case exp.Trim() | exp.Substring() | exp.Overlay():
            return _text(expression, columns)
        case exp.BitwiseAnd() | exp.BitwiseOr() | exp.BitwiseXor():
            return _bits([expression.this, expression.expression], columns)
        case exp.BitwiseNot():
            return _bits([expression.this], columns)
        case exp.BitwiseLeftShift() | exp.BitwiseRightShift():
            return _shifted(expression.this, columns)
        case exp.Bracket():
            return item_type(type_of(expression.this, columns))
        case exp.Transform():
            items = [expression.this, expression.expression]
            return _nested("transform", items, columns)
        case exp.Collate():
            return _collated(expression.expression)
        case exp.Anonymous():
            return _call(expression, columns)
        case exp.Extract():
            return INT if expression.name.upper() != "SECOND" else decimal(8, 6)
        case exp.StrPosition():
            return INT
        case _ if isinstance(expression, _PREDICATES):
            return BOOLEAN
        case _:
            return UNKNOWN


def _nested(name: str, items: list[exp.Expr], columns: Types) -> SqlType:
    def type_in(item: exp.Expr, variables: Variables) -> SqlType:
        return type_of(item, {**columns, **variables} if variables else columns)

    return nested_type(name, items, type_in)


def _number(found: SqlType) -> SqlType:
    """Text becomes a number here, so that only numbers keep their type."""
    return found if is_numeric(found) else UNKNOWN


def _bits(operands: list[exp.Expr], columns: Types) -> SqlType:
    found = _widest(operands, columns)
    return found if is_integer(found) else UNKNOWN


def _shifted(operand: exp.Expr, columns: Types) -> SqlType:
    found = type_of(operand, columns)
    return wider(found, INT) if is_integer(found) else UNKNOWN


def _concatenated(parts: list[exp.Expr], columns: Types) -> SqlType:
    """Arrays stay arrays and bytes stay bytes; all else becomes text."""
    found = [type_of(part, columns) for part in parts]
    if all(type_ == found[0] for type_ in found) and found[0].startswith("array<"):
        return found[0]
    if any(type_ in (UNKNOWN, BINARY) or "<" in type_ for type_ in found):
        return UNKNOWN
    return next((type_ for type_ in found if is_collated(type_)), STRING)


def _text(expression: exp.Expr, columns: Types) -> SqlType:
    """Text has the collation of what it is made from; it is plain when all of that is."""
    for part in expression.iter_expressions():
        found = type_of(part, columns)
        if found == UNKNOWN or is_collated(found):
            return found
    return STRING


def _collated(text: exp.Expr | None) -> SqlType:
    """Return the type of text under a collation that is named, with or without quotes."""
    return normal_type(f"string collate {text.name if text is not None else ''}")


def cast_type(cast: exp.Cast) -> SqlType:
    """Return the type that a cast names."""
    return normal_type(cast.to.sql(dialect=VerbatimSpark))


def _literal(literal: exp.Literal) -> SqlType:
    if literal.is_string:
        return STRING
    text = literal.name.lower()
    if "e" in text:
        return DOUBLE
    if "." in text:
        whole, fraction = text.split(".")
        digits = len(whole.lstrip("0")) + len(fraction)
        return decimal(max(digits, len(fraction), 1), len(fraction))
    value = int(text)
    if value < 2**31:
        return INT
    return BIGINT if value < 2**63 else decimal(len(text), 0)


def _arithmetic(expression: exp.Expr, columns: Types) -> SqlType:
    left, right = type_of(expression.this, columns), type_of(expression.expression, columns)
    if isinstance(expression, exp.IntDiv):
        return BIGINT if is_numeric(left) and is_numeric(right) else UNKNOWN
    if not (is_numeric(left) and is_numeric(right)):
        return _dates(expression, left, right)
    if is_float(left) or is_float(right):
        both_float = left == right == FLOAT and not isinstance(expression, exp.Div)
        return FLOAT if both_float else DOUBLE
    if is_integer(left) and is_integer(right):
        return DOUBLE if isinstance(expression, exp.Div) else wider(left, right)
    return _decimal_arithmetic(expression, left, right)


def _dates(expression: exp.Expr, left: SqlType, right: SqlType) -> SqlType:
    if isinstance(expression, exp.Add | exp.Sub) and isinstance(
        expression.expression, exp.Interval
    ):
        unit = expression.expression.args.get("unit")
        by_days = isinstance(unit, exp.Var) and unit.name.upper() in _LONG_UNITS
        if left == DATE and by_days:
            return DATE
        return left if left in (TIMESTAMP, TIMESTAMP_NTZ) else UNKNOWN
    if left == DATE and is_integer(right):
        return DATE
    return UNKNOWN


def _decimal_arithmetic(expression: exp.Expr, left: SqlType, right: SqlType) -> SqlType:
    """Spark's rules for decimal results."""
    p1, s1 = _digits(expression.this, left)
    p2, s2 = _digits(expression.expression, right)
    match expression:
        case exp.Add() | exp.Sub():
            scale, precision = max(s1, s2), max(p1 - s1, p2 - s2) + max(s1, s2) + 1
        case exp.Mul():
            scale, precision = s1 + s2, p1 + p2 + 1
        case exp.Mod():
            scale, precision = max(s1, s2), min(p1 - s1, p2 - s2) + max(s1, s2)
        case _:
            scale = max(6, s1 + p2 + 1)
            precision = p1 - s1 + s2 + scale
    return _fitted(precision, scale)


def _fitted(precision: int, scale: int) -> SqlType:
    """Past 38 digits the scale shrinks to make room for the whole part, but not below six."""
    if precision <= MAX_PRECISION:
        return decimal(precision, scale)
    room = MAX_PRECISION - (precision - scale)
    return decimal(MAX_PRECISION, max(room, min(scale, 6)))


def _digits(expression: exp.Expr, type_: SqlType) -> tuple[int, int]:
    # An integer literal beside a decimal counts with its own digits, not with those of INT.
    if is_integer(type_) and isinstance(expression, exp.Literal):
        return len(expression.name.lstrip("0")) or 1, 0
    parts = decimal_parts(type_)
    assert parts is not None
    return parts


def _branches(expression: exp.Case | exp.If, columns: Types) -> SqlType:
    if isinstance(expression, exp.If):
        values = [expression.args["true"], expression.args.get("false")]
    else:
        values = [item.args["true"] for item in expression.args["ifs"]]
        values.append(expression.args.get("default"))
    return _widest([value for value in values if value is not None], columns)


def _widest(values: list[exp.Expr], columns: Types) -> SqlType:
    result = NULL
    for value in values:
        result = wider(result, type_of(value, columns))
        if result == UNKNOWN:
            break
    return result


def _call(call: exp.Anonymous, columns: Types) -> SqlType:
    name = str(call.this).lower()
    arguments = call.expressions
    if not arguments:
        return fixed_type(name)
    first = type_of(arguments[0], columns)
    if name == "collate" and len(arguments) == 2:
        return _collated(arguments[1])
    if name in WITH_UNIT and len(arguments) == 3:
        return _moved_by_unit(name, type_of(arguments[2], columns))
    if name in _WIDEST:
        return _widest(arguments, columns)
    if name in ("if", "nvl2") and len(arguments) == 3:
        return _widest(arguments[1:], columns)
    if name == "zeroifnull":
        return wider(first, INT) if is_numeric(first) else UNKNOWN
    if name == "nullif":
        return first
    if name in _SAME_NUMBER:
        return _number(first)
    if name in _SAME_ARRAY and (first == STRING or first.startswith(("array<", "map<"))):
        return first
    if name in _OPERATORS and len(arguments) == 2:
        return _by_operator(name, arguments, columns)
    if name in _SHIFTS:
        return _shifted(arguments[0], columns)
    if name == "array":
        return array_of(_widest(arguments, columns))
    if name == "map":
        return map_of(_widest(arguments[::2], columns), _widest(arguments[1::2], columns))
    if name == "concat":
        return _concatenated(arguments, columns)
    if name == "decode" and len(arguments) > 2:
        return UNKNOWN
    if name in _BINARY_TOO and BINARY in [type_of(item, columns) for item in arguments]:
        return UNKNOWN
    if fixed_type(name) == STRING:
        return _text(call, columns)
    if name in ("round", "bround", "ceil", "floor", "ceiling"):
        return _rounded(name, arguments, columns)
    found = fixed_type(name)
    return found if found != UNKNOWN else _nested(name, arguments, columns)


def _moved_by_unit(name: str, moment: SqlType) -> SqlType:
    """Return the type of a difference in some unit, or of a moment that is moved by one."""
    if name.endswith("diff"):
        return BIGINT if moment in (DATE, TIMESTAMP, TIMESTAMP_NTZ) else UNKNOWN
    return moment if moment in (TIMESTAMP, TIMESTAMP_NTZ) else UNKNOWN


def _by_operator(name: str, arguments: list[exp.Expr], columns: Types) -> SqlType:
    """Return the type of a function that means an operator; of decimals it may keep more digits."""
    found = [type_of(item, columns) for item in arguments]
    if not all(is_integer(type_) or is_float(type_) for type_ in found):
        return UNKNOWN
    left, right = (item.copy() for item in arguments)
    return _arithmetic(_OPERATORS[name](this=left, expression=right), columns)


def _rounded(name: str, arguments: list[exp.Expr], columns: Types) -> SqlType:
    first = type_of(arguments[0], columns)
    if is_decimal(first):
        return _rounded_decimal(name, arguments, first)
    if name in ("round", "bround"):
        return _number(first)
    return BIGINT if is_numeric(first) and len(arguments) == 1 else UNKNOWN


def _rounded_decimal(name: str, arguments: list[exp.Expr], given: SqlType) -> SqlType:
    """One more digit may be needed before the point, and no more after it than there were."""
    precision, scale = decimal_parts(given) or (0, 0)
    if name not in ("round", "bround") and scale == 0 and len(arguments) == 1:
        return given
    kept: int | None = 0
    if len(arguments) > 1:
        kept = whole_number(arguments[1]) if name in ("round", "bround") else None
    if kept is None or kept < 0:
        return UNKNOWN
    return decimal(precision - scale + 1 + min(kept, scale), min(kept, scale))
