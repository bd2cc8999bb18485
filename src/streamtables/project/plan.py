"""What a project would change in a warehouse, and doing it: sources, tables, then drops."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from streamtables.apply_folder import ApplyItem, ApplyPlan, statement_steps
from streamtables.catalog.definitions import Definitions
from streamtables.catalog.models import Capture, FileFolder
from streamtables.compiler.frontend.dialect import parse_query
from streamtables.compiler.frontend.tables import referenced_names
from streamtables.compiler.statements import CreateStreamTable
from streamtables.errors import InUseError
from streamtables.positions import InputId
from streamtables.project.checking import Trial, tried
from streamtables.project.definitions import ProjectDefinitions
from streamtables.project.drift import Drift, Stored, source_drift, table_drift
from streamtables.project.record import Record, read_record, write_record
from streamtables.project.said import said_by, said_by_file, said_of
from streamtables.project.source_plan import (
    SourceStep,
    Warehouse,
    apply_source,
    comparable,
    source_step,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streamtables.api import StreamTables


@dataclass(frozen=True)
class ProjectPlan:
    """What applying a project would do, in order, and where the warehouse was changed by hand."""

    definitions: ProjectDefinitions
    sources: tuple[SourceStep, ...]
    tables: tuple[ApplyItem, ...]
    drift: tuple[Drift, ...]
    later: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def items(self) -> tuple[tuple[str, str, str], ...]:
        """The steps as (action, name, details)."""
        sources = [(step.action, step.source.name, step.details) for step in self.sources]
        tables = [
            ("later", step.name, self.later[step.name.lower()])
            if step.name.lower() in self.later
            else (step.action, step.name, step.details)
            for step in self.tables
        ]
        return (*sources, *tables)

    @property
    def about(self) -> dict[str, dict[str, object]]:
        """File, description and tags of what the project defines, by name."""
        return {
            item.statement.name: {
                "file": item.file,
                "description": item.description,
                "tags": list(item.tags),
            }
            for item in self.definitions.defined
        }

    @property
    def environment(self) -> str:
        """The name of the environment that was looked at."""
        return self.definitions.environment.name


def plan_project(
    db: StreamTables,
    wanted: ProjectDefinitions,
    definitions: Definitions,
    captures: Mapping[InputId, Capture],
    folders: Mapping[InputId, FileFolder],
    *,
    prune: bool,
) -> ProjectPlan:
    """Compare a project with a warehouse; nothing changes."""
    there = Warehouse(definitions, captures, folders, read_record(db.place))
    project, environment = wanted.project.name, wanted.environment.name
    there.record.refuse_another(project, environment, db.place)
    sources = tuple(source_step(source, there) for source in wanted.sources)
    asked = statement_steps(definitions, wanted.statements, prune=prune)
    gone = [step for step in asked if step.action == "drop"]
    left = _without_dropped(definitions, {step.name.lower() for step in gone})
    same = {step.name.lower() for step in asked if step.action == "unchanged"}
    trial = tried(
        left,
        [step.source for step in sources if step.action in ("create", "alter")],
        wanted.defined,
        {table.name.lower(): table for table in there.tables if table.name.lower() in same},
    )
    _refuse_views_on(trial.definitions, gone)
    steps = [_told(step, trial) for step in asked if step.action != "drop"]
    steps += _readers_first(gone, definitions)
    if not trial.unknown and all(step.action == "unchanged" for step in sources):
        ready = tuple(step for step in steps if step.name.lower() not in trial.later)
        told = {step.name: step for step in db.plan_steps(ready).steps}
        steps = [told.get(step.name, step) for step in steps]
    return ProjectPlan(
        wanted, sources, tuple(steps), _drift(wanted, there, prune=prune), dict(trial.later)
    )


def apply_project(db: StreamTables, plan: ProjectPlan) -> ProjectPlan:
    """Do what a plan says: each source, then all definitions or none.

    What was done is recorded even where what comes after it fails.
    """
    blocked = [step for step in plan.sources if step.action == "blocked"]
    if blocked:
        raise InUseError(
            f'source "{blocked[0].source.name}" cannot be moved',
            detail=f"{blocked[0].details}.",
            hint="Drop its readers first, give the new place another name, or correct the file.",
        )
    record = read_record(db.place)
    record.project = plan.definitions.project.name
    record.environment = plan.environment
    try:
        for source in plan.sources:
            apply_source(db, source)
            record.sources[source.source.name.lower()] = said_by_file(source.source)
        ready = tuple(step for step in plan.tables if step.name.lower() not in plan.later)
        db.apply(ApplyPlan(ready))
        for step in ready:
            _note(record, step)
    finally:
        write_record(db.place, record)
    return plan


def _note(record: Record, step: ApplyItem) -> None:
    if isinstance(step.statement, CreateStreamTable):
        record.tables[step.name.lower()] = said_by(step.statement)
    elif step.action == "drop":
        record.tables.pop(step.name.lower(), None)


def _told(step: ApplyItem, trial: Trial) -> ApplyItem:
    kept = trial.kept.get(step.name.lower())
    if step.action == "create" and kept is not None:
        return replace(step, details=f"{step.details}, {kept}")
    return step


def _without_dropped(definitions: Definitions, names: set[str]) -> Definitions:
    tables = definitions.stream_tables.items()
    left = {key: table for key, table in tables if table.name.lower() not in names}
    return replace(definitions, stream_tables=left)


def _refuse_views_on(left: Definitions, gone: list[ApplyItem]) -> None:
    names = {step.name.lower(): step.name for step in gone}
    for view in left.views.values() if names else ():
        read = {name.lower() for name in referenced_names(parse_query(view.query))}
        if found := names.keys() & read:
            raise InUseError(
                f'the view "{view.name}" reads "{names[min(found)]}", which is to be dropped',
                hint=f"Drop the view first: DROP VIEW {view.name}.",
            )


def _readers_first(gone: list[ApplyItem], definitions: Definitions) -> list[ApplyItem]:
    order = [definitions.stream_tables[table].name for table in definitions.order]
    place = {name.lower(): number for number, name in enumerate(order)}
    return sorted(gone, key=lambda step: -place[step.name.lower()])


def _drift(wanted: ProjectDefinitions, there: Warehouse, *, prune: bool) -> tuple[Drift, ...]:
    said = {
        item.name.lower(): said_by(item)
        for item in wanted.statements
        if isinstance(item, CreateStreamTable)
    }
    tables = [
        Stored(table.name, said_of(table), table.state, table.state_reason)
        for table in there.tables
    ]
    files = {source.name.lower(): said_by_file(source) for source in wanted.sources}
    found = source_drift(comparable(there, wanted.sources), there.record.sources, files)
    found += table_drift(tables, there.record.tables, said, prune=prune)
    named = {item.name.lower() for item in wanted.statements}
    known = there.definitions
    entries = [("view", view.name) for view in known.views.values()]
    entries += [("function", function.name) for function in known.functions.values()]
    found += [
        Drift(kind, name, "is in no file of the project; apply leaves it")
        for kind, name in entries
        if name.lower() not in named
    ]
    return tuple(found)
