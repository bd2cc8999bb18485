"""Tables as Delta tables with change feeds, moved by the same rounds as in DuckDB."""

from __future__ import annotations

from pathlib import Path

from deltalake import write_deltalake

from tests.support.delta_tables import merge_changes
from tests.support.table_versions import TableVersions

FILE_BYTES = 32 * 2**20


def write_tables(versions: TableVersions, folder: Path) -> dict[str, Path]:
    """Write the first rows, and return the path of each table."""
    paths = {table: folder / table for table in versions.tables}
    for table, path in paths.items():
        write_deltalake(
            str(path),
            versions.table(table),
            configuration={"delta.enableChangeDataFeed": "true"},
            target_file_size=FILE_BYTES,
        )
    return paths


def apply_round(versions: TableVersions, number: int, paths: dict[str, Path]) -> None:
    """Make one commit to each table that changed, with the changes of a round."""
    for table, path in paths.items():
        rows = versions.changed_rows(table, number)
        if len(rows):
            merge_changes(path, rows, versions.keys[table])
