"""Types of mirrors: which type each PostgreSQL type becomes, and what texts become in it."""

from __future__ import annotations

import math
import random
import struct
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from streamtables.errors import SourceUnusableError
from streamtables.sources.postgres.facts import PgColumn, PgTable, PgType
from streamtables.sources.postgres.parts import ctid_parts
from streamtables.sources.postgres.types import (
    MirrorColumn,
    ValueDoesNotFitError,
    copy_expressions,
    from_text,
    map_columns,
)


def pg_type(name: str, *, kind: str = "b", modifier: int = -1, shown: str = "") -> PgType:
    return PgType(1, name, shown or name, kind, modifier)


def array_of(element: PgType) -> PgType:
    return PgType(
        2, f"_{element.name}", f"{element.shown}[]", "b", element.modifier, element=element
    )


def numeric(precision: int, scale: int) -> PgType:
    modifier = ((precision << 16) | (scale & 0x7FF)) + 4
    return pg_type("numeric", modifier=modifier, shown=f"numeric({precision},{scale})")


def table(**columns: PgType) -> PgTable:
    found = tuple(PgColumn(name, kind, n) for n, (name, kind) in enumerate(columns.items(), 1))
    return PgTable(10, "shop", "orders", "r", "p", 10, "d", (), (), found)


def mapped(kind: PgType, override: str | None = None) -> MirrorColumn:
    return map_columns(table(c=kind), {"c": override} if override else None)[0]


def values(kind: PgType, *texts: str | None, override: str | None = None) -> list[object]:
    column = mapped(kind, override)
    found = from_text(pa.array(texts, pa.large_string()), column)
    found.validate(full=True)
    assert found.type == column.arrow_type
    return found.to_pylist()


SCALARS = {
    "bool": "BOOLEAN",
    "int2": "SMALLINT",
    "int4": "INT",
    "int8": "BIGINT",
    "oid": "BIGINT",
    "float4": "FLOAT",
    "float8": "DOUBLE",
    "numeric": "DECIMAL(38,18)",
    "date": "DATE",
    "timestamp": "TIMESTAMP_NTZ",
    "timestamptz": "TIMESTAMP",
    "bytea": "BINARY",
    "bpchar": "STRING",
    "citext": "STRING",
    "interval": "STRING",
    "jsonb": "STRING",
    "macaddr8": "STRING",
    "tsvector": "STRING",
    "polygon": "STRING",
}


@pytest.mark.parametrize(("name", "spark"), SCALARS.items())
def test_a_type_and_its_arrays_have_a_spark_type(name: str, spark: str) -> None:
    assert mapped(pg_type(name)).spark_type == spark
    assert mapped(array_of(pg_type(name))).spark_type == f"ARRAY<{spark}>"


@pytest.mark.parametrize("kind", ["e", "r", "m"])
def test_enums_and_ranges_are_strings(kind: str) -> None:
    assert mapped(pg_type("int4", kind=kind)).spark_type == "STRING"


@pytest.mark.parametrize(("precision", "scale"), [(10, 2), (38, 0), (38, 38), (1, 1)])
def test_a_numeric_keeps_precision_and_scale(precision: int, scale: int) -> None:
    assert mapped(numeric(precision, scale)).arrow_type == pa.decimal128(precision, scale)


@pytest.mark.parametrize(("precision", "scale"), [(39, 2), (5, -2), (2, 3), (1000, 1000)])
def test_a_numeric_that_spark_lacks_needs_an_override(precision: int, scale: int) -> None:
    with pytest.raises(SourceUnusableError) as error:
        mapped(numeric(precision, scale))
    assert f'"c" has the type numeric({precision},{scale})' in error.value.detail
    assert "override" in error.value.detail
    assert "types={'c': 'string'}" in error.value.hint
    assert "--type 'c=string'" in error.value.hint
    assert mapped(numeric(precision, scale), "decimal(38,3)").spark_type == "DECIMAL(38,3)"
    assert mapped(numeric(precision, scale), "double").spark_type == "DOUBLE"
    assert mapped(numeric(precision, scale), "STRING").spark_type == "STRING"


@pytest.mark.parametrize(
    ("kind", "override"),
    [
        (pg_type("int4"), "string"),
        (pg_type("text"), "double"),
        (pg_type("numeric"), "int"),
        (pg_type("numeric"), "decimal(39,2)"),
        (pg_type("numeric"), "decimal(5,6)"),
        (pg_type("numeric"), "decimal(0,0)"),
        (pg_type("mood", kind="e"), "double"),
        (array_of(pg_type("int4")), "double"),
    ],
)
def test_an_override_that_does_not_fit_the_type_is_refused(kind: PgType, override: str) -> None:
    with pytest.raises(SourceUnusableError) as error:
        mapped(kind, override)
    assert override in error.value.detail


def test_an_override_of_an_array_is_one_of_its_elements() -> None:
    assert mapped(array_of(pg_type("numeric")), "decimal(9,1)").spark_type == "ARRAY<DECIMAL(9,1)>"
    assert mapped(array_of(pg_type("int4")), "string").spark_type == "STRING"


def test_all_refusals_of_a_table_come_in_one_error() -> None:
    refused = table(
        good=pg_type("int4"),
        pay=pg_type("money"),
        home=pg_type("address", kind="c"),
        homes=array_of(pg_type("address", kind="c")),
        shape=pg_type("geometry"),
        vector=PgType(3, "int2vector", "int2vector", "b", element=pg_type("int2")),
        Name=pg_type("text"),
        name=pg_type("text"),
        __ST_x=pg_type("text"),
    )
    with pytest.raises(SourceUnusableError) as error:
        map_columns(refused, {"gone": "string"})
    said = error.value
    assert '"shop.orders"' in said.message
    for name in ("pay", "home", "homes", "shape", "vector", "Name", "name", "__ST_x", "gone"):
        assert f'"{name}" ' in said.detail
    assert '"good"' not in said.detail
    assert "has the type money" in said.detail
    change = 'ALTER TABLE "shop"."orders" ALTER COLUMN "{0}" TYPE {1} USING "{0}"::{1};'
    for name, to in {"pay": "numeric", "home": "text", "homes": "text[]"}.items():
        assert change.format(name, to) in said.hint


def test_booleans_are_read_as_letters_and_as_words() -> None:
    assert values(pg_type("bool"), "t", "f", None, "true", "false") == [
        *(True, False, None, True, False)
    ]
    with pytest.raises(ValueDoesNotFitError):
        values(pg_type("bool"), "t", "yes")


@pytest.mark.parametrize(("name", "bits"), [("int2", 16), ("int4", 32), ("int8", 64)])
def test_integers_are_exact_to_their_ends_and_no_further(name: str, bits: int) -> None:
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    assert values(pg_type(name), str(least), None, str(most)) == [least, None, most]
    with pytest.raises(ValueDoesNotFitError, match=str(most + 1)):
        values(pg_type(name), "1", str(most + 1))


def test_oids_are_not_signed() -> None:
    assert values(pg_type("oid"), "4294967295") == [4294967295]


def test_floats_keep_their_bits() -> None:
    found = values(pg_type("float8"), "-0", "5e-324", "1.7976931348623157e+308", "0.1", None)
    assert [x if x is None else struct.pack("d", x) for x in found] == [
        *(struct.pack("d", x) for x in (-0.0, 5e-324, 1.7976931348623157e308, 0.1)),
        None,
    ]
    nan, most, least = values(pg_type("float8"), "NaN", "Infinity", "-Infinity")
    assert math.isnan(nan)  # type: ignore[arg-type]  # it is a float, or the test fails
    assert (most, least) == (math.inf, -math.inf)
    assert values(pg_type("float4"), "3.4028235e+38", "1e-45", "-0") == [
        *(struct.unpack("f", struct.pack("f", x))[0] for x in (3.4028235e38, 1e-45, -0.0))
    ]


@pytest.mark.parametrize("text", ["1" + "0" * 400, "-1" + "0" * 400])
def test_a_number_beyond_all_doubles_is_not_infinity(text: str) -> None:
    with pytest.raises(ValueDoesNotFitError):
        values(pg_type("numeric"), "1", text, override="double")


def test_a_numeric_as_double_or_string() -> None:
    assert values(pg_type("numeric"), "0.10", None, "-Infinity", override="double") == [
        *(0.1, None, -math.inf)
    ]
    texts = ["0.10", None, "NaN", "9" * 500]
    assert values(pg_type("numeric"), *texts, override="string") == texts


def test_decimals_are_exact() -> None:
    texts = ["0", "-0.5", None, "99999999999999999999.999999999999999999", "0.000000000000000001"]
    texts += ["-99999999999999999999", "1." + "0" * 60, "7.5" + "0" * 40, "100"]
    assert values(pg_type("numeric"), *texts) == [text and Decimal(text) for text in texts]
    assert values(numeric(38, 38), "0." + "9" * 38) == [Decimal("0." + "9" * 38)]
    assert values(numeric(38, 0), "-" + "9" * 38) == [Decimal("-" + "9" * 38)]


# Each of these is a number that Arrow's own cast takes, refuses or wraps round, as luck has it.
TOO_WIDE = [
    *("9" * 39, str(2**128), str(2**128 + 1), "-" + "9" * 39, "1" + "0" * 300),
    *("9" * 38, "9" * 21, "1" + "0" * 20, "0.0000000000000000001", "1." + "0" * 18 + "1"),
    *("12345678901234567890.12345678901234567891", "0." + "0" * 39 + "1", "0." + "1" * 39),
    *("NaN", "Infinity", "-Infinity"),
]


@pytest.mark.parametrize("text", TOO_WIDE)
def test_a_number_that_a_decimal_lacks_is_never_rounded_or_wrapped(text: str) -> None:
    with pytest.raises(ValueDoesNotFitError) as error:
        values(pg_type("numeric"), "1", None, text, "2")
    assert f'the column "c" has the value {text[:80]}' in error.value.message
    assert "override" in error.value.hint
    assert "--type 'c=string'" in error.value.hint


def test_random_numbers_are_either_exact_or_refused() -> None:
    random.seed(7)
    for _ in range(2000):
        whole = random.choice(["0", str(random.randrange(1, 10 ** random.randrange(1, 60)))])
        fraction = "".join(random.choices("0019", k=random.randrange(0, 60)))
        text = random.choice(["", "-"]) + whole + (f".{fraction}" if fraction else "")
        precision = random.randrange(1, 39)
        scale = random.randrange(0, precision + 1)
        shown = whole.lstrip("0"), fraction.rstrip("0")
        fits = len(shown[0]) <= precision - scale and len(shown[1]) <= scale
        if fits:
            found = values(pg_type("numeric"), text, override=f"decimal({precision},{scale})")
            assert found == [Decimal(text)], (text, precision, scale)
        else:
            with pytest.raises(ValueDoesNotFitError):
                values(pg_type("numeric"), text, override=f"decimal({precision},{scale})")


def test_days_and_moments_from_the_first_year_to_the_last() -> None:
    assert values(pg_type("date"), "0001-01-01", None, "9999-12-31", "1582-10-10") == [
        *(date(1, 1, 1), None, date(9999, 12, 31), date(1582, 10, 10))
    ]
    moments = ["0001-01-01 00:00:00", None, "9999-12-31 23:59:59.999999", "2024-02-29 12:00:00.1"]
    expected = [text and datetime.fromisoformat(text) for text in moments]
    assert values(pg_type("timestamp"), *moments) == expected
    assert values(pg_type("timestamptz"), *(text and f"{text}+00" for text in moments)) == [
        moment and moment.replace(tzinfo=UTC) for moment in expected
    ]


@pytest.mark.parametrize("text", ["infinity", "-infinity", "0044-03-15{} BC", "10000-01-01{}"])
@pytest.mark.parametrize(
    ("name", "time"), [("date", ""), ("timestamp", " 12:00:00"), ("timestamptz", " 12:00:00+00")]
)
def test_days_outside_the_calendar_of_spark_are_refused(name: str, time: str, text: str) -> None:
    text = text.format(time)
    good = f"2024-01-01{time}"
    with pytest.raises(ValueDoesNotFitError) as error:
        values(pg_type(name), good, None, text, good)
    assert text in error.value.message
    assert values(pg_type(name), text, override="string") == [text]


def test_texts_are_kept_as_printed() -> None:
    texts = ["", None, "NULL", " ä€😀 ", "a\nb", '"', "\\x"]
    for name in ("text", "varchar", "jsonb", "interval", "tsvector"):
        assert values(pg_type(name), *texts) == texts


def test_padding_and_masks_are_those_that_are_printed() -> None:
    assert values(pg_type("bpchar", modifier=9), "ä", "ab   ", None) == ["ä    ", "ab   ", None]
    assert values(pg_type("bpchar"), "ab ", None) == ["ab ", None]
    masked = ["10.0.0.1/32", "10.0.0.1", "10.0.0.0/24", "::1/128", "fe80::/32", "1::/12", None]
    assert values(pg_type("inet"), *masked) == [
        *("10.0.0.1", "10.0.0.1", "10.0.0.0/24", "::1", "fe80::/32", "1::/12", None)
    ]
    assert values(pg_type("cidr"), "10.0.0.1/32") == ["10.0.0.1/32"]


def test_bytes_are_read_from_hexadecimal() -> None:
    every = bytes(range(256))
    assert values(pg_type("bytea"), "\\x", None, f"\\x{every.hex()}", "\\xFF") == [
        *(b"", None, every, b"\xff")
    ]
    with pytest.raises(ValueDoesNotFitError):
        values(pg_type("bytea"), "\\000abc")


def test_arrays_are_split_into_their_elements() -> None:
    assert values(array_of(pg_type("int4")), "{1,NULL,-3}", None, "{}", "{NULL}", "{7}") == [
        *([1, None, -3], None, [], [None], [7])
    ]
    assert values(array_of(pg_type("float8")), "{NaN}", "{-0,1e+20}")[1] == [-0.0, 1e20]
    assert values(array_of(pg_type("bytea")), '{"\\\\x00ff",NULL}') == [[b"\x00\xff", None]]
    assert values(array_of(pg_type("bool")), "{t,f,NULL}") == [[True, False, None]]
    assert values(array_of(numeric(4, 1)), "{1.5,NULL}") == [[Decimal("1.5"), None]]
    assert values(array_of(pg_type("timestamptz")), '{"2024-01-01 00:00:00+00"}') == [
        [datetime(2024, 1, 1, tzinfo=UTC)]
    ]
    assert values(array_of(pg_type("box")), "{(3,4),(1,2);(1,1),(0,0)}") == [
        ["(3,4),(1,2)", "(1,1),(0,0)"]
    ]


def printed_array(elements: list[str | None]) -> str:
    """Print an array as `array_out` of the server does."""

    def printed(element: str | None) -> str:
        if element is None:
            return "NULL"
        plain = (
            element and element.upper() != "NULL" and not set(element) & set('"\\{}, \t\n\v\f\r')
        )
        if plain:
            return element
        return '"' + element.replace("\\", "\\\\").replace('"', '\\"') + '"'

    return "{" + ",".join(map(printed, elements)) + "}"


def test_arrays_of_troublesome_texts_come_back_whole() -> None:
    random.seed(11)
    pieces = ["\\", '"', "{", "}", ",", " ", "NULL", "null", "a", "ä", "😀", "\n", ";", "[1:2]="]
    arrays: list[list[str | None] | None] = [None, [], [""], [None], ["\\\\", '"']]
    for _ in range(3000):
        size = random.randrange(4)
        one = ["".join(random.choices(pieces, k=random.randrange(5))) for _ in range(size)]
        arrays.append([None if random.random() < 0.1 else text for text in one])
    texts = [array if array is None else printed_array(array) for array in arrays]
    assert values(array_of(pg_type("text")), *texts) == arrays


@pytest.mark.parametrize("text", ["{{1,2},{3,4}}", "[2:3]={1,2}", "{{1}}", "[1:1][2:2]={{1}}", ""])
def test_arrays_of_another_shape_are_refused(text: str) -> None:
    with pytest.raises(ValueDoesNotFitError) as error:
        values(array_of(pg_type("int4")), "{1}", text, "{2}")
    assert f"the value {text}, which ARRAY<INT> cannot hold" in error.value.message
    assert values(array_of(pg_type("int4")), text, override="string") == [text]


def test_an_element_that_does_not_fit_is_shown() -> None:
    with pytest.raises(ValueDoesNotFitError, match="infinity"):
        values(array_of(pg_type("date")), "{2024-01-01}", "{2024-01-01,infinity}")


EVERY = [
    *map(pg_type, (*SCALARS, "text", "inet", "uuid")),
    *(array_of(pg_type(name)) for name in (*SCALARS, "text", "inet", "box")),
]


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.shown)
def test_columns_may_be_empty_all_null_chunked_or_sliced(kind: PgType) -> None:
    column = mapped(kind)
    assert from_text(pa.chunked_array([], pa.string()), column).type == column.arrow_type
    assert len(from_text(pa.array([], pa.large_string()), column)) == 0
    assert from_text(pa.array([None, None], pa.string()), column).to_pylist() == [None, None]


def test_slices_and_chunks_are_read_as_one_column() -> None:
    kind = array_of(pg_type("bytea"))
    texts = pa.array(['{"\\\\x01"}', '{"\\\\x02"}', None, '{"\\\\x0304"}'], pa.large_string())
    chunked = pa.chunked_array([texts[3:], texts[1:3]])
    assert from_text(chunked, mapped(kind)).to_pylist() == [[b"\x03\x04"], [b"\x02"], None]
    binary = pa.array(["\\x01", "\\x0203", None], pa.string())[1:]
    assert from_text(binary, mapped(pg_type("bytea"))).to_pylist() == [b"\x02\x03", None]


@pytest.mark.parametrize(("pages", "wanted"), [(0, 4), (1, 4), (3, 8), (10, 3), (1000, 7), (5, 1)])
def test_parts_take_each_page_once(pages: int, wanted: int) -> None:
    parts = ctid_parts(pages, wanted)
    assert len(parts) == max(1, min(pages, wanted))
    edges: list[tuple[int, float]] = []
    for part in parts:
        above, below = 0, math.inf
        for clause in part.split(" AND ") if part != "TRUE" else []:
            _, sign, cut = clause.split(" ", 2)
            page = int(cut.removeprefix("'(").removesuffix(",0)'::tid"))
            above, below = (page, below) if sign == ">=" else (above, page)
        edges.append((above, below))
    assert edges[0][0] == 0
    assert edges[-1][1] == math.inf
    assert [above for above, _ in edges[1:]] == [below for _, below in edges[:-1]]
    assert all(above < below for above, below in edges)


def test_names_that_delta_does_not_allow_are_refused() -> None:
    with pytest.raises(SourceUnusableError) as refused:
        map_columns(
            table(**{"first name": pg_type("date"), "a{b}": pg_type("date"), "ok": pg_type("date")})
        )
    assert '"first name"' in refused.value.detail
    assert '"a{b}"' in refused.value.detail
    assert '"ok"' not in refused.value.detail


def test_names_in_the_expressions_of_a_copy_are_quoted() -> None:
    name = "a`\"'\\b"
    column = map_columns(table(**{name: pg_type("date")}))[0]
    selected, spark = copy_expressions(column)
    assert selected == '"a`""\'\\b"::pg_catalog.text'
    assert spark.startswith("CASE WHEN `a``\"'\\b` IS NULL")
    assert "'streamtables: the column \"a`\"\\'\\\\b\" has the value '" in spark
