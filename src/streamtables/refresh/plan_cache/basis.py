"""Everything that the plan of a table depends on, and the name that follows from it.

A plan is compiled from its basis and from nothing else.  So what is kept under the fingerprint of a
basis and of the compiler is never stale: another definition has another name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
from functools import cache
from importlib import metadata, resources
from importlib.resources.abc import Traversable

from streamtables.catalog.definitions import Definitions
from streamtables.catalog.models import Column, Function, Source, StreamTable, View
from streamtables.compiler import Plan, compile_query, unread_query
from streamtables.compiler.library import Entry, Library
from streamtables.compiler.schema import Table
from streamtables.errors import SqlSyntaxError
from streamtables.positions import InputId
from streamtables.refresh.library import entry_of

APPROXIMATE_FLOATS = "approximate_floats"
"""The option of a table that lets sums of floats be kept by adding to them."""
FORMAT = 1
"""Moves when the meaning of a kept record does, though the compiler stays the same."""


@dataclass(frozen=True)
class InputBasis:
    """What the compiler knows of one table that a query reads."""

    name: str
    columns: tuple[Column, ...]
    key_columns: tuple[str, ...] | None

    @classmethod
    def of(cls, entry: Source | StreamTable) -> InputBasis:
        """Take from an entry of the catalog what matters."""
        return cls(entry.name, entry.columns, entry.key_columns)

    def table(self) -> Table:
        """Return the table as a query sees it, without hidden columns."""
        types = {c.name: c.type for c in self.columns if not c.name.startswith("__st_")}
        key = self.key_columns or ()
        hidden = any(name.startswith("__st_") for name in key)
        return Table.of(self.name, types, None if hidden else key or None)


@dataclass(frozen=True)
class Basis:
    """A query, and all that it names."""

    query: str
    query_hash: str
    inputs: tuple[InputBasis, ...]
    entries: tuple[Entry, ...]
    """The views and functions that the query reaches, directly or through others."""
    approximate_floats: bool = False
    apart: tuple[tuple[str, str], ...] = ()
    """The queries of internal tables that keep groups of this one, and their names."""

    @classmethod
    def of(cls, table: StreamTable, definitions: Definitions) -> Basis:
        """Take the basis of a table from everything that is defined."""
        read = [
            definitions.sources.get(item.id) or definitions.stream_tables[item.id]
            for item in table.inputs
        ]
        library: dict[InputId, View | Function] = {**definitions.views, **definitions.functions}
        used = (entry_of(library[item]) for item in table.uses if item in library)
        apart = [item for item in read if isinstance(item, StreamTable) and item.is_internal]
        inputs = tuple(InputBasis.of(entry) for entry in read if entry not in apart)
        kept = tuple((item.query, item.name) for item in apart)
        approximate = bool(table.options.get(APPROXIMATE_FLOATS))
        return cls(table.query, table.defining_query_hash, inputs, tuple(used), approximate, kept)

    def compile(self) -> Plan:
        """Compile the query against what the basis holds."""
        schema = {item.name: item.table() for item in self.inputs if item.columns}
        library = Library.of(self.entries)
        try:
            plan = compile_query(
                self.query, schema, library, approximate_floats=self.approximate_floats
            )
            return replace(plan, apart=dict(self.apart))
        except SqlSyntaxError as error:
            # Spark read it when it was defined.
            return unread_query(error, self.query, schema, library)

    def fingerprint(self) -> str:
        """Return a name that no other basis and no other compiler has."""
        entries = [[entry.kind, astuple(entry)] for entry in self.entries]
        inputs = [astuple(item) for item in self.inputs]
        parts = [FORMAT, compiler_stamp(), self.query, self.query_hash, inputs, entries]
        parts += [self.approximate_floats, self.apart]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


@cache
def compiler_stamp() -> str:
    """Return a digest of the compiler: its source, and the library that reads and writes SQL.

    Of the source and not of the version alone, so that no change of a rule can be forgotten here.
    """
    digest = hashlib.sha256(metadata.version("sqlglot").encode())
    for name, text in _sources(resources.files("streamtables.compiler"), ""):
        digest.update(f"\0{name}\0".encode())
        digest.update(text)
    return digest.hexdigest()


def _sources(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for item in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if item.is_dir():
            yield from _sources(item, f"{path}{item.name}/")
        elif item.name.endswith(".py"):
            yield path + item.name, item.read_bytes()
