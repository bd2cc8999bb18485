"""Sources whose server is left as it is: what stays there, as the statements that remove it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from psycopg import sql

from streamtables.catalog.captures import CapturedDatabase
from streamtables.catalog.models import Capture
from streamtables.errors import StreamTablesError
from streamtables.sources.postgres import publication, triggers, wakeups
from streamtables.sources.postgres.server import SCHEMA

_DROP_SLOT = """SELECT pg_catalog.pg_drop_replication_slot(slot_name) \
FROM pg_catalog.pg_replication_slots WHERE slot_name = {}"""


def left_behind(known: CapturedDatabase, capture: Capture) -> tuple[str, ...]:
    """Return the statements that take a source off its server; each may be run more than once.

    Nothing is asked: what the catalog knows is enough.
    """
    statements = [*_of_tag(capture.tag), *_of_log(known, capture)]
    if len(known.captures) == 1:
        statements.append(sql.SQL("DROP SCHEMA IF EXISTS {}").format(sql.Identifier(SCHEMA)))
    return _texts(statements)


def removal_of_tag(tag: str) -> tuple[str, ...]:
    """Return the statements that remove triggers, functions and buffer of one tag."""
    return _texts(_of_tag(tag))


def removal_of_log(name: str) -> tuple[str, ...]:
    """Return the statements that remove the slot and the publication of this name."""
    return _texts(_of_slot(name))


def _texts(statements: Iterable[sql.Composed]) -> tuple[str, ...]:
    return tuple(f"{statement.as_string(None)};" for statement in statements)


def _of_tag(tag: str) -> Iterator[sql.Composed]:
    yield from triggers.removal(tag)
    yield wakeups.removal(tag)


def _of_slot(name: str) -> Iterator[sql.Composed]:
    yield sql.SQL(_DROP_SLOT).format(sql.Literal(name))
    yield sql.SQL("DROP PUBLICATION IF EXISTS {}").format(sql.Identifier(name))


def _of_log(known: CapturedDatabase, capture: Capture) -> Iterator[sql.Composed]:
    name = publication.object_name(known.tag)
    others = [c for c in known.captures if c.source_id != capture.source_id]
    if not any("wal" in (other.mode, other.moving_to) for other in others):
        yield from _of_slot(name)
    elif "wal" in (capture.mode, capture.moving_to):
        table = sql.Identifier(*capture.table_name.split(".", 1))
        yield sql.SQL("ALTER PUBLICATION {} DROP TABLE {}").format(sql.Identifier(name), table)


def unreachable(name: str, error: StreamTablesError) -> StreamTablesError:
    """Return an error of a server that does not let us in, with the way to drop a source anyway."""
    hint = (
        f"Try again when it answers; if it never will: streamtables source drop {name} "
        f'--leave-server, or drop_source("{name}", leave_server=True).'
    )
    known = f"{error.hint} " if error.hint else ""
    return type(error)(error.message, detail=error.detail, hint=known + hint)
