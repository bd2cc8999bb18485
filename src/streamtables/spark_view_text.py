"""The text of a view of Spark's catalog, over our sources and views in place of Spark's tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamtables.catalog.definitions import Definitions
from streamtables.catalog.models import Source, StreamTable, View
from streamtables.compiler.frontend.inlined_text import with_column_names, with_other_names
from streamtables.engine.spark_views import Referred, SparkView, referred
from streamtables.errors import SourceUnusableError

if TYPE_CHECKING:
    from streamtables.engine.handles import Session


def text_over_sources(name: str, view: SparkView, spark: Session, definitions: Definitions) -> str:
    """Return the query of a view with each table under the name that it has here."""

    def here(table: str) -> str:
        meant = referred(spark, view, table)
        known = _known_here(table, meant, definitions)
        if known is None:
            raise SourceUnusableError(
                f'the view "{name}" reads "{table}", which is not known here',
                detail="A view is kept up to date through the tables that it reads.",
                hint=f"Run {_call_to_make(table, meant)} first.",
            )
        return known

    text = with_other_names(view.text, here)
    return with_column_names(text, view.columns) if view.renames else text


def _known_here(table: str, meant: Referred, definitions: Definitions) -> str | None:
    if meant.kind == "table":
        return _at(meant.location, definitions)
    for name in (table, table.split(".")[-1]):
        found = definitions.named(name)
        # Statements that were run here left their tables in the session as temporary views.
        if isinstance(found, View) or (found is not None and meant.kind == "temporary"):
            return found.name
    return None


def _call_to_make(table: str, meant: Referred) -> str:
    if table.lower().startswith("delta."):
        return f'add_source("…", path="{meant.location}")'
    return f'add_source("{table.split(".")[-1]}", table="{table}")'


def _at(place: str, definitions: Definitions) -> str | None:
    """Return the source or stream table that keeps its files there."""
    entries: list[Source | StreamTable] = [*definitions.sources.values()]
    entries += definitions.stream_tables.values()
    return next((item.name for item in entries if _bare(item.location) == _bare(place)), None)


def _bare(place: str) -> str:
    """Return a place in one spelling: Spark writes the paths of files as addresses."""
    if place.startswith("file:"):
        place = "/" + place.removeprefix("file:").lstrip("/")
    return place.rstrip("/")
