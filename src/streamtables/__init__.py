"""Stream tables for Apache Spark: Delta tables that stay equal to their query.

connect(warehouse)              open a warehouse; see `streamtables.api.StreamTables`
compile(sql, tables=…, keys=…)  the compiler alone: SQL in, delta SQL out; views=… are inlined
stream_table(schedule=…)        a decorator for functions of a project that return SQL
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streamtables.api import StreamTables, connect
    from streamtables.compiler.plan import compile_sql as compile
    from streamtables.project.python_tables import stream_table

__version__ = "0.1.0"
__all__ = ["StreamTables", "compile", "connect", "stream_table"]

# Imported on use: the command line must start without sqlglot, SQLAlchemy and Arrow.
_HOMES = {
    "StreamTables": ("streamtables.api", "StreamTables"),
    "connect": ("streamtables.api", "connect"),
    "compile": ("streamtables.compiler.plan", "compile_sql"),
    "stream_table": ("streamtables.project.python_tables", "stream_table"),
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _HOMES[name]
    return getattr(import_module(module), attribute)
