"""Sources: the part of the interface that adds, lists and drops what someone else writes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from streamtables.catalog import Catalog
from streamtables.catalog.models import Column, Source, View, new_id
from streamtables.catalog.names import check_name
from streamtables.choices import checked_capture
from streamtables.engine.describe import TableDescription, describe, enable_change_feed
from streamtables.engine.spark_views import find_view
from streamtables.errors import (
    AlreadyExistsError,
    ConfigError,
    SourceMissingError,
    SourceUnusableError,
)
from streamtables.refresh.surroundings import Surroundings
from streamtables.sources.files.choices import (
    checked_folder,
    refuse_beside_files,
    refuse_without_files,
)
from streamtables.spark_view_text import text_over_sources
from streamtables.views_and_functions import ViewsAndFunctions

if TYPE_CHECKING:
    from streamtables.sources.postgres.copy_progress import CopyProgress


class Sourcing(ViewsAndFunctions):
    """The methods of an open warehouse that are about its sources."""

    _catalog: Catalog
    _around: Surroundings

    def add_source(
        self,
        name: str,
        *,
        path: str | Path | None = None,
        table: str | None = None,
        key: str | Sequence[str] | None = None,
        enable_change_feed: bool = False,
        postgres: str | None = None,
        capture: str = "auto",
        types: Mapping[str, str] | None = None,
        progress: Callable[[CopyProgress], None] | None = None,
        files: str | os.PathLike[str] | None = None,
        format: str | None = None,
        schema: str | None = None,
        pattern: str = "",
        options: Mapping[str, str | bool | int] | None = None,
    ) -> Source | View:
        """Register a Delta table, by its path or its name in Spark's catalog, as a source.

        A view of Spark's catalog becomes a view here, over the sources that its tables are.

        With `postgres`, the address of a database or a reference to it, the table is captured there
        and mirrored here; `capture` says how, `types` overrides the types of columns.  `progress`
        is called, from a thread of its own, while the table is copied.

        With `files` the files of a folder are the rows; `format` is csv, json, parquet or orc,
        `schema` names the columns, `pattern` chooses files, `options` are those of Spark's reader.
        """
        check_name(name)
        if files is not None:
            others = (path, table, key, postgres, types, capture != "auto", enable_change_feed)
            refuse_beside_files(name, others)
            self._refuse_taken(name)
            folder = checked_folder(files, format, schema, pattern, options)
            return self._around.folders.add(name, folder)
        refuse_without_files(format, schema, pattern, options)
        if postgres is not None:
            return self._add_postgres(
                name, postgres, table, capture, types, key=key, path=path, progress=progress
            )
        if types or capture != "auto":
            raise ConfigError(
                "capture and types belong to PostgreSQL tables",
                hint="Give the address of the database too: postgres='${env:SHOP_URL}'.",
            )
        key = [key] if isinstance(key, str) else key
        sessions = self._around.sessions
        if table is not None and path is None and (view := find_view(sessions.get(), table)):
            if key or enable_change_feed:
                raise ConfigError(
                    f'"{table}" is a view, which has no key and no change feed of its own',
                    hint="Leave them out; give them to the tables that the view reads.",
                )
            definitions = self._catalog.snapshot().definitions
            text = text_over_sources(table, view, sessions.get(), definitions)
            return self.add_view(name, text)
        location = self._location(path, table)
        description = self._source_description(name, location, switch_on=enable_change_feed)
        known = {column.name.lower(): column.name for column in description.columns}
        for column in key or ():
            if column.lower() not in known:
                raise ConfigError(
                    f'key column "{column}" is not a column of the table',
                    detail=f"Its columns: {', '.join(known.values())}.",
                    hint="Name the columns that identify a row, or leave the key out.",
                )
        return self._catalog.add_source(
            Source(
                id=new_id(),
                name=name,
                location=location,
                columns=tuple(Column(c.name, c.type, c.nullable) for c in description.columns),
                delta_table_id=description.table_id,
                added_at=self._around.clock(),
                key_columns=tuple(known[column.lower()] for column in key or ()),
            )
        )

    def _add_postgres(
        self,
        name: str,
        address: str,
        table: str | None,
        capture: str,
        types: Mapping[str, str] | None,
        *,
        key: object,
        path: object,
        progress: Callable[[CopyProgress], None] | None,
    ) -> Source:
        if table is None or path is not None or key:
            raise ConfigError(
                f'source "{name}" needs the name of a PostgreSQL table, and no path or key',
                hint="Give table='schema.name'; the key is the table's primary key.",
            )
        self._refuse_taken(name)
        wish = checked_capture(capture)
        return self._around.postgres.add(
            name, address, table, wish=wish, overrides=types, report=progress
        )

    def _refuse_taken(self, name: str) -> None:
        if self._catalog.snapshot().definitions.named(name) is not None:
            raise AlreadyExistsError(f'the name "{name}" is taken', hint="Choose another name.")

    def sources(self) -> list[Source]:
        """Return all sources, by name."""
        return list(self._catalog.sources())

    def source_places(self) -> dict[str, str]:
        """Return where the rows of each source come from, by name; no secret is in it."""
        captures, folders = self._catalog.captures(), self._catalog.file_folders()
        places = {}
        for source in self._catalog.sources():
            place = source.location
            if source.id in captures:
                capture = captures[source.id]
                place = f"{capture.table_name} of {capture.server}"
            elif source.id in folders:
                folder = folders[source.id]
                place = "/".join(part for part in (folder.folder, folder.pattern) if part)
            places[source.name] = place
        return places

    def drop_source(self, name: str, *, leave_server: bool = False) -> Source:
        """Forget a source that no stream table reads; its table stays as it is.

        Of a PostgreSQL table all that captured it goes too, and its mirror; of a folder of files
        the rows that were taken.  With `leave_server`
        the server is not asked: ask `capture_statements` first for what removes the rest there.
        """
        source = self._catalog.source(name)
        if source.kind == "postgres":
            postgres = self._around.postgres
            return postgres.forget(source) if leave_server else postgres.drop(source)
        if source.kind == "files":
            return self._around.folders.drop(source)
        return self._catalog.drop_source(name)

    def capture_statements(self, name: str) -> tuple[str, ...]:
        """Return the SQL that takes off its PostgreSQL server what captures a source."""
        return self._around.postgres.left_behind(self._catalog.source(name))

    def _location(self, path: str | Path | None, table: str | None) -> str:
        if (path is None) == (table is None):
            raise ConfigError(
                "a source needs a path or a table name, and not both",
                hint='Use path="…" for a folder, or table="…" for a name in Spark\'s catalog.',
            )
        if table is not None:
            from streamtables.engine.catalog_names import location_of

            return location_of(self._around.sessions.get(), table)
        text = str(path)
        return text if "://" in text else str(Path(text).absolute())

    def _source_description(self, name: str, location: str, *, switch_on: bool) -> TableDescription:
        sessions = self._around.sessions
        try:
            description = describe(location, sessions)
        except SourceMissingError as error:
            raise SourceUnusableError(
                error.message, detail=error.detail, hint=error.hint
            ) from error
        if description.change_feed_on:
            return description
        if not switch_on:
            raise SourceUnusableError(
                f'the change data feed of "{name}" is off',
                detail="Without it Delta does not tell which rows changed.",
                hint=(
                    "Add the source with enable_change_feed=True, or run ALTER TABLE "
                    f"delta.`{location}` SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')."
                ),
            )
        enable_change_feed(location, sessions)
        return describe(location, sessions)
