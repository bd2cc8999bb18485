"""A cheap look at a database: whether anything can have happened to its captured tables.

Every change, an ALTER and a dropped trigger too, belongs to a transaction with a number, and a
snapshot lists the numbers that ended.  While the snapshot is the one that was last seen, nothing
that anybody can read has changed.  Somebody else's transaction gives another snapshot; then tables
that triggers capture are asked for what a drain would find: rows in the buffers that the last
snapshot does not see, a table of another shape, a trigger that does not fire.  The log cannot be
asked without decoding it, so a database that uses it is drained then.

Invariant: a look that says quiet misses nothing; one that does not costs a drain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from psycopg import Connection, errors, sql

from streamtables.catalog.captures import CapturedDatabase
from streamtables.catalog.models import Capture, Source
from streamtables.errors import TableDamagedError
from streamtables.positions import Drain, PgPosition
from streamtables.sources.postgres import buffer, publication, triggers
from streamtables.sources.postgres.continuity import Here, what_went_back
from streamtables.sources.postgres.facts import DESCRIBED, table_of
from streamtables.sources.postgres.mirror import standing_of
from streamtables.sources.postgres.server import SCHEMA
from streamtables.sources.postgres.shape import Shape
from streamtables.sources.postgres.slot import FACTS, SlotFacts, what_broke
from streamtables.sources.postgres.snapshot import lsn_number
from streamtables.sources.postgres.wal import HERE, position_of

IDLE_BYTES = 1_048_576
"""How much of the log a slot may hold back while nothing of it is ours."""

_LOG = "SELECT here.*, slot.* FROM ({here}) AS here LEFT JOIN ({slot}) AS slot ON true"

# CASE: what stands in it is not looked at while the snapshot is the same.
_TABLES = """
SELECT here.*, CASE WHEN here.snapshot <> %(seen)s THEN jsonb_build_object(
    'tables', ARRAY(SELECT to_jsonb(d) FROM ({described}) AS d),
    'firing', ARRAY(SELECT jsonb_build_array(f.relation, f.name) FROM ({firing}) AS f),
    'altered', EXISTS ({reshaped}),
    'written', {written}) END,
    pg_catalog.pg_current_wal_flush_lsn() >= here.insert_at::pg_lsn
FROM ({here}) AS here
"""


@dataclass
class Lookout:
    """What was seen of each database after its last recorded drain, as long as that is the last."""

    _seen: dict[str, tuple[int, PgPosition]] = field(default_factory=dict)

    def note(self, drain: Drain, seen: PgPosition) -> None:
        """Remember that a position shows the same rows as a recorded drain."""
        self._seen[drain.database] = (drain.number, seen)

    def is_quiet(
        self, connection: Connection[Any], known: CapturedDatabase, mirrors: Iterable[Source]
    ) -> bool:
        """Whether the last recorded drain still shows all that there is.

        One statement at most.  `mirrors` have to stand where the drain left them; others are left
        for whoever reads them.
        """
        last = known.last
        if last is None or is_unfinished(known, last) or not _stand(mirrors, last):
            return False
        number, seen = self._seen.get(known.name, (0, last.position))
        seen = seen if number == last.number else last.position
        look = _look_at_log if known.reads_log else _look_at_tables
        try:
            seen_now = look(connection, known, last, seen)
        except (errors.ProgrammingError, errors.NotSupportedError):
            # Something of ours is gone; a drain says what, and what helps.
            return False
        if seen_now is None:
            return False
        self.note(last, seen_now)
        return True


def is_unfinished(known: CapturedDatabase, last: Drain) -> bool:
    """Whether a drain has something to do even if nothing is written."""
    return any(
        capture.source_id not in last.versions or capture.copy_reason or capture.moving_to
        for capture in known.captures
    )


def log_is_quiet(now: PgPosition, seen: PgPosition, last: PgPosition) -> bool:
    """Whether nothing of the log became visible, and the slot need not move on.

    That the log is no longer than before says too little: what a drain read and held back becomes
    visible without a further word in it.
    """
    if now.snapshot != seen.snapshot:
        return False
    return lsn_number(now.lsn) - lsn_number(last.lsn) < IDLE_BYTES


def _look_at_log(
    connection: Connection[Any], known: CapturedDatabase, last: Drain, seen: PgPosition
) -> PgPosition | None:
    row = connection.execute(
        _LOG.format(here=HERE, slot=FACTS), {"slot": publication.object_name(known.tag)}
    ).fetchone()
    assert row is not None
    now = PgPosition(*position_of(*row[:5]))
    slot = SlotFacts(True, *row[5:]) if row[5] is not None else SlotFacts(False)
    if what_went_back(Here(now, row[4]), last, known.line):
        return None
    if what_broke(slot, last.position.lsn) or not log_is_quiet(now, seen, last.position):
        return None
    return seen


def _look_at_tables(
    connection: Connection[Any], known: CapturedDatabase, last: Drain, seen: PgPosition
) -> PgPosition | None:
    tags = [capture.tag for capture in known.captures]
    statement = sql.SQL(_TABLES).format(
        here=sql.SQL(HERE),
        described=sql.SQL(DESCRIBED),
        firing=sql.SQL(triggers.FIRING),
        reshaped=triggers.reshaped_relations(),
        written=buffer.any_written(tags, seen.snapshot),
    )
    named = [triggers.names(tag) for tag in tags]
    asked = {
        "seen": seen.snapshot,
        "oids": [capture.relation for capture in known.captures],
        "schema": SCHEMA,
        "names": [name for names in named for name in names],
        "firsts": [names[0] for names in named],
    }
    row = connection.execute(statement, asked).fetchone()
    assert row is not None
    *here, found, lasting = row
    now = PgPosition(*position_of(*here))
    if what_went_back(Here(now, here[-1]), last, known.line):
        return None
    version = connection.info.server_version
    if found is not None and not _nothing_new(found, known.captures, version):
        return None
    # What is not on disk may be undone by a crash, and its numbers be given to others.
    return now if lasting else seen


def _nothing_new(found: Mapping[str, Any], captures: Iterable[Capture], version: int) -> bool:
    if found["written"] or found["altered"]:
        return False
    tables = {said["oid"]: table_of(said) for said in found["tables"]}
    return all(
        capture.relation in tables
        and Shape.of(tables[capture.relation]) == Shape.from_json(capture.shape)
        and not triggers.lacks(found["firing"], capture.tag, tables[capture.relation], version)
        for capture in captures
    )


def _stand(mirrors: Iterable[Source], last: Drain) -> bool:
    """Whether mirrors are as a recorded drain left them."""
    try:
        return all(standing_of(m, last)[0].version == last.versions[m.id] for m in mirrors)
    except TableDamagedError:
        return False
