"""What a statement that goes to Spark can name: sources, stream tables, views and SQL functions."""

from __future__ import annotations

from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.models import Source, StreamTable, View
from streamtables.compiler.backend.statement import by_view, view_name
from streamtables.compiler.frontend.inlined_text import over_relations, temporary_function
from streamtables.compiler.library import SqlFunction
from streamtables.engine.reading import Visible
from streamtables.positions import InputId, Version
from streamtables.refresh.library import library_of
from streamtables.refresh.plans import schema_of

Place = tuple[str, Version | None]


def visible_in(text: str, snapshot: CatalogSnapshot) -> Visible:
    """Return what occurs in a statement by its name; a table without rows yet cannot be read."""
    lowered = text.lower()
    entries: list[Source | StreamTable] = [*snapshot.sources.values()]
    entries += snapshot.stream_tables.values()
    tables = {
        entry.name: place
        for entry in entries
        if entry.name.lower() in lowered and (place := _place(entry.id, snapshot)) is not None
    }
    views: dict[str, str] = {}
    for view in snapshot.definitions.views.values():
        if view.name.lower() in lowered and (below := _below(view, snapshot)) is not None:
            views[view.name] = _text(view, snapshot)
            tables |= below
    library = library_of(snapshot.definitions)
    functions = [
        temporary_function(function, library)
        for key, function in library.functions.items()
        if f"{key}(" in lowered and isinstance(function, SqlFunction)
    ]
    return Visible(tables, views, tuple(functions))


def _place(entry_id: InputId, snapshot: CatalogSnapshot) -> Place | None:
    if (source := snapshot.sources.get(entry_id)) is not None:
        return source.location, None
    standing = snapshot.standings.get(entry_id)
    if standing is None:
        return None
    return snapshot.stream_tables[entry_id].location, standing.version


def _below(view: View, snapshot: CatalogSnapshot) -> dict[str, Place] | None:
    """Return the tables of a view, under names of their own; None where one has no rows yet."""
    found: dict[str, Place] = {}
    for used in view.uses:
        entry = snapshot.sources.get(used) or snapshot.stream_tables.get(used)
        if entry is None:
            continue
        if (place := _place(used, snapshot)) is None:
            return None
        found[view_name(entry.name, "now")] = place
    return found


def _text(view: View, snapshot: CatalogSnapshot) -> str:
    definitions = snapshot.definitions
    return over_relations(
        view.query,
        lambda table: by_view(table, "now"),
        schema_of(definitions),
        library_of(definitions),
    )
