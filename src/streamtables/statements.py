"""SQL statements about stream tables, views and functions, carried out through the API."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from streamtables.catalog.models import Function, View
from streamtables.compiler.library_statements import (
    CreateFunction,
    CreateView,
    DropFunction,
    DropView,
)
from streamtables.compiler.statements import (
    AlterStreamTable,
    CreateStreamTable,
    DropStreamTable,
    ExplainStreamTable,
    RefreshStreamTable,
    ShowStreamTables,
    parse_statement,
)

if TYPE_CHECKING:
    from streamtables.api import StreamTables


def run_statement(db: StreamTables, text: str) -> object:
    """Run one statement; what is none of ours goes to Spark."""
    statement = parse_statement(text)
    match statement:
        case None:
            return db.spark_sql(text)
        case CreateStreamTable():
            return _create(db, statement)
        case AlterStreamTable():
            return _alter(db, statement)
        case DropStreamTable():
            return db.drop(statement.name, cascade=statement.cascade, if_exists=statement.if_exists)
        case RefreshStreamTable():
            return db.refresh(statement.name, full=statement.full)
        case ExplainStreamTable():
            return db.explain(statement.name)
        case ShowStreamTables():
            return db.status()
        case CreateView() | CreateFunction():
            return define_in_library(db, statement, replace=statement.replace)
        case DropView() | DropFunction():
            return _drop_from_library(db, statement, text)
        case _:
            assert_never(statement)


def define_in_library(
    db: StreamTables, statement: CreateView | CreateFunction, *, replace: bool
) -> View | Function:
    """Add or replace the view or function of a statement."""
    if isinstance(statement, CreateView):
        return db.add_view(
            statement.name, statement.text, replace=replace, if_not_exists=statement.if_not_exists
        )
    return db.add_function(
        statement.name,
        parameters=statement.parameter_types,
        returns=statement.returns,
        body=statement.body,
        replace=replace,
        if_not_exists=statement.if_not_exists,
    )


def _drop_from_library(db: StreamTables, statement: DropView | DropFunction, text: str) -> object:
    """Drop a view or function of ours; Spark has some of its own, temporary ones among them."""
    name = statement.name.lower()
    if isinstance(statement, DropView):
        ours = any(view.name.lower() == name for view in db.views())
        return db.drop_view(name) if ours else db.spark_sql(text)
    ours = any(function.name.lower() == name for function in db.functions())
    return db.drop_function(name) if ours else db.spark_sql(text)


def _create(db: StreamTables, statement: CreateStreamTable) -> object:
    return db.create(
        statement.name,
        statement.query,
        schedule=statement.schedule or "manual",
        mode=statement.mode or "auto",
        full=statement.full or "allow",
        tier=statement.tier or "hot",
        replace=statement.replace,
        if_not_exists=statement.if_not_exists,
        options=statement.options,
    )


def _alter(db: StreamTables, statement: AlterStreamTable) -> object:
    if statement.pause:
        return db.pause(statement.name)
    if statement.resume:
        return db.resume(statement.name)
    return db.alter(
        statement.name,
        query=statement.query,
        schedule=statement.schedule,
        mode=statement.mode,
        full=statement.full,
        tier=statement.tier,
        options=statement.options or None,
    )
