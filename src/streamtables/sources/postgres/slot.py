"""The replication slot of a captured database: the server keeps the log for it until we confirm.

A slot says how far it was confirmed.  Only we confirm, so a slot that stands further than we ever
confirmed lost changes: somebody else moved it, or it was dropped and made again.  The other way
round is harmless: after a crash the server may send again what was confirmed, and every mirror
knows what it already has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psycopg import Connection, errors

from streamtables.errors import TransientError
from streamtables.sources.postgres.snapshot import lsn_number

PLUGIN = "pgoutput"

# As JSON, a column that this version of the server does not have reads as NULL.
FACTS = """
WITH slot AS (
    SELECT to_jsonb(s) AS f FROM pg_catalog.pg_replication_slots s WHERE slot_name = %(slot)s
), log AS (
    SELECT CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_last_wal_replay_lsn()
                ELSE pg_catalog.pg_current_wal_lsn() END AS at
)
SELECT coalesce((f->>'active')::bool, false), coalesce(f->>'plugin', ''),
       coalesce(f->>'database', ''), coalesce(f->>'restart_lsn', ''),
       coalesce(f->>'confirmed_flush_lsn', ''), coalesce(f->>'wal_status', ''),
       coalesce(f->>'invalidation_reason',
                CASE WHEN f->>'wal_status' = 'lost' THEN 'wal_removed'
                     WHEN (f->>'conflicting')::bool THEN 'conflicting' ELSE '' END),
       coalesce(pg_catalog.pg_wal_lsn_diff(at, (f->>'restart_lsn')::pg_lsn), 0)::int8,
       coalesce(pg_catalog.pg_wal_lsn_diff(at, (f->>'confirmed_flush_lsn')::pg_lsn), 0)::int8
FROM slot, log
"""


@dataclass(frozen=True)
class SlotFacts:
    """What the server says about a slot; places in the log are empty where there are none."""

    exists: bool
    active: bool = False
    plugin: str = ""
    database: str = ""
    restart_lsn: str = ""
    confirmed_flush_lsn: str = ""
    wal_status: str = ""
    invalidation_reason: str = ""
    retained_bytes: int = 0
    """How much of the log the server keeps because of the slot."""
    lag_bytes: int = 0
    """How much was written since the last change that was confirmed."""

    @property
    def is_whole(self) -> bool:
        """Whether the slot is there and the server has not given it up."""
        return self.exists and not self.invalidation_reason and self.plugin == PLUGIN


def slot_facts(connection: Connection[Any], slot: str) -> SlotFacts:
    """Ask the server about a slot."""
    row = connection.execute(FACTS, {"slot": slot}).fetchone()
    return SlotFacts(True, *row) if row else SlotFacts(False)


def create(connection: Connection[Any], slot: str) -> None:
    """Make the slot, unless it is there; the publication has to be there first.

    Raises:
        TransientError: a transaction stays open that the slot has to wait for.
    """
    if slot_facts(connection, slot).exists:
        return
    try:
        connection.execute(
            "SELECT pg_catalog.pg_create_logical_replication_slot(%s, %s)", (slot, PLUGIN)
        )
    except (errors.LockNotAvailable, errors.QueryCanceled) as error:
        raise TransientError(
            "a transaction is open on the PostgreSQL server that the replication slot waits for",
            detail="A slot begins where every transaction that was open before has ended.",
            hint="SELECT pid, xact_start, query FROM pg_stat_activity WHERE backend_xid IS NOT NULL"
            " ORDER BY xact_start shows who has been writing for long.",
        ) from error


def drop(connection: Connection[Any], slot: str) -> None:
    """Remove the slot, so that the server keeps no log for it."""
    connection.execute(
        "SELECT pg_catalog.pg_drop_replication_slot(slot_name)"
        " FROM pg_catalog.pg_replication_slots WHERE slot_name = %s",
        (slot,),
    )


def advance(connection: Connection[Any], slot: str, lsn: str) -> None:
    """Confirm everything before a place in the log; a slot never goes back.

    The place has to be on record before this is called: it is what `what_broke` compares with.
    """
    connection.execute(
        "SELECT pg_catalog.pg_replication_slot_advance(slot_name, %(lsn)s::pg_lsn)"
        " FROM pg_catalog.pg_replication_slots"
        " WHERE slot_name = %(slot)s AND confirmed_flush_lsn < %(lsn)s::pg_lsn",
        {"slot": slot, "lsn": lsn},
    )


def what_broke(facts: SlotFacts, confirmed: str) -> str:
    """Return why changes are missing since we confirmed up to `confirmed`; empty when none are."""
    if not facts.exists:
        return "the replication slot is gone"
    if facts.invalidation_reason:
        return f"the server gave up the replication slot ({facts.invalidation_reason})"
    if facts.plugin != PLUGIN:
        return f"the replication slot has the plugin {facts.plugin}, not {PLUGIN}"
    if lsn_number(facts.confirmed_flush_lsn) > lsn_number(confirmed):
        return (
            f"the replication slot stands at {facts.confirmed_flush_lsn}, past {confirmed}, "
            "which is as far as it was read: it was moved, or dropped and made again"
        )
    return ""
