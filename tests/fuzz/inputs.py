"""Inputs near to what is right: words of the language in a wrong order, good bytes with a few wrong."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from struct import pack, unpack_from
from tempfile import TemporaryDirectory

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from streamtables.catalog import Catalog
from tests.unit.sources.test_pgoutput import begin, delete, insert, relation, update

_WORDS = [
    "\nSELECT",
    "FROM",
    "WHERE",
    "GROUP",
    "BY",
    "HAVING",
    "ORDER",
    "LIMIT",
    "JOIN",
    "LEFT",
    "SEMI",
    "ANTI",
    "FULL",
    "OUTER",
    "ON",
    "USING",
    "UNION",
    "ALL",
    "EXCEPT",
    "INTERSECT",
    "WITH\nRECURSIVE",
    "AS",
    "DISTINCT",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "AND",
    "OR",
    "NOT",
    "IN",
    "EXISTS",
    "BETWEEN",
    "LIKE",
    "IS",
    "NULL",
    "OVER",
    "PARTITION",
    "ROWS",
    "UNBOUNDED\nPRECEDING",
    "CURRENT",
    "ROW",
    "LATERAL",
    "VIEW",
    "explode",
    "VALUES",
    "PIVOT",
    "UNPIVOT",
    "FOR",
    "ROLLUP",
    "CUBE",
    "GROUPING",
    "SETS",
    "CAST",
    "INTERVAL",
    "DATE\nTIMESTAMP",
    "CREATE",
    "REPLACE",
    "STREAM",
    "TABLE",
    "TABLES",
    "IF",
    "SCHEDULE",
    "MODE",
    "AUTO",
    "DIFFERENTIAL",
    "OPTIONS",
    "TIER",
    "HOT",
    "ALTER",
    "SET",
    "PAUSE",
    "RESUME\nDROP",
    "CASCADE",
    "REFRESH",
    "EXPLAIN",
    "SHOW",
    "FUNCTION",
    "RETURNS",
    "RETURN",
    "INT",
    "STRING",
    "orders",
    "customers",
    "events",
    "odd",
    "id",
    "customer",
    "amount",
    "note\nname",
    "vip",
    "tags",
    "extra",
    "m",
    "v",
    "p",
    "c",
    "sum",
    "count",
    "max",
    "min",
    "avg",
    "collect_list",
    "row_number",
    "rank",
    "current_timestamp",
    "rand",
    "map",
    "array",
    "struct\nnamed_struct",
    "get_json_object",
    "transform",
    "x",
    "->",
    "::",
    ".",
    ",",
    ";",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "=",
    "<>",
    "+",
    "-",
    "*",
    "/",
    "%",
    "||",
    "|",
    "&",
    "^",
    "~",
    "!",
    "?",
    ":",
    "@",
    "$",
    "#",
    "{",
    "}",
    "1",
    "0",
    "-1",
    "1.5\n1e400",
    "99999999999999999999999999",
    "²",
    "٣",
    "0x1F",
    "1L",
    "1BD",
    "'a'",
    "''",
    '"q"',
    "`b`",
    "`a``b`",
    "'it''s'",
    "'\\\\'",
    "--",
    "/*",
    "*/",
    "/*+",
    "*/",
    "é",
    "名",
    "\x00",
    "\n",
    "\t",
    "\r\n\u2028",
    "\ufeff",
    "${env:HOME}",
    "{{x}}",
    "%s",
    "'",
    '"',
    "`",
    "\\\n",
]
_PIECES = [word for line in _WORDS for word in line.split("\n") if word] + ["\n", "\x00", " "]
_QUERIES = (
    "SELECT id, sum(amount) AS s FROM orders WHERE note LIKE 'a%' GROUP BY id HAVING count(*) > 1",
    "SELECT o.id, c.name FROM orders o LEFT JOIN customers c ON o.customer = c.id AND c.vip",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n FROM r",
    "SELECT id, row_number() OVER (PARTITION BY customer ORDER BY amount DESC) AS n FROM orders",
    "SELECT name FROM customers WHERE EXISTS (SELECT 1 FROM orders WHERE customer = customers.id)",
    "SELECT day, t FROM events LATERAL VIEW explode(tags) AS t WHERE day > DATE '2024-01-01'",
    "SELECT * FROM (SELECT id, note, amount FROM orders) PIVOT (sum(amount) FOR note IN ('a', 'b'))",
    "SELECT id FROM orders UNION SELECT id FROM customers EXCEPT SELECT 3 ORDER BY id LIMIT 3",
    "SELECT CASE WHEN vip THEN p.x ELSE m['k'] END FROM customers JOIN odd ON id = p.y",
)
_STATEMENTS = (
    "CREATE OR REPLACE STREAM TABLE a.b SCHEDULE '5 minutes' MODE AUTO FULL ALLOW TIER HOT "
    "OPTIONS (sla = '1 hour', fuse_rows = 10) AS SELECT id FROM orders",
    "ALTER STREAM TABLE t SET SCHEDULE 'cron * * * * *' OPTIONS (x = -1.5, y = TRUE)",
    "CREATE FUNCTION f(a INT, b ARRAY<STRING>) RETURNS INT RETURN a + size(b)",
    "CREATE VIEW v AS SELECT id FROM orders; DROP STREAM TABLE IF EXISTS t CASCADE",
    "REFRESH STREAM TABLE t FULL; EXPLAIN STREAM TABLE t; SHOW STREAM TABLES",
)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@st.composite
def _changed_words(draw: st.DrawFn, texts: Sequence[str]) -> bytes:
    """Draw a right text with some of its words replaced, repeated, dropped or exchanged."""
    words = draw(st.sampled_from(texts)).split(" ")
    for _ in range(draw(st.integers(0, 5))):
        place = draw(st.integers(0, len(words)))
        last = place + draw(st.integers(0, 2))
        words[place:last] = draw(st.lists(st.sampled_from(_PIECES), max_size=3))
    return _encoded(draw(st.sampled_from((" ", " ", " ", "", "\n"))).join(words))


def _soup() -> SearchStrategy[bytes]:
    return st.lists(st.sampled_from(_PIECES), max_size=25).map(lambda w: _encoded(" ".join(w)))


@st.composite
def _deep(draw: st.DrawFn) -> bytes:
    """Draw something nested, or repeated, more often than anybody would write it."""
    opened, closed = draw(
        st.sampled_from((
            ("(", ")"), ("SELECT (", ")"), ("NOT ", ""), ("id + ", ""), ("CASE WHEN ", " END"), ("/*", "*/"),
            ("- ", ""), ("SELECT * FROM (", ")"), ("array(", ")"), ("x.", ""), ("[", "]"), ("-> ", ""),
            ("SELECT id FROM orders UNION ALL ", ""), ("id IN (SELECT id FROM orders WHERE ", ")"),
        ))
    )  # fmt: skip
    count = draw(st.integers(1, 400))
    return _encoded(f"SELECT {opened * count} id {closed * count} FROM orders")


@st.composite
def changed_bytes(draw: st.DrawFn, good: SearchStrategy[bytes]) -> bytes:
    """Draw good bytes of which some were flipped, cut off or repeated."""
    data = bytearray(draw(good))
    for _ in range(draw(st.integers(0, 6))):
        place = draw(st.integers(0, max(0, len(data) - 1)))
        match draw(st.integers(0, 3)):
            case 0 if data:
                data[place] = draw(st.integers(0, 255))
            case 1:
                del data[place:]
            case 2:
                del data[place : place + draw(st.integers(1, 8))]
            case _:
                data[place:place] = draw(st.binary(max_size=8))
    return bytes(data)


def queries() -> SearchStrategy[bytes]:
    """Queries that are nearly right, words at random, and what is nested too deeply."""
    return st.one_of(_changed_words(_QUERIES), _changed_words(_QUERIES), _soup(), _deep())


def statements() -> SearchStrategy[bytes]:
    """Statements likewise, with bytes that are no text."""
    near = _changed_words(_STATEMENTS)
    return st.one_of(near, near, _soup(), _deep(), changed_bytes(near), st.binary(max_size=60))


def choices() -> SearchStrategy[bytes]:
    """A name, a schedule, and an option with its value, one to a line."""
    schedule = st.sampled_from(
        ("1 minute", "cron 0 5 * * mon", "on change at most every 5 s", "calculated", "² minutes")
    )
    option = st.sampled_from(
        (
            "sla",
            "target_lag",
            "fuse_rows",
            "fuse_factor",
            "blackout",
            "notify",
            "merge_strategy",
            "",
        )
    )
    text = st.text(max_size=20)
    value = st.one_of(
        text,
        st.sampled_from(("22:00-06:00 Europe/Paris", "mon-fri 1:00-2:00", "1 hour", "٣", "1e999")),
    )
    lines = st.tuples(st.one_of(st.just("t"), text), st.one_of(schedule, text), option, value)
    return changed_bytes(lines.map(lambda parts: _encoded("\n".join(parts))))


def _setting_values() -> SearchStrategy[str]:
    odd = (
        "nan",
        "inf",
        "-1",
        "1e400",
        "٣",
        "²",
        "9" * 5000,
        "true",
        "~no-such-person/x",
        "\x00",
        "${env:X",
        "[1]",
        '"a"',
        "''",
    )
    return st.one_of(st.sampled_from(odd), st.text(max_size=12))


def settings_files(names: Sequence[str]) -> SearchStrategy[bytes]:
    """Files of settings, in TOML or nearly so."""
    line = st.tuples(st.sampled_from(names), _setting_values()).map(" = ".join)
    return changed_bytes(st.lists(line, max_size=4).map(lambda lines: _encoded("\n".join(lines))))


def environments(names: Sequence[str]) -> SearchStrategy[bytes]:
    """Variables of the environment, one to a line."""
    name = st.sampled_from(names).map(lambda item: f"STREAMTABLES_{item.upper()}")
    line = st.tuples(name, _setting_values()).map("=".join)
    return st.lists(line, max_size=4).map(lambda lines: _encoded("\n".join(lines)))


def packed(fetches: Sequence[Sequence[bytes]]) -> bytes:
    """Return fetches of messages as one input."""
    return b"".join(
        pack(">BH", number, len(message)) + message
        for number, fetch in enumerate(fetches)
        for message in fetch
    )


def unpacked(data: bytes) -> list[list[bytes]]:
    """Return the fetches of an input; what is cut off counts as a shorter message."""
    fetches: dict[int, list[bytes]] = {}
    at = 0
    while at + 3 <= len(data):
        number, length = unpack_from(">BH", data, at)
        fetches.setdefault(number, []).append(data[at + 3 : at + 3 + length])
        at += 3 + length
    return list(fetches.values())


def fetches() -> SearchStrategy[bytes]:
    """Messages as a server sends them, some of them broken."""
    value = st.one_of(st.none(), st.text(max_size=5))
    oid = st.integers(1, 3)
    message = st.one_of(
        st.builds(begin, st.integers(0, 2**32 - 1)),
        st.builds(lambda o: relation(o, "a", "b"), oid),
        st.builds(insert, oid, value, value),
        st.builds(lambda o, a, b: update(o, [a, b], [b, a]), oid, value, value),
        st.builds(delete, oid, value, value),
        st.just(b"T" + pack(">IBII", 2, 0, 1, 2)),
        st.just(b"Y" + pack(">I", 77) + b"s\0n\0"),
    )
    first = relation(1, "a", "b"), relation(2, "a", "b")
    broken = st.lists(st.one_of(message, message, changed_bytes(message)), max_size=8)
    return broken.map(lambda found: packed([[begin(1), *first], found]))


def _json_values() -> SearchStrategy[object]:
    leaf = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6),
                     st.sampled_from(("٣", "²", "-", "--1", "{", "9" * 5000)))  # fmt: skip
    return st.recursive(
        leaf, lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=4), inner, max_size=2)), max_leaves=4
    )  # fmt: skip


_FIELDS = {
    "commitInfo": ("timestamp", "inCommitTimestamp", "operation", "operationMetrics", "userMetadata"),
    "metaData": ("id", "schemaString", "partitionColumns", "configuration"),
    "add": ("path", "size", "dataChange", "stats", "deletionVector"),
    "remove": ("path", "size", "dataChange", "stats", "deletionVector"),
    "cdc": ("path", "size"),
    "txn": ("appId", "version"),
    "protocol": ("minReaderVersion",),
}  # fmt: skip
_GOOD: dict[str, object] = {
    "timestamp": 1, "operation": "MERGE", "operationMetrics": {"numUpdatedRows": "3"}, "id": "x", "path": "a.parquet",
    "size": 10, "dataChange": True, "stats": '{"numRecords": 3}', "deletionVector": {"cardinality": 1}, "appId": "x", "version": 1,
}  # fmt: skip


@st.composite
def _action(draw: st.DrawFn) -> bytes:
    kind = draw(st.sampled_from(sorted(_FIELDS)))
    names = draw(st.lists(st.sampled_from(_FIELDS[kind]), unique=True))
    body: object = {
        name: _GOOD[name] if name in _GOOD and draw(st.booleans()) else draw(_json_values())
        for name in names
    }
    if draw(st.integers(0, 9)) == 0:
        body = draw(_json_values())
    return _encoded(json.dumps({kind: body}))


def log_entries() -> SearchStrategy[bytes]:
    """Entries of a Delta log whose fields have odd values, or whose bytes are broken."""
    entry = st.lists(_action(), max_size=4).map(b"\n".join)
    deep = st.integers(1, 30_000).map(lambda n: b"[" * n)
    return st.one_of(entry, entry, changed_bytes(entry), deep)


def log_folders() -> SearchStrategy[bytes]:
    """Several entries, one file each."""
    return st.lists(log_entries(), min_size=1, max_size=4).map(b"\0".join)


@st.composite
def stamps(draw: st.DrawFn) -> bytes:
    """Draw texts that begin as a stamp of ours does."""
    names = (
        "table_id",
        "sequence",
        "refresh_id",
        "frontier",
        "base_frontier",
        "mode",
        "query_hash",
        "position",
        "changed",
    )
    found: dict[str, object] = {
        "streamtables": 1,
        "frontier": {},
        "base_frontier": {},
        "sequence": 1,
    }
    for name in draw(st.lists(st.sampled_from(names), unique=True)):
        found[name] = draw(_json_values())
    return draw(changed_bytes(st.just(_encoded(json.dumps(found)))))


@cache
def _good_catalog() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder, "catalog.db")
        Catalog.open(path).close()
        return path.read_bytes()


@st.composite
def catalogs(draw: st.DrawFn) -> bytes:
    """Draw the file of a catalog that was cut off, overwritten in part, or is none."""
    data = bytearray(_good_catalog())
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.one_of(st.integers(0, 120), st.integers(0, len(data))))
        if draw(st.integers(0, 4)) == 0:
            del data[place:]
        else:
            noise = draw(st.binary(min_size=1, max_size=40))
            data[place : place + len(noise)] = noise
    return bytes(data)
