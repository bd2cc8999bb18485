"""CHAR columns, which Spark shows with blanks that files may lack."""

from __future__ import annotations

import pyarrow as pa
import pytest

from streamtables.engine.outcomes import NotSmall
from streamtables.engine.padded_text import padded


def declared(name: str, kind: pa.DataType, text: str) -> pa.Field:
    return pa.field(name, kind, metadata={"__CHAR_VARCHAR_TYPE_STRING": text})


SCHEMA = pa.schema(
    [
        declared("c", pa.string(), "char(3)"),
        declared("v", pa.string(), "varchar(3)"),
        pa.field("s", pa.string()),
        declared("st", pa.struct([("c", pa.string())]), "struct<c:char(4)>"),
    ]
)


def test_only_char_is_filled_up():
    rows = pa.table({name: ["a", None, "abc", "ä"] for name in ("c", "v", "s")})
    assert padded(rows, SCHEMA).to_pydict() == {
        "c": ["a  ", None, "abc", "ä  "],
        "v": ["a", None, "abc", "ä"],
        "s": ["a", None, "abc", "ä"],
    }


def test_char_inside_a_struct_is_left_to_spark():
    with pytest.raises(NotSmall, match="st holds CHAR inside"):
        padded(pa.table({"st": [{"c": "a"}]}), SCHEMA)
