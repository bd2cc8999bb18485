"""Reads `.case` files: tables, views, changes and what each refresh must give, as plain text.

    # title                                         opens a case
    table orders(id int, cust int) key id           followed by its rows, one per line
    view v = SELECT …                               may go on in indented lines
    change orders     - 1 10    + 3 NULL            rows that went and that appeared
    refresh v -> differential                       followed by all rows of the view
    clock 2024-02-29 12:00:00                       what the clock says from here on, in UTC
    refuse SELECT … -> ST-1201 "words of it"        no incremental form; still a valid query
    error SELECT … -> ST-1102 "words of it"         not a valid query at all
    only spark: DuckDB has no such function         why the quick engine cannot run the case
    tied: Spark takes equal rows as it finds them   why Spark's answer to the text may be another one

Values are separated by spaces and read by the type of their column: NULL, NaN, -0.0, true,
2024-02-29, words, or 'text in quotes'; [1,NULL] for an array, {a:1,b:NULL} for a map.  A line that
starts with `##` is a remark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

Row = tuple[Any, ...]
Words = tuple[str, ...]

_WORD = re.compile(r"'(?:[^']|'')*'|\S+")
_DIRECTIVES = (
    "table ",
    "view ",
    "change ",
    "refresh ",
    "refuse ",
    "error ",
    "clock ",
    "only ",
    "tied: ",
)


@dataclass(frozen=True)
class Table:
    """A table with the rows it starts with."""

    name: str
    columns: Mapping[str, str]
    key: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class View:
    """A stream table and its query."""

    name: str
    sql: str


@dataclass(frozen=True)
class Change:
    """Rows that went (weight −1) and that appeared (weight 1), in the order given."""

    table: str
    rows: tuple[tuple[Row, int], ...]


@dataclass(frozen=True)
class Refresh:
    """A refresh, how it must be done, and the rows there must be, as words to be typed."""

    view: str
    mode: str
    rows: tuple[Words, ...]


@dataclass(frozen=True)
class Moment:
    """What the clock says from here on."""

    at: datetime


@dataclass(frozen=True)
class Rejection:
    """A query that is refused (`refuse`) or wrong (`error`), with its code and words of the text."""

    kind: str
    sql: str
    code: str
    text: str


@dataclass
class Case:
    """What one case says, in order."""

    title: str
    source: Path
    tables: dict[str, Table] = field(default_factory=dict)
    steps: list[View | Change | Refresh | Moment | Rejection] = field(default_factory=list)
    only_spark: str = ""
    """Why only Spark can run it; empty where both engines do."""
    tied: str = ""
    """Why the text has many right answers for Spark; the product's own judge compares there."""

    @property
    def columns(self) -> dict[str, Mapping[str, str]]:
        """The columns of all tables."""
        return {table.name: table.columns for table in self.tables.values()}

    @property
    def keys(self) -> dict[str, list[str]]:
        """The declared keys of the tables that have one."""
        return {table.name: list(table.key) for table in self.tables.values() if table.key}


def read_cases(path: Path) -> list[Case]:
    """Return all cases of a file."""
    cases: list[Case] = []
    for head, body in _blocks(path.read_text(encoding="utf-8")):
        if head.startswith("# "):
            cases.append(Case(head[2:].strip(), path))
        else:
            _read(head, body, cases[-1])
    return cases


def _blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each directive (or title) with the lines that belong to it."""
    head, body = "", list[str]()
    for line in text.splitlines():
        if not line.strip() or line.startswith("##"):
            continue
        if line.startswith("# ") or line.startswith(_DIRECTIVES):
            if head:
                yield head, body
            head, body = line.rstrip(), []
        elif line[0] == " " and not head.startswith(("table ", "refresh ")):
            head += "\n" + line.rstrip()
        else:
            body.append(line.strip())
    if head:
        yield head, body


def _read(head: str, body: list[str], case: Case) -> None:
    word, _, rest = head.partition(" ")
    match word:
        case "table":
            table = _table(rest, body)
            case.tables[table.name] = table
        case "view":
            name, _, sql = rest.partition("=")
            case.steps.append(View(name.strip(), sql.strip()))
        case "change":
            case.steps.append(_change(rest, case))
        case "refresh":
            view, _, mode = (part.strip() for part in rest.partition("->"))
            case.steps.append(Refresh(view, mode, tuple(words_of(line) for line in body)))
        case "clock":
            case.steps.append(Moment(_moment(rest)))
        case "only":
            case.only_spark = rest.partition(":")[2].strip()
        case "tied:":
            case.tied = rest.strip()
        case _:
            sql, _, outcome = rest.rpartition("->")
            code, _, text = outcome.strip().partition(" ")
            case.steps.append(Rejection(word, sql.strip(), code, text.strip().strip('"')))


def _table(rest: str, body: list[str]) -> Table:
    found = re.fullmatch(r"([\w.]+)\((.*)\)(?:\s+key\s+(.*))?", rest)
    assert found, f"not a table: {rest}"
    columns = dict(
        part.strip().split(maxsplit=1) for part in re.split(r",(?![^(<]*[)>])", found[2])
    )
    key = tuple(re.split(r"[,\s]+", found[3])) if found[3] else ()
    types = list(columns.values())
    return Table(found[1], columns, key, tuple(typed(words_of(line), types) for line in body))


def _change(rest: str, case: Case) -> Change:
    name, *words = words_of(rest)
    types = list(case.tables[name].columns.values())
    rows: list[tuple[list[str], int]] = []
    for word in words:
        if word in ("+", "-"):
            rows.append(([], 1 if word == "+" else -1))
        else:
            rows[-1][0].append(word)
    return Change(name, tuple((typed(tuple(row), types), weight) for row, weight in rows))


def words_of(line: str) -> Words:
    """Split a line into values; quotes keep spaces together."""
    return tuple(_WORD.findall(line))


def typed(words: Words, types: list[str]) -> Row:
    """Read the words of a row by the types of its columns."""
    assert len(words) == len(types), f"{words} does not fit {types}"
    return tuple(_value(word, type_) for word, type_ in zip(words, types, strict=True))


def _value(word: str, type_: str) -> Any:
    if word == "NULL":
        return None
    text = word[1:-1].replace("''", "'") if word[0] == "'" else word
    if type_ == "unknown" and text is not word:
        return text
    if type_.startswith("decimal"):
        return Decimal(text)
    if type_.startswith("array<") or (type_ == "unknown" and text[:1] == "["):
        [kind] = _inner_types(type_) or ["unknown"]
        return [_value(item, kind) for item in _items(text)]
    if type_.startswith("map<") or (type_ == "unknown" and text[:1] == "{"):
        of_key, of_value = _inner_types(type_) or ["unknown", "unknown"]
        pairs = (item.partition(":") for item in _items(text))
        return {_value(key, of_key): _value(value, of_value) for key, _, value in pairs}
    match type_:
        case "tinyint" | "smallint" | "int" | "bigint":
            return int(text)
        case "float" | "double":
            return float(text)
        case "boolean":
            return text == "true"
        case "date":
            return date.fromisoformat(text)
        case "timestamp":
            return _moment(text)
        case "unknown" if re.fullmatch(r"-?\d+", text):
            return int(text)
        case _:
            return text


def _inner_types(type_: str) -> list[str]:
    """Return the types between the brackets of an array or a map."""
    found = re.fullmatch(r"\w+<(.*)>", type_)
    return [part.strip() for part in found[1].split(",")] if found else []


def _items(text: str) -> list[str]:
    """Return what stands between the brackets of an array or a map."""
    inside = text[1:-1]
    return inside.split(",") if inside else []


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
