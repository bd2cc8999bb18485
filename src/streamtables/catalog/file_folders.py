"""Folders of files that are sources: where they are, and how their files are read.

Which files were taken is not here: the commit that brought their rows names it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping

from sqlalchemy import Connection, insert, select

from streamtables.catalog.database import Database
from streamtables.catalog.definition_changes import DefinitionChanges
from streamtables.catalog.models import FileFolder, Source
from streamtables.catalog.schema import file_folders
from streamtables.positions import InputId


class FileFolders(DefinitionChanges):
    """The part of the catalog that knows folders of files."""

    _database: Database

    def add_file_folder(self, source: Source, folder: FileFolder) -> Source:
        """Add a source with its folder, in one transaction."""

        def along(connection: Connection) -> None:
            connection.execute(insert(file_folders), [dataclasses.asdict(folder)])

        return self._add_source(source, along)

    def file_folders(
        self, sources: Collection[InputId] | None = None
    ) -> Mapping[InputId, FileFolder]:
        """Return the folders of some sources, or of all."""
        statement = select(file_folders)
        if sources is not None:
            statement = statement.where(file_folders.c.source_id.in_(sources))
        with self._database.reading() as connection:
            rows = connection.execute(statement).all()
        return {InputId(row.source_id): FileFolder(**row._mapping) for row in rows}
