"""What is defined, as one frozen value, and the questions that are asked of it.

Definitions         all sources, stream tables, views and functions at one generation of the catalog
CatalogSnapshot     the same, with where each stream table stands
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from streamtables.catalog import dependencies
from streamtables.catalog.models import Function, Source, Standing, StreamTable, View
from streamtables.catalog.names import name_key, not_found
from streamtables.positions import InputId


@dataclass(frozen=True)
class Definitions:
    """All sources and stream tables, internal ones included, at one generation."""

    generation: int
    sources: Mapping[InputId, Source]
    stream_tables: Mapping[InputId, StreamTable]
    views: Mapping[InputId, View] = field(default_factory=dict)
    functions: Mapping[InputId, Function] = field(default_factory=dict)

    @cached_property
    def edges(self) -> dict[InputId, tuple[InputId, ...]]:
        """Stream table → inputs that it reads directly."""
        return {
            table.id: tuple(item.id for item in table.inputs)
            for table in self.stream_tables.values()
        }

    @cached_property
    def order(self) -> tuple[InputId, ...]:
        """The stream tables, each after all that it reads."""
        return dependencies.topological_order(self.edges)

    @cached_property
    def _place(self) -> dict[InputId, int]:
        return {table: place for place, table in enumerate(self.order)}

    @cached_property
    def mirrors(self) -> frozenset[InputId]:
        """The sources that are mirrors of PostgreSQL tables."""
        return frozenset(key for key, source in self.sources.items() if source.kind == "postgres")

    @cached_property
    def _by_name(self) -> dict[str, Source | StreamTable | View]:
        entries: list[Source | StreamTable | View] = [*self.sources.values()]
        entries += self.stream_tables.values()
        entries += self.views.values()
        return {name_key(entry.name): entry for entry in entries}

    @cached_property
    def _functions_by_name(self) -> dict[str, Function]:
        return {name_key(entry.name): entry for entry in self.functions.values()}

    @cached_property
    def _readers(self) -> dict[InputId, list[InputId]]:
        return dependencies.readers(self.edges)

    def named(self, name: str) -> Source | StreamTable | View | None:
        """Return the source, stream table or view of this name, or None."""
        return self._by_name.get(name_key(name))

    def function_named(self, name: str) -> Function | None:
        """Return the function of this name, or None."""
        return self._functions_by_name.get(name_key(name))

    def view(self, name: str) -> View:
        """Return a view; an unknown one is an error that names the closest."""
        found = self.named(name)
        if isinstance(found, View):
            return found
        raise not_found("view", name, [entry.name for entry in self.views.values()])

    def function(self, name: str) -> Function:
        """Return a function; an unknown one is an error that names the closest."""
        found = self.function_named(name)
        if found is not None:
            return found
        raise not_found("function", name, [entry.name for entry in self.functions.values()])

    def users(self, used: InputId) -> tuple[StreamTable | View | Function, ...]:
        """Return what uses something, directly or through views and functions."""
        everything: list[StreamTable | View | Function] = [*self.stream_tables.values()]
        everything += self.views.values()
        everything += self.functions.values()
        return tuple(entry for entry in everything if used in entry.uses)

    def source(self, name_or_id: str) -> Source:
        """Return a source; an unknown one is an error that names the closest."""
        found = self.sources.get(InputId(name_or_id)) or self.named(name_or_id)
        if isinstance(found, Source):
            return found
        raise not_found("source", name_or_id, [entry.name for entry in self.sources.values()])

    def stream_table(self, name_or_id: str) -> StreamTable:
        """Return a stream table; an unknown one is an error that names the closest."""
        found = self.stream_tables.get(InputId(name_or_id)) or self.named(name_or_id)
        if isinstance(found, StreamTable):
            return found
        visible = [table.name for table in self.stream_tables.values() if not table.is_internal]
        raise not_found("stream table", name_or_id, visible)

    def direct_readers(self, input_id: InputId) -> tuple[StreamTable, ...]:
        """Return the stream tables that read an input themselves."""
        return tuple(self.stream_tables[table] for table in self._readers.get(input_id, ()))

    def dependants(self, input_id: InputId) -> tuple[StreamTable, ...]:
        """Return all stream tables that stand on an input, each after those that it reads."""
        return self._in_order(dependencies.dependants(self.edges, input_id))

    def ancestors(self, table_id: InputId) -> tuple[StreamTable, ...]:
        """Return all stream tables that a table stands on, each after those that it reads."""
        return self._in_order(dependencies.ancestors(self.edges, table_id))

    def _in_order(self, reached: Iterable[InputId]) -> tuple[StreamTable, ...]:
        # By their places: a warehouse may be large, and what one table stands on rarely is.
        tables = (node for node in reached if node in self.edges)
        return tuple(self.stream_tables[t] for t in sorted(tables, key=self._place.__getitem__))

    def roots(self, table_id: InputId) -> frozenset[InputId]:
        """Return the sources that a table stands on."""
        return dependencies.roots(self.edges, table_id)

    def internal_tables(self, owner_id: InputId) -> tuple[StreamTable, ...]:
        """Return the internal tables of an owner, each after those that it reads."""
        tables = (self.stream_tables[table] for table in self.order)
        return tuple(table for table in tables if table.owner_id == owner_id)


@dataclass(frozen=True)
class CatalogSnapshot:
    """Everything that a round of refreshes needs to know, as it was at one moment."""

    definitions: Definitions
    standings: Mapping[InputId, Standing]

    @property
    def generation(self) -> int:
        """The catalog's generation."""
        return self.definitions.generation

    @property
    def sources(self) -> Mapping[InputId, Source]:
        """All sources, by id."""
        return self.definitions.sources

    @property
    def stream_tables(self) -> Mapping[InputId, StreamTable]:
        """All stream tables, internal ones included, by id."""
        return self.definitions.stream_tables

    def needs_fill(self, table_id: InputId) -> bool:
        """Whether no refresh has written the rows of the query as it is defined now."""
        standing = self.standings.get(table_id)
        query_hash = self.stream_tables[table_id].defining_query_hash
        return standing is None or standing.query_hash != query_hash
