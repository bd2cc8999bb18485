"""Files of SQL as definitions: statements as they are, or one query under a header.

A header stands at the top of a file, as a block between two lines `---` or as comments:

    ---                             -- name: revenue
    name: revenue                   -- schedule: 1 minute
    schedule: 1 minute              SELECT …
    ---
    SELECT …

A file that holds CREATE statements says everything in them; comments stay comments there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

from streamtables.compiler.library_statements import CreateFunction, CreateView
from streamtables.compiler.statements import CreateStreamTable, parse_statement, split_statements
from streamtables.errors import ConfigError, StreamTablesError, UnsupportedSqlError
from streamtables.scheduler.options import every_option_none

Defining = CreateStreamTable | CreateView | CreateFunction

FENCE = "---"
CHOICES = ("schedule", "mode", "full", "tier")
OPTIONS = tuple(every_option_none())
_ABOUT = ("description", "tags", "key")
FIELDS = ("name", *CHOICES, *_ABOUT, *OPTIONS)
_LINE = re.compile(r"(?:--)?\s*([A-Za-z_]+)\s*:(?:\s+(.*))?")
_QUERY = re.compile(r"(SELECT|WITH|VALUES|FROM|TABLE)\b|\(", re.IGNORECASE)


@dataclass(frozen=True)
class Defined:
    """One statement of a file, and what the file tells beside it."""

    statement: Defining
    file: str
    description: str = ""
    tags: tuple[str, ...] = ()
    key: tuple[str, ...] | None = None
    """The columns that are said to tell the rows apart; None where nothing is said."""


def read_sql_file(text: str, *, file: str, stem: str) -> list[Defined]:
    """Return what a file of SQL defines; `stem` names a query whose header has no name."""
    try:
        return _read(text, file, stem)
    except StreamTablesError as error:
        if file not in f"{error.message} {error.detail}":
            error.detail = f'In the file "{file}". {error.detail}'.strip()
        raise


def _read(text: str, file: str, stem: str) -> list[Defined]:
    fields, body = _split(text.removeprefix("\ufeff"))
    fenced = text.lstrip("\ufeff \t\r\n").startswith(FENCE)
    pieces = split_statements(body)
    if len(pieces) == 1 and _QUERY.match(_without_comments(pieces[0])):
        return [defined_query(fields or _comment_fields(text), pieces[0], file=file, stem=stem)]
    if fenced and fields:
        raise ConfigError(
            f'"{file}" has a header and CREATE statements',
            hint="Say it in one place: write the query alone, or leave the header out.",
        )
    return [Defined(_statement(piece, file), file) for piece in pieces]


def _statement(text: str, file: str) -> Defining:
    statement = parse_statement(text)
    if isinstance(statement, CreateStreamTable | CreateView | CreateFunction):
        return statement
    raise UnsupportedSqlError(
        f'"{file}" holds a statement that is not CREATE STREAM TABLE, '
        "CREATE VIEW or CREATE FUNCTION",
        hint="A file may also hold one query alone, under a header.",
        sql=text,
    )


def defined_query(fields: Mapping[str, str], query: str, *, file: str, stem: str) -> Defined:
    """Return the stream table that a query and the fields of its header define."""
    text = _without_comments(query).strip()
    statement = CreateStreamTable(fields.get("name") or stem, text)
    key = fields.get("key")
    return Defined(
        with_choices(statement, fields),
        file,
        description=fields.get("description", ""),
        tags=_listed(fields.get("tags", "")),
        key=None if key is None else _listed(key),
    )


def with_choices(statement: CreateStreamTable, fields: Mapping[str, object]) -> CreateStreamTable:
    """Return a statement with schedule, mode, policy, tier and options as they are given."""
    chosen = {name: str(fields[name]) for name in CHOICES if name in fields}
    options = {name: fields[name] for name in OPTIONS if name in fields}
    changed = replace(statement, **chosen)  # type: ignore[arg-type]  # all four are texts
    # Values of options are checked, whatever their type, where they are stored.
    return replace(changed, options={**statement.options, **options})  # type: ignore[dict-item]


def _split(text: str) -> tuple[dict[str, str], str]:
    """Return the fields of a fenced header, and the SQL; lines keep their numbers."""
    lines = text.split("\n")
    start = next((place for place, line in enumerate(lines) if line.strip()), 0)
    if lines[start].strip() != FENCE:
        return {}, text
    for end in range(start + 1, len(lines)):
        if lines[end].strip() == FENCE:
            inside = [line.strip() for line in lines[start + 1 : end]]
            # Comments between two lines of dashes are comments still.
            if all(line.startswith("--") for line in inside if line):
                return {}, text
            return _fields(inside, first=start + 2), "\n" * (end + 1) + "\n".join(lines[end + 1 :])
    if _without_comments(text)[:6].upper() == "CREATE":
        return {}, text
    raise ConfigError(
        f"the header that begins in line {start + 1} does not end", hint=f"End it with {FENCE}."
    )


def _fields(lines: list[str], *, first: int) -> dict[str, str]:
    found: dict[str, str] = {}
    for number, line in enumerate(lines, first):
        if not line.strip() or line.strip().startswith("#"):
            continue
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise ConfigError(
                f"line {number} of the header is not a field", hint="Write a field as name: value."
            )
        _add(found, match[1].lower(), match[2] or "", number)
    return found


def _comment_fields(text: str) -> dict[str, str]:
    """Return the fields in the comments at the top; other comments are nobody's affair."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        bare = line.strip()
        if bare and not bare.startswith("--"):
            break
        match = _LINE.fullmatch(bare)
        if match is None:
            continue
        name = match[1].lower()
        # A slip of the pen is not taken for prose.
        if name in FIELDS or get_close_matches(name, FIELDS, n=1, cutoff=0.8):
            _add(found, name, match[2] or "", number)
    return found


def _add(found: dict[str, str], name: str, value: str, number: int) -> None:
    if name not in FIELDS:
        close = get_close_matches(name, FIELDS, n=1)
        raise ConfigError(
            f'line {number} of the header names the unknown field "{name}"',
            detail=f"Fields: {', '.join(FIELDS)}.",
            hint=f'Did you mean "{close[0]}"?' if close else "",
        )
    if name in found:
        raise ConfigError(f'the header says "{name}" twice', hint="Keep one of the two.")
    text = value.strip()
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    found[name] = text[1:-1] if quoted else text


def _listed(text: str) -> tuple[str, ...]:
    bare = text.strip().removeprefix("[").removesuffix("]")
    return tuple(part.strip().strip("'\"") for part in bare.split(",") if part.strip())


def _without_comments(text: str) -> str:
    """Return SQL from its first word on."""
    from streamtables.compiler.frontend.dialect import tokens_of

    tokens = tokens_of(text)
    return text[tokens[0].start :] if tokens else ""
