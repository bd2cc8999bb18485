"""The names of Spark's types, and the few rules about them that delta rules depend on.

A type is its name in Spark's DDL, lower case and without spaces: `bigint`, `decimal(12,2)`,
`array<string>`.  `UNKNOWN` is the honest answer where the compiler cannot tell; whoever asks must
then take the path that is right for every type.
"""

from __future__ import annotations

import re
from typing import NewType

SqlType = NewType("SqlType", str)

UNKNOWN = SqlType("unknown")
NULL = SqlType("void")
BOOLEAN = SqlType("boolean")
INT = SqlType("int")
BIGINT = SqlType("bigint")
DOUBLE = SqlType("double")
FLOAT = SqlType("float")
STRING = SqlType("string")
DATE = SqlType("date")
TIMESTAMP = SqlType("timestamp")
TIMESTAMP_NTZ = SqlType("timestamp_ntz")
TIME_WINDOW = SqlType("struct<start:timestamp,end:timestamp>")
BINARY = SqlType("binary")

INTEGERS = (SqlType("tinyint"), SqlType("smallint"), INT, BIGINT)
MAX_PRECISION = 38

_SYNONYMS = {
    "integer": "int",
    "long": "bigint",
    "short": "smallint",
    "byte": "tinyint",
    "bool": "boolean",
    "real": "float",
    "text": "string",
    "numeric": "decimal(10,0)",
    "decimal": "decimal(10,0)",
    "dec": "decimal(10,0)",
    "timestamp_ltz": "timestamp",
}
_INTEGER_DIGITS = {"tinyint": 3, "smallint": 5, "int": 10, "bigint": 20}
_DECIMAL = re.compile(r"^(?:decimal|numeric|dec)\((\d+)(?:,(\d+))?\)$")
_FIELD_NAME = re.compile(r"(`(?:[^`]|``)*`|[^\s<>,:`()]+)(?=\s*:)")
_VARCHAR = re.compile(r"\bvarchar\(\d+\)")
_PADDED = re.compile(r"\bchar\(\d+\)")


def normal_type(name: str) -> SqlType:
    """Return the one spelling of a type name; the fields of a struct keep theirs.

    >>> normal_type("DECIMAL(12, 2)"), normal_type("STRUCT<Unit: Integer>")
    ('decimal(12,2)', 'struct<Unit:integer>')
    """
    # Every other piece is the name of a field.
    pieces = enumerate(_FIELD_NAME.split(name))
    text = "".join(item if at % 2 else re.sub(r"\s+", "", item.lower()) for at, item in pieces)
    if match := _DECIMAL.match(text):
        return decimal(int(match[1]), int(match[2] or 0))
    if text == "stringcollateutf8_binary":
        return STRING
    text = _VARCHAR.sub(STRING, text)
    return SqlType(_SYNONYMS.get(text, text))


def decimal(precision: int, scale: int) -> SqlType:
    """Return the decimal type with these digits, cut to what Spark can hold."""
    return SqlType(f"decimal({min(precision, MAX_PRECISION)},{min(scale, MAX_PRECISION)})")


def decimal_parts(name: SqlType) -> tuple[int, int] | None:
    """Return precision and scale of a decimal or an integer type, None for any other."""
    if match := _DECIMAL.match(name):
        return int(match[1]), int(match[2] or 0)
    if name in _INTEGER_DIGITS:
        return _INTEGER_DIGITS[name], 0
    return None


def is_integer(name: SqlType) -> bool:
    """Whether the type holds whole numbers in a fixed number of bytes."""
    return name in INTEGERS


def is_decimal(name: SqlType) -> bool:
    """Whether the type is a decimal with a fixed scale."""
    return name.startswith("decimal(")


def is_float(name: SqlType) -> bool:
    """Whether sums over the type depend on the order of the rows."""
    return name in (FLOAT, DOUBLE)


def is_numeric(name: SqlType) -> bool:
    """Whether the type is a number."""
    return is_integer(name) or is_decimal(name) or is_float(name)


def is_string(name: SqlType) -> bool:
    """Whether the type is text, of any collation."""
    return name == STRING or name.startswith(("stringcollate", "char("))


def is_padded(name: SqlType) -> bool:
    """Whether the type is, or holds, text that Spark fills up with blanks to compare it.

    >>> is_padded(normal_type("CHAR(3)")), is_padded(normal_type("varchar(3)"))
    (True, False)
    """
    return _PADDED.search(name) is not None


def is_collated(name: SqlType) -> bool:
    """Whether the type is text that calls different spellings equal."""
    return name.startswith("stringcollate")


def field_type(name: SqlType, field: str) -> SqlType:
    """Return the type of a field of a struct, UNKNOWN where there is none.

    >>> field_type(SqlType("struct<p:int,q:array<struct<r:int,s:int>>>"), "Q")
    'array<struct<r:int,s:int>>'
    """
    if not (name.startswith("struct<") and name.endswith(">")):
        return UNKNOWN
    fields = {known.lower(): type_ for known, type_ in struct_fields(name)}
    return fields.get(field.lower(), UNKNOWN)


def nested_types(name: SqlType) -> list[SqlType]:
    """Return the types between the outermost brackets: of an array's items, of a map's two parts.

    >>> nested_types(SqlType("map<string,struct<p:int,q:int>>"))
    ['string', 'struct<p:int,q:int>']
    """
    return [SqlType(part) for part in _split(name[name.index("<") + 1 : -1])]


def struct_fields(name: SqlType) -> list[tuple[str, SqlType]]:
    """Return names and types of the fields of a struct; nothing for another type."""
    if not name.startswith("struct<"):
        return []
    pairs = [part.partition(":") for part in _split(name[7:-1])]
    return [(key.strip("`"), SqlType(type_)) for key, _, type_ in pairs]


def array_of(item: SqlType) -> SqlType:
    """Return the type of an array, UNKNOWN where that of its items is not certain."""
    return SqlType(f"array<{item}>") if is_certain(item) else UNKNOWN


def map_of(key: SqlType, value: SqlType) -> SqlType:
    """Return the type of a map, UNKNOWN where one of its parts is not certain."""
    known = is_certain(key) and is_certain(value)
    return SqlType(f"map<{key},{value}>") if known else UNKNOWN


def struct_of(fields: list[tuple[str, SqlType]]) -> SqlType:
    """Return the type of a struct, UNKNOWN where a field has no plain name or no certain type.

    >>> struct_of([("Ab", INT), ("c", STRING)]), struct_of([("a b", INT)])
    ('struct<Ab:int,c:string>', 'unknown')
    """
    known = all(re.fullmatch(r"\w+", name) and is_certain(type_) for name, type_ in fields)
    if not fields or not known:
        return UNKNOWN
    return SqlType(f"struct<{','.join(f'{name}:{type_}' for name, type_ in fields)}>")


def is_certain(name: SqlType) -> bool:
    """Whether values of the type can be parts of a value whose type is certain."""
    return name not in (UNKNOWN, NULL) and not any(
        word in name for word in ("collate", "char(", "interval")
    )


def written_type(text: str) -> SqlType:
    """Return the type that a text names, as a schema for JSON does; a list of columns is a struct.

    >>> written_type("Ab INT, c ARRAY<DECIMAL(5, 2)>"), written_type("map<string, long>")
    ('struct<Ab:int,c:array<decimal(5,2)>>', 'map<string,bigint>')
    """
    one = _written(text.strip())
    if one != UNKNOWN:
        return one
    fields = [re.fullmatch(r"\s*(\w+)\s+(.+?)\s*", part) for part in _split(text)]
    if not all(fields):
        return UNKNOWN
    return struct_of([(field[1], _written(field[2])) for field in fields if field])


def _written(text: str) -> SqlType:
    found = re.fullmatch(r"(array|map|struct)\s*<(.*)>", text, re.IGNORECASE | re.DOTALL)
    if found is None:
        plain = normal_type(text)
        return plain if has_plain_image(plain) or is_float(plain) else UNKNOWN
    parts = _split(found[2])
    match found[1].lower(), len(parts):
        case "array", 1:
            return array_of(_written(parts[0].strip()))
        case "map", 2:
            return map_of(_written(parts[0].strip()), _written(parts[1].strip()))
        case "struct", _:
            pairs = [part.partition(":") for part in parts]
            return struct_of([(key.strip(), _written(type_.strip())) for key, _, type_ in pairs])
        case _:
            return UNKNOWN


def _split(body: str) -> list[str]:
    """Split a list at the commas that stand in no brackets."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(body + ","):
        depth += (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0:
            parts.append(body[start:place])
            start = place + 1
    return parts


def has_plain_image(name: SqlType) -> bool:
    """Whether equality of two values means that their stored bytes are equal.

    It does not for floats (0.0 = −0.0), collated text, maps (which have no equality at all), for
    nested types that may hold one of them, and for a type we do not know.
    """
    return (
        is_integer(name)
        or is_decimal(name)
        or name in (BOOLEAN, STRING, DATE, TIMESTAMP, TIMESTAMP_NTZ, BINARY, NULL)
    )


def simple_parts(name: SqlType) -> list[SqlType]:
    """Return the types of the values that arrays and structs are made of; a map is one value.

    >>> simple_parts(normal_type("ARRAY<STRUCT<p: INT, q: MAP<STRING, INT>>>"))
    ['int', 'map<string,int>']
    """
    if name.startswith("array<"):
        return [part for inner in nested_types(name) for part in simple_parts(inner)]
    if name.startswith("struct<"):
        return [part for _, inner in struct_fields(name) for part in simple_parts(inner)]
    return [name]


def is_orderable(name: SqlType) -> bool:
    """Whether Spark can sort values of the type, as far as the compiler can tell."""
    return not any(p.startswith(("map<", "variant")) or p == UNKNOWN for p in simple_parts(name))


def holds_collated(name: SqlType) -> bool:
    """Whether the type is, or holds, text that calls different spellings equal."""
    return any(is_collated(part) for part in simple_parts(name))


def orders_by_bytes(name: SqlType) -> bool:
    """Whether values that share a place in an order have the same stored bytes.

    >>> orders_by_bytes(normal_type("ARRAY<STRING>")), orders_by_bytes(normal_type("ARRAY<DOUBLE>"))
    (True, False)
    """
    inexact = any(is_float(part) or is_collated(part) for part in simple_parts(name))
    return is_orderable(name) and not inexact


def wider(left: SqlType, right: SqlType) -> SqlType:
    """Return the type that holds both, as Spark widens the branches of CASE, COALESCE and UNION."""
    # Structs are one type whatever the case of their fields; the first one names them.
    if left.lower() == right.lower() or right == NULL:
        return left
    if left == NULL:
        return right
    if is_string(left) and is_string(right) and not (is_collated(left) or is_collated(right)):
        return STRING
    if is_numeric(left) and is_numeric(right):
        return _wider_number(left, right)
    if {left, right} == {DATE, TIMESTAMP}:
        return TIMESTAMP
    if {left, right} == {DATE, TIMESTAMP_NTZ}:
        return TIMESTAMP_NTZ
    return UNKNOWN


def _wider_number(left: SqlType, right: SqlType) -> SqlType:
    if is_float(left) or is_float(right):
        return left if left == right == FLOAT else DOUBLE
    if is_integer(left) and is_integer(right):
        return max(left, right, key=INTEGERS.index)
    left_digits, right_digits = decimal_parts(left), decimal_parts(right)
    assert left_digits is not None
    assert right_digits is not None
    scale = max(left_digits[1], right_digits[1])
    whole = max(left_digits[0] - left_digits[1], right_digits[0] - right_digits[1])
    # Past 38 digits Spark gives up some of the scale; the exact amount is Spark's business.
    return decimal(whole + scale, scale) if whole + scale <= MAX_PRECISION else UNKNOWN
