"""A folder of SQL files as a project: what it would change, and doing it.

Each file holds one or more CREATE STREAM TABLE statements.  The folder is the truth: a table that
is in the catalog and in no file is left alone, or dropped where that was asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypedDict

from streamtables.catalog.dependencies import find_cycle, topological_order
from streamtables.catalog.models import StreamTable
from streamtables.compiler.frontend.dialect import parse_query
from streamtables.compiler.frontend.tables import referenced_names
from streamtables.compiler.statements import CreateStreamTable, parse_statement, split_statements
from streamtables.errors import AlreadyExistsError, ConfigError, CycleError, UnsupportedSqlError
from streamtables.positions import InputId

if TYPE_CHECKING:
    from streamtables.api import StreamTables

Action = Literal["create", "alter", "drop", "unchanged"]


@dataclass(frozen=True)
class ApplyItem:
    """One stream table, and what becomes of it."""

    action: Action
    name: str
    details: str
    statement: CreateStreamTable | None = None


@dataclass(frozen=True)
class ApplyPlan:
    """What `apply` would do, in the order in which it would do it."""

    steps: tuple[ApplyItem, ...]

    @property
    def items(self) -> tuple[tuple[str, str, str], ...]:
        """The steps as (action, name, details)."""
        return tuple((step.action, step.name, step.details) for step in self.steps)


def plan_folder(db: StreamTables, folder: Path, *, prune: bool) -> ApplyPlan:
    """Compare a folder with the catalog; nothing changes."""
    if not folder.is_dir():
        raise ConfigError(f'there is no folder "{folder}"', hint="Give a folder of .sql files.")
    statements = _in_order(_statements(folder))
    known = {table.name.lower(): table for table in db.stream_tables()}
    steps = [_step(statement, known.get(statement.name.lower())) for statement in statements]
    if prune:
        kept = {statement.name.lower() for statement in statements}
        gone = [table for name, table in known.items() if name not in kept]
        steps += [ApplyItem("drop", table.name, "in no file of the folder") for table in gone]
    return ApplyPlan(tuple(steps))


def apply_plan(db: StreamTables, plan: ApplyPlan) -> ApplyPlan:
    """Do what a plan says."""
    for step in plan.steps:
        match step.action, step.statement:
            case "create", CreateStreamTable() as statement:
                chosen = _chosen(statement)
                db.create(statement.name, statement.query, options=statement.options, **chosen)
            case "alter", CreateStreamTable() as statement:
                chosen = _chosen(statement)
                query = statement.query
                db.alter(statement.name, query=query, options=statement.options, **chosen)
            case "drop", _:
                db.drop(step.name, cascade=True, if_exists=True)
            case _:
                pass
    return plan


class Chosen(TypedDict):
    """What a statement chooses beside the query, defaults filled in."""

    schedule: str
    mode: str
    full: str
    tier: str


def _chosen(statement: CreateStreamTable) -> Chosen:
    return {
        "schedule": (statement.schedule or "manual").lower(),
        "mode": (statement.mode or "auto").lower(),
        "full": (statement.full or "allow").lower(),
        "tier": (statement.tier or "hot").lower(),
    }


def _statements(folder: Path) -> list[CreateStreamTable]:
    found: list[CreateStreamTable] = []
    for path in sorted(folder.rglob("*.sql")):
        for text in split_statements(path.read_text(encoding="utf-8")):
            statement = parse_statement(text)
            if not isinstance(statement, CreateStreamTable):
                raise UnsupportedSqlError(
                    f'"{path.name}" holds a statement that is not CREATE STREAM TABLE', sql=text
                )
            found.append(statement)
    names = [statement.name.lower() for statement in found]
    for name in names:
        if names.count(name) > 1:
            raise AlreadyExistsError(f'two files define the stream table "{name}"')
    return found


def _in_order(statements: list[CreateStreamTable]) -> list[CreateStreamTable]:
    """Return the statements, each after those that it reads."""
    by_name = {statement.name.lower(): statement for statement in statements}
    edges = {
        InputId(name): [
            InputId(read.lower())
            for read in referenced_names(parse_query(statement.query))
            if read.lower() in by_name
        ]
        for name, statement in by_name.items()
    }
    if (path := find_cycle(edges)) is not None:
        names = " → ".join(by_name[item].name for item in path)
        raise CycleError("the stream tables of the folder read each other", detail=f"{names}.")
    return [by_name[item] for item in topological_order(edges)]


def _step(statement: CreateStreamTable, known: StreamTable | None) -> ApplyItem:
    if known is None:
        return ApplyItem("create", statement.name, "new", statement)
    changes = []
    if known.query != statement.query.strip():
        changes.append("query (means a full refresh)")
    stored: Chosen = {
        "schedule": known.schedule,
        "mode": known.mode,
        "full": known.full_policy,
        "tier": known.tier,
    }
    pairs = zip(stored.items(), _chosen(statement).values(), strict=True)
    changes += [f"{name} {old} → {new}" for (name, old), new in pairs if old != new]
    if not changes:
        return ApplyItem("unchanged", known.name, "", statement)
    return ApplyItem("alter", known.name, ", ".join(changes), statement)
