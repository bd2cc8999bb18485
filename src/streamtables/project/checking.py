"""A project tried on paper: everything is compiled as apply would, and nothing is stored.

What reads a source that nobody has described yet (a PostgreSQL table, a name in Spark's catalog)
cannot be tried; it is judged when it is applied.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeVar

from streamtables.apply_folder import in_order, reads
from streamtables.catalog.definitions import Definitions
from streamtables.catalog.models import Column, Function, Source, StreamTable, View, new_id
from streamtables.choices import checked_choices
from streamtables.compiler import Plan
from streamtables.compiler.library_statements import CreateFunction, CreateView
from streamtables.compiler.statements import CreateStreamTable
from streamtables.engine.describe import describe
from streamtables.errors import (
    ConfigError,
    NotFilledError,
    SourceUnusableError,
    StreamTablesError,
)
from streamtables.positions import InputId
from streamtables.project.front_matter import Defined, Defining
from streamtables.project.source_files import SourceFile
from streamtables.refresh.define import analysed, define

E = TypeVar("E", StreamTable, View, Function)

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
NOT_TRIED = "not tried: reads what is not there yet"


@dataclass
class Trial:
    """The definitions as they would be, and how each table would be kept."""

    definitions: Definitions
    unknown: set[str] = field(default_factory=set)
    """Names whose columns nobody knows yet."""
    later: dict[str, str] = field(default_factory=dict)
    """Tables that can be made only after a refresh of others, and why."""
    kept: dict[str, str] = field(default_factory=dict)
    plans: dict[str, Plan] = field(default_factory=dict)

    def add_source(self, source: SourceFile) -> None:
        """Add a source that the warehouse does not have."""
        if source.path is None:
            self.unknown.add(source.name.lower())
            return
        added = described(source)
        known = self.definitions
        self.definitions = replace(known, sources={**known.sources, added.id: added})

    def add(self, item: Defined, stored: StreamTable | None) -> None:
        """Add a definition; `stored` is the table of this name that stays as it is."""
        name = item.statement.name.lower()
        try:
            if stored is None:
                self._without(item.statement)
            if waits := self.later.keys() & reads(item.statement):
                self.later[name] = self.later[min(waits)]
            elif self.unknown.intersection(reads(item.statement)):
                self.unknown.add(name)
                self.kept[name] = NOT_TRIED
            elif isinstance(item.statement, CreateStreamTable):
                self._add_table(item.statement, item, stored)
            else:
                self._add_to_library(item.statement)
        except NotFilledError as error:
            self.later[name] = error.message
        except StreamTablesError as error:
            if item.file not in f"{error.message} {error.detail}":
                error.detail = f'In the file "{item.file}". {error.detail}'.strip()
            raise

    def _add_table(
        self, statement: CreateStreamTable, item: Defined, stored: StreamTable | None
    ) -> None:
        choices = checked_choices(
            statement.schedule or "manual",
            statement.mode or "auto",
            statement.full or "allow",
            statement.tier or "hot",
            statement.options,
        )
        found = define(
            statement.name, statement.query, choices, self.definitions, location="", at=_NEVER
        )
        _check_key(item, found.table, found.plan)
        self.kept[statement.name.lower()] = kept_how(found.plan, choices.mode)
        self.plans[statement.name.lower()] = found.plan
        if stored is None:
            table = replace(found.table, inputs=found.inputs)
            known = self.definitions
            tables = {**known.stream_tables, table.id: table}
            self.definitions = replace(known, stream_tables=tables)

    def _add_to_library(self, statement: CreateView | CreateFunction) -> None:
        known = self.definitions
        if isinstance(statement, CreateView):
            analysed(statement.text, self.definitions, name=statement.name)
            view = View(new_id(), statement.name, statement.text, _NEVER, _NEVER)
            self.definitions = replace(known, views={**known.views, view.id: view})
            return
        parameters = tuple(Column(name, kind) for name, kind in statement.parameters)
        function = Function(
            new_id(), statement.name, "sql", statement.returns, _NEVER, _NEVER,
            parameters=parameters, body=statement.body.strip(),
        )  # fmt: skip
        self.definitions = replace(known, functions={**known.functions, function.id: function})

    def _without(self, statement: Defining) -> None:
        """Forget what has the name: what is new in its place is judged on its own."""
        known, name = self.definitions, statement.name.lower()
        if isinstance(statement, CreateFunction):
            self.definitions = replace(known, functions=_others(known.functions, name))
        else:
            tables, views = _others(known.stream_tables, name), _others(known.views, name)
            self.definitions = replace(known, stream_tables=tables, views=views)


def tried(
    definitions: Definitions,
    new_sources: Iterable[SourceFile],
    defined: Iterable[Defined],
    unchanged: Mapping[str, StreamTable],
) -> Trial:
    """Try sources that are new and all definitions, in the order in which they would be applied."""
    trial = Trial(definitions)
    for source in new_sources:
        trial.add_source(source)
    items = {id(item.statement): item for item in defined}
    for statement in in_order([item.statement for item in items.values()]):
        name = statement.name.lower()
        kept = unchanged.get(name) if isinstance(statement, CreateStreamTable) else None
        trial.add(items[id(statement)], kept)
    return trial


def kept_how(plan: Plan, mode: str = "auto") -> str:
    """Say in one line how a table is kept."""
    if mode == "full":
        return "kept by full refreshes: mode full"
    if plan.refusals:
        refusal = plan.refusals[0]
        return f"kept by full refreshes: {refusal.code} {refusal.message}"
    return "kept by changes"


def described(source: SourceFile) -> Source:
    """Return a source as it would be stored, described from its files."""
    assert source.path is not None
    try:
        found = describe(source.path)
    except StreamTablesError as error:
        raise SourceUnusableError(
            error.message, detail=f'In the file "{source.file}". {error.detail}'.strip(),
            hint=error.hint,
        ) from error  # fmt: skip
    if not found.change_feed_on and not source.enable_change_feed:
        raise SourceUnusableError(
            f'the change data feed of "{source.name}" is off',
            detail=f'In the file "{source.file}". Without it Delta does not tell what changed.',
            hint="Add enable_change_feed = true to the file, or switch it on yourself.",
        )
    columns = {column.name.lower(): column.name for column in found.columns}
    for column in source.key:
        if column.lower() not in columns:
            raise ConfigError(
                f'key column "{column}" of "{source.file}" is not a column of the table',
                detail=f"Its columns: {', '.join(columns.values())}.",
            )
    return Source(
        id=new_id(),
        name=source.name,
        location=source.path,
        columns=tuple(Column(c.name, c.type, c.nullable) for c in found.columns),
        delta_table_id=found.table_id,
        added_at=_NEVER,
        key_columns=tuple(columns[column.lower()] for column in source.key),
    )


def _check_key(item: Defined, table: StreamTable, plan: Plan) -> None:
    if item.key is None or plan.root is None:
        return
    said = sorted(column.lower() for column in item.key)
    if table.key_columns is not None and said == sorted(c.lower() for c in table.key_columns):
        return
    derived = "none" if table.key_columns is None else ", ".join(table.key_columns) or "one row"
    raise ConfigError(
        f'the key of "{table.name}" is not {", ".join(item.key) or "empty"}',
        detail=f"What its query and the keys of its sources give is: {derived}.",
        hint="Declare the keys of its sources, correct the query, or leave the key out.",
    )


def _others(entries: Mapping[InputId, E], name: str) -> dict[InputId, E]:
    return {key: entry for key, entry in entries.items() if entry.name.lower() != name}
