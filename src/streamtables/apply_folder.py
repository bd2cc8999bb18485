"""A folder of SQL files as a project, and what it says otherwise than the catalog.

Each file holds one or more statements: CREATE STREAM TABLE, CREATE VIEW, CREATE FUNCTION; or one
query under a header (`project/front_matter.py`).  The folder is the truth: a table that is in the
catalog and in no file is left alone, or dropped where that was asked for.  Views and functions that
are in no file stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict

from streamtables.catalog.definitions import Definitions
from streamtables.catalog.dependencies import find_cycle, topological_order
from streamtables.catalog.models import Function, Options, StreamTable
from streamtables.choices import checked_options, checked_schedule
from streamtables.compiler.frontend.dialect import parse_query
from streamtables.compiler.frontend.tables import called_names, referenced_names
from streamtables.compiler.library_statements import CreateFunction, CreateView
from streamtables.compiler.statements import CreateStreamTable
from streamtables.errors import AlreadyExistsError, ConfigError, CycleError
from streamtables.positions import InputId
from streamtables.project.front_matter import Defining, read_sql_file

Action = Literal["create", "alter", "drop", "unchanged"]


@dataclass(frozen=True)
class ApplyItem:
    """One stream table, view or function, and what becomes of it."""

    action: Action
    name: str
    details: str
    statement: Defining | None = None
    queried: bool = False
    """Whether the query of a stream table is another text."""


@dataclass(frozen=True)
class ApplyPlan:
    """What `apply` would do, in the order in which it would do it."""

    steps: tuple[ApplyItem, ...]

    @property
    def items(self) -> tuple[tuple[str, str, str], ...]:
        """The steps as (action, name, details)."""
        return tuple((step.action, step.name, step.details) for step in self.steps)


def folder_steps(there: Definitions, folder: Path, *, prune: bool) -> tuple[ApplyItem, ...]:
    """Compare a folder with what is defined."""
    if not folder.is_dir():
        raise ConfigError(f'there is no folder "{folder}"', hint="Give a folder of .sql files.")
    return statement_steps(there, _statements(folder), prune=prune)


def statement_steps(
    there: Definitions, found: list[Defining], *, prune: bool
) -> tuple[ApplyItem, ...]:
    """Compare statements with what is defined."""
    statements = in_order(found)
    known = {table.name.lower(): table for table in there.stream_tables.values()}
    views = {view.name.lower(): view.query for view in there.views.values()}
    functions = {function.name.lower(): function for function in there.functions.values()}
    steps: list[ApplyItem] = []
    for statement in statements:
        name = statement.name.lower()
        if isinstance(statement, CreateStreamTable):
            steps.append(_step(statement, known.get(name)))
        elif isinstance(statement, CreateView):
            same = views.get(name) == statement.text
            steps.append(_library_step(statement, "view", known=name in views, same=same))
        else:
            stored = functions.get(name)
            same = stored is not None and _is_stored(statement, stored)
            steps.append(_library_step(statement, "function", known=stored is not None, same=same))
    if prune:
        kept = {item.name.lower() for item in statements if isinstance(item, CreateStreamTable)}
        gone = [table for name, table in known.items() if name not in kept]
        steps += [ApplyItem("drop", table.name, "in no file of the folder") for table in gone]
    return tuple(steps)


class Chosen(TypedDict):
    """What a statement chooses beside the query, defaults filled in."""

    schedule: str
    mode: str
    full: str
    tier: str


def chosen(statement: CreateStreamTable) -> Chosen:
    """Return what a statement chooses; what it does not say has its default."""
    return {
        "schedule": checked_schedule(statement.schedule or "manual"),
        "mode": (statement.mode or "auto").lower(),
        "full": (statement.full or "allow").lower(),
        "tier": (statement.tier or "hot").lower(),
    }


def _statements(folder: Path) -> list[Defining]:
    found: list[Defining] = []
    for path in sorted(folder.rglob("*.sql")):
        defined = read_sql_file(read_text(path), file=path.name, stem=path.stem)
        found += [item.statement for item in defined]
    refuse_twins(found)
    return found


def refuse_twins(found: list[Defining]) -> None:
    """Refuse two definitions of one name."""
    names = [_key(statement) for statement in found]
    for name in names:
        if names.count(name) > 1:
            raise AlreadyExistsError(f'two files define "{name}"')


def read_text(path: Path) -> str:
    """Return the text of a file of definitions."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "It is not UTF-8 text"
        raise ConfigError(
            f'cannot read the file "{path.name}" of the folder', detail=f"{reason}."
        ) from error


def in_order(statements: list[Defining]) -> list[Defining]:
    """Return the statements, each after those that it reads."""
    by_key = {_key(statement): statement for statement in statements}
    edges = {
        InputId(key): [InputId(read) for read in reads(statement) if read in by_key]
        for key, statement in by_key.items()
    }
    if (path := find_cycle(edges)) is not None:
        names = " → ".join(by_key[item].name for item in path)
        raise CycleError("the definitions of the folder read each other", detail=f"{names}.")
    return [by_key[item] for item in topological_order(edges)]


def _key(statement: Defining) -> str:
    """Return a name that tells functions apart from what a query reads."""
    name = statement.name.lower()
    return f"{name}()" if isinstance(statement, CreateFunction) else name


def reads(statement: Defining) -> list[str]:
    """Return the keys of all that a definition reads or calls."""
    if isinstance(statement, CreateFunction):
        query = parse_query(f"SELECT {statement.body}")
    else:
        query = parse_query(statement.query)
    called = [f"{name.lower()}()" for name in called_names(query)]
    return [*(name.lower() for name in referenced_names(query)), *called]


def _library_step(
    statement: CreateView | CreateFunction, kind: str, *, known: bool, same: bool
) -> ApplyItem:
    if not known:
        return ApplyItem("create", statement.name, f"new {kind}", statement)
    if same:
        return ApplyItem("unchanged", statement.name, "", statement)
    return ApplyItem("alter", statement.name, kind, statement)


def _is_stored(statement: CreateFunction, stored: Function) -> bool:
    parameters = tuple((column.name, column.type) for column in stored.parameters)
    kept = (stored.language, parameters, stored.returns, stored.body)
    return kept == ("sql", statement.parameters, statement.returns, statement.body.strip())


def _step(statement: CreateStreamTable, known: StreamTable | None) -> ApplyItem:
    if known is None:
        return ApplyItem("create", statement.name, "new", statement)
    queried = known.query != statement.query.strip()
    stored: Chosen = {
        "schedule": known.schedule,
        "mode": known.mode,
        "full": known.full_policy,
        "tier": known.tier,
    }
    pairs = zip(stored.items(), chosen(statement).values(), strict=True)
    changes = [f"{name} {old} → {new}" for (name, old), new in pairs if old != new]
    changes += _changed_options(known.options, checked_options(statement.options))
    if not changes and not queried:
        return ApplyItem("unchanged", known.name, "", statement)
    return ApplyItem("alter", known.name, ", ".join(changes), statement, queried)


def _changed_options(stored: Options, said: Options) -> list[str]:
    names = sorted(stored.keys() | said.keys())
    pairs = [(name, stored.get(name, "none"), said.get(name, "none")) for name in names]
    return [f"{name} {old} → {new}" for name, old, new in pairs if old != new]
