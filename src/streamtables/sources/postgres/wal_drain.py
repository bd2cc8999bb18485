"""One drain of a database by its log: what it says about every mirror."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from psycopg import Connection

from streamtables.sources.postgres.captured import Captured, Gathering
from streamtables.sources.postgres.row_events import MirrorShape
from streamtables.sources.postgres.snapshot import Position
from streamtables.sources.postgres.spool import Spool
from streamtables.sources.postgres.types import ValueDoesNotFitError
from streamtables.sources.postgres.wal import confirmable, read_changes


@dataclass(frozen=True)
class Followed:
    """A table that is captured by the log."""

    shape: MirrorShape
    since: str
    """The snapshot of the mirror's last commit."""


@dataclass(frozen=True)
class Drained:
    """What happened up to a position."""

    captured: Mapping[int, Captured]
    """By the oid of the table, for all tables that were asked for."""
    confirmable: str
    """How far the slot may be confirmed when every mirror has its changes."""
    messages: int
    records: int
    """Changes of our tables among the messages; an update is one."""
    committed_us: Mapping[int, int]
    """By table, when the first of its changes was committed."""
    misfits: Mapping[int, str]
    """By table, which value does not fit its mirror; nothing else is said of such a table."""


def drain(
    connection: Connection[Any],
    *,
    slot: str,
    publication: str,
    upto: Position,
    tables: Mapping[int, Followed],
    fetch: int,
    spool: Spool,
) -> Drained:
    """Take all changes up to a position; the slot is left as it is."""
    gatherings = {oid: Gathering(table.shape, spool) for oid, table in tables.items()}
    since = {oid: table.since for oid, table in tables.items()}
    held_back, messages, records = None, 0, 0
    committed: dict[int, int] = {}
    misfits: dict[int, str] = {}
    for fetched in read_changes(
        connection, slot=slot, publication=publication, upto=upto, since=since, fetch=fetch
    ):
        held_back, messages = fetched.held_back, fetched.messages
        records += len(fetched.truncations) + sum(
            len(np.union1d(part.old.messages, part.new.messages)) for part in fetched.changes
        )
        committed = {**fetched.committed_us, **committed}
        for oid in gatherings.keys() - misfits.keys():
            try:
                gatherings[oid].add(
                    [part for part in fetched.changes if part.relation.oid == oid],
                    [cut.message for cut in fetched.truncations if oid in cut.relations],
                )
            except ValueDoesNotFitError as error:
                # The other tables go on.
                misfits[oid] = error.message
    captured = {oid: gatherings[oid].captured() for oid in gatherings.keys() - misfits.keys()}
    confirm = confirmable(upto.lsn, held_back)
    return Drained(captured, confirm, messages, records, committed, misfits)
