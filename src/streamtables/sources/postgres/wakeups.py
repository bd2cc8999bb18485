"""Waking the scheduler when a captured table is written: NOTIFY, for those who ask for it.

A trigger of its own sends it, whichever way the table is captured.  The server delivers it when
the writer commits, and takes a lock of the whole server for that: writers that commit at the same
time queue up.  So it is there only while a table that follows changes asks for it.  Nothing depends
on it but how soon a look is taken; the poll finds every change anyway.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import inf
from threading import Event, Thread
from time import monotonic
from typing import Any

from psycopg import Connection, sql

from streamtables.catalog.captures import CapturedDatabase
from streamtables.catalog.models import Capture
from streamtables.errors import StreamTablesError
from streamtables.positions import InputId
from streamtables.sources.postgres.buffer_columns import trigger_name
from streamtables.sources.postgres.facts import describe_table
from streamtables.sources.postgres.server import SCHEMA, Server
from streamtables.sources.postgres.triggers import FIRING

_EVENT = "wake"
_LISTEN_SECONDS = 1.0
_RETRY_SECONDS = 5.0
_SETUP_SECONDS = 300.0
"""After how long it is looked again whether calls are set up: partitions come and go."""
_SILENT = f"""
SELECT n.nspname, c.relname FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = ANY (%(oids)s) AND c.oid NOT IN (SELECT f.relation FROM ({FIRING}) AS f)
ORDER BY c.oid
"""
"""Those of some relations on which the trigger is missing, or does not always fire."""


def channel(known: CapturedDatabase) -> str:
    """Return the channel on which the writers of a database call."""
    return f"streamtables_{known.tag}"


def install(connection: Connection[Any], capture: Capture, called: str) -> None:
    """Have writers of a table call on a channel; nothing is touched where they do already.

    A statement fires the triggers of the relation that it names, so partitions have their own.
    """
    name = trigger_name(capture.tag, _EVENT)
    table = describe_table(connection, capture.relation)
    if table is None:
        return
    oids = [table.oid, *(partition.oid for partition in table.partitions)]
    asked = {"schema": SCHEMA, "names": [name], "oids": oids}
    found = connection.execute(_SILENT, asked).fetchall()
    missing = [sql.Identifier(schema, relation) for schema, relation in found]
    if not missing:
        return
    function = sql.Identifier(SCHEMA, f"{_EVENT}_{capture.tag}")
    body = sql.SQL("BEGIN PERFORM pg_catalog.pg_notify({}, ''); RETURN NULL; END").format(
        sql.Literal(called)
    )
    with connection.transaction():
        connection.execute(
            sql.SQL(
                "CREATE OR REPLACE FUNCTION {}() RETURNS trigger LANGUAGE plpgsql "
                "SET search_path = pg_catalog, pg_temp AS {}"
            ).format(function, sql.Literal(body.as_string(None)))
        )
        for relation in missing:
            connection.execute(
                sql.SQL(
                    "CREATE OR REPLACE TRIGGER {} AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE "
                    "ON {} FOR EACH STATEMENT EXECUTE FUNCTION {}()"
                ).format(sql.Identifier(name), relation, function)
            )
            # Also for what a replication role writes.
            connection.execute(
                sql.SQL("ALTER TABLE {} ENABLE ALWAYS TRIGGER {}").format(
                    relation, sql.Identifier(name)
                )
            )


def removal(tag: str) -> sql.Composed:
    """Return the statement that takes the trigger of a source off its server."""
    return sql.SQL("DROP FUNCTION IF EXISTS {}() CASCADE").format(
        sql.Identifier(SCHEMA, f"{_EVENT}_{tag}")
    )


@dataclass
class Wakeups:
    """Listens to the databases whose writers call; one thread each, while it is wanted."""

    wake: Callable[[], None]
    _listening: dict[str, tuple[Event, Thread]] = field(default_factory=dict)
    _wanted: frozenset[InputId] | None = None
    _again_at: float = inf

    def want(
        self, sources: frozenset[InputId], databases: Callable[[], Iterable[CapturedDatabase]]
    ) -> list[str]:
        """Have the writers of just these sources call; return what went wrong, in sentences."""
        if sources == self._wanted and monotonic() < self._again_at:
            return []
        self._wanted = sources
        self._again_at = monotonic() + _SETUP_SECONDS if sources else inf
        faults: list[str] = []
        for known in databases():
            faults += self._synchronise(known, sources)
        return faults

    def close(self) -> None:
        """Stop listening."""
        for stop, _ in self._listening.values():
            stop.set()
        for _, thread in self._listening.values():
            thread.join()
        self._listening = {}

    def _synchronise(self, known: CapturedDatabase, sources: frozenset[InputId]) -> list[str]:
        server = Server(known.captures[0].server)
        called = [capture for capture in known.captures if capture.source_id in sources]
        try:
            with server.connected("setup") as connection:
                for capture in known.captures:
                    if capture in called:
                        install(connection, capture, channel(known))
                    else:
                        connection.execute(removal(capture.tag))
        except StreamTablesError as error:
            # The poll finds every change; calls only make it sooner.
            self._again_at = monotonic() + _SETUP_SECONDS
            return [f"writers cannot call: {error.message}"]
        self._listen(known, server) if called else self._leave(known.name)
        return []

    def _listen(self, known: CapturedDatabase, server: Server) -> None:
        if known.name in self._listening:
            return
        stop = Event()
        thread = Thread(
            target=_listen,
            args=(server, channel(known), self.wake, stop),
            name="streamtables-listen",
            daemon=True,
        )
        self._listening[known.name] = (stop, thread)
        thread.start()

    def _leave(self, database: str) -> None:
        if database in self._listening:
            stop, thread = self._listening.pop(database)
            stop.set()
            thread.join()


def _listen(server: Server, called: str, wake: Callable[[], None], stop: Event) -> None:
    """Call `wake` for every call on a channel, until told to stop; connections are renewed."""
    while not stop.is_set():
        try:
            with server.connected("listen") as connection:
                connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(called)))
                # What was written while nobody listened is found by this look.
                wake()
                while not stop.is_set():
                    for _ in connection.notifies(timeout=_LISTEN_SECONDS, stop_after=1):
                        wake()
        except StreamTablesError:
            stop.wait(_RETRY_SECONDS)
