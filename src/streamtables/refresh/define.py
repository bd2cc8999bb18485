"""From a name and a query to a definition: compiled, checked, ready for the catalog."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from streamtables.catalog.definitions import Definitions
from streamtables.catalog.models import (
    Alteration,
    Column,
    Input,
    Options,
    StreamTable,
    new_id,
)
from streamtables.compiler import Plan, compile_query, unread_query
from streamtables.compiler.frontend.scope import find_table
from streamtables.errors import (
    CycleError,
    NameNotAllowedError,
    NotFilledError,
    SqlSyntaxError,
    UnknownNameError,
)
from streamtables.refresh.immediate import IMMEDIATE
from streamtables.refresh.immediate.permitted import require_immediate
from streamtables.refresh.internal_tables import Internal, parts_of
from streamtables.refresh.library import library_of, uses_of
from streamtables.refresh.plans import query_hash, schema_of

_NOT_IN_NAMES = frozenset(" ,;{}()\n\t=")


@dataclass(frozen=True)
class Definition:
    """A stream table, what it reads, and its plan."""

    table: StreamTable
    inputs: tuple[Input, ...]
    plan: Plan
    internal: tuple[Internal, ...] = ()


@dataclass(frozen=True)
class Choices:
    """What the user chose beside the query."""

    schedule: str = "manual"
    mode: str = "auto"
    full: str = "allow"
    tier: str = "hot"
    options: Options | None = None


SparkReads = Callable[[Plan], bool]
"""Says whether Spark can read a query that this compiler cannot."""


def was_read(_: Plan) -> bool:
    """Say so of the query of a table that is defined already."""
    return True


def compiled(
    query: str,
    definitions: Definitions,
    *,
    mode: str = "auto",
    name: str = "",
    spark_reads: SparkReads | None = None,
) -> Plan:
    """Compile a query against everything that is defined; `differential` demands a plan."""
    asked = None if mode in ("differential", IMMEDIATE) else spark_reads
    plan = analysed(query, definitions, name=name, spark_reads=asked)
    _check_names(plan)
    if mode in ("differential", IMMEDIATE):
        plan.require_incremental()
    if mode == IMMEDIATE:
        require_immediate(plan, definitions)
    return plan


def analysed(
    query: str, definitions: Definitions, *, name: str = "", spark_reads: SparkReads | None = None
) -> Plan:
    """Compile a query whose result need not be stored, as that of a view."""
    schema = {k: v for k, v in schema_of(definitions).items() if k.lower() != name.lower()}
    library = library_of(definitions)
    try:
        return compile_query(query, schema, library)
    except SqlSyntaxError as error:
        if spark_reads is None:
            raise
        plan = unread_query(error, query, schema, library)
        if not spark_reads(plan):
            raise
        return plan
    except UnknownNameError as error:
        raise _explained(error, definitions, name) from error


def _check_names(plan: Plan) -> None:
    """Refuse column names that a Delta table cannot have."""
    for name, _ in plan.output:
        if any(character in _NOT_IN_NAMES for character in name):
            raise NameNotAllowedError(
                f'the column name "{name}" cannot be stored',
                detail="A Delta table takes no blank and none of ,;{}()= in a column's name.",
                hint="Give the column another name with AS.",
            )


def define(
    name: str,
    query: str,
    choices: Choices,
    definitions: Definitions,
    *,
    location: str,
    at: datetime,
    spark_reads: SparkReads | None = None,
) -> Definition:
    """Compile a query and make the definition that the catalog keeps."""
    plan = compiled(query, definitions, mode=choices.mode, name=name, spark_reads=spark_reads)
    table = StreamTable(
        id=new_id(),
        name=name,
        query=query.strip(),
        defining_query_hash=query_hash(query, plan.used),
        location=location,
        columns=tuple(Column(shown, type_) for shown, type_ in plan.output),
        created_at=at,
        altered_at=at,
        schedule=choices.schedule,
        mode=choices.mode,
        full_policy=choices.full,
        tier=choices.tier,
        options=dict(choices.options or {}),
        key_columns=tuple(plan.key) if plan.key is not None else None,
        uses=uses_of(plan.used, definitions),
    )
    parts = parts_of(table, plan, definitions)
    return Definition(table, parts.inputs, plan, parts.internal)


def altered_query(query: str, plan: Plan, definitions: Definitions) -> Alteration:
    """Return the parts of a definition that follow from its query."""
    return {
        "query": query.strip(),
        "defining_query_hash": query_hash(query, plan.used),
        "columns": tuple(Column(shown, type_) for shown, type_ in plan.output),
        "key_columns": tuple(plan.key) if plan.key is not None else None,
        "uses": uses_of(plan.used, definitions),
    }


def _explained(error: UnknownNameError, definitions: Definitions, name: str) -> Exception:
    """Say what is special about a name that exists but cannot be read here."""
    quoted = error.message.rsplit('"', 2)[1] if error.message.count('"') >= 2 else ""
    if name and quoted.lower() == name.lower() and definitions.named(name) is not None:
        return CycleError(f'stream table "{name}" would read itself', detail=f"{name} → {name}.")
    known = {t.name: t for t in definitions.stream_tables.values() if not t.columns}
    if (unfilled := find_table(quoted, known)) is not None:
        return NotFilledError(
            f'the columns of stream table "{unfilled}" are not known yet',
            detail="Its query has no incremental plan, so only its first refresh tells them.",
            hint=f'Run refresh("{unfilled}") first.',
        )
    return error
