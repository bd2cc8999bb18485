"""SQL statements about stream tables, carried out through the API."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

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
    """Run one statement; what is not about stream tables goes to Spark."""
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
        case _:
            assert_never(statement)


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
