"""What is wrong, or may become so, on the servers that are captured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from streamtables.catalog.models import Capture
from streamtables.catalog.store import Catalog
from streamtables.errors import StreamTablesError
from streamtables.sources.postgres import publication, triggers
from streamtables.sources.postgres.moves import Ways
from streamtables.sources.postgres.server import SCHEMA, Server


@dataclass(frozen=True)
class CaptureFinding:
    """One thing about a captured server: a fault, or something to know."""

    server: str
    fault: bool
    detail: str
    hint: str = ""


def capture_findings(catalog: Catalog) -> list[CaptureFinding]:
    """Look at every captured server; one that does not answer is a finding too."""
    captures = list(catalog.captures().values())
    found: list[CaptureFinding] = []
    for address in dict.fromkeys(capture.server for capture in captures):
        server = Server(address)
        here = [capture for capture in captures if capture.server == address]
        try:
            with server.connected("doctor") as connection:
                found += _of_server(catalog, connection, server.shown, here)
        except StreamTablesError as error:
            found.append(CaptureFinding(server.shown, True, error.message, error.hint))
    return found


def _of_server(
    catalog: Catalog, connection: Connection[Any], shown: str, captures: list[Capture]
) -> Iterator[CaptureFinding]:
    ways = Ways.of(connection, catalog.capture_tag(captures[0].database))
    by_wal = [c for c in captures if "wal" in (c.mode, c.moving_to)]
    yield CaptureFinding(shown, False, f"{len(captures)} tables captured, {len(by_wal)} by WAL")
    for capture in captures:
        if capture.copy_reason:
            name = catalog.source(capture.source_id).name
            detail = f'source "{name}" has to be copied anew: {capture.copy_reason}'
            yield CaptureFinding(shown, True, detail, "Refresh a table that reads it.")
    if by_wal and ways.server.keep_size == "-1":
        yield CaptureFinding(
            shown,
            False,
            "max_slot_wal_keep_size is unlimited: a slot that nobody reads fills the disk",
            "ALTER SYSTEM SET max_slot_wal_keep_size = '50GB'; SELECT pg_reload_conf();",
        )
    if not by_wal and (ways.slot.exists or publication.exists(connection, ways.name)):
        yield CaptureFinding(
            shown,
            True,
            f'the slot or publication "{ways.name}" is left over',
            f"SELECT pg_drop_replication_slot('{ways.name}'); "
            f'DROP PUBLICATION IF EXISTS "{ways.name}";',
        )
    ours = {capture.tag for capture in captures}
    for tag in set(triggers.orphans(connection)) - ours:
        yield CaptureFinding(
            shown,
            True,
            f'the change buffer "{SCHEMA}.changes_{tag}" is of no table any more',
            f'DROP TABLE IF EXISTS "{SCHEMA}"."changes_{tag}";',
        )
    others = set(triggers.tags(connection)) - ours - set(triggers.orphans(connection))
    if others:
        listed = ", ".join(sorted(others))
        detail = f"captures that this warehouse does not know: {listed}"
        yield CaptureFinding(shown, False, detail, "They are another warehouse's, or left over.")
