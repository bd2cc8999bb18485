"""Refreshes without Spark: DuckDB computes a table anew, and deltalake commits it with its stamp."""

from __future__ import annotations

from datetime import UTC, datetime

from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from streamtables.api import StreamTables
from streamtables.catalog.models import StreamTable, new_refresh_id
from streamtables.catalog.scheduler_models import EpochMove
from streamtables.positions import CommitStamp, Frontier, Sequence, Standing, Version
from streamtables.refresh.adopt import reconciled
from tests.support.moment_judge import MomentJudge


def refreshed(db: StreamTables) -> None:
    """Bring all tables to their sources as they are, in one round."""
    snapshot = db._catalog.snapshot()
    definitions, judge = snapshot.definitions, MomentJudge(db)
    pins = {
        key: Version(DeltaTable(item.location).version()) for key, item in snapshot.sources.items()
    }
    now = dict(snapshot.standings)
    for key in definitions.order:
        if (table := definitions.stream_tables.get(key)) is None:
            continue
        known = now.get(key)
        roots = Frontier({root: pins[root] for root in definitions.roots(key)})
        read = {i.id: pins[i.id] if i.id in pins else now[i.id].version for i in table.inputs}
        stamp = CommitStamp(
            key,
            Sequence(known.sequence + 1 if known else 1),
            new_refresh_id(),
            Frontier(read),
            roots,
            "full",
            table.defining_query_hash,
        )
        now[key] = _committed(db, judge, table, stamp)
    db._catalog.record_epoch(list(now), datetime.now(UTC))


def _committed(
    db: StreamTables, judge: MomentJudge, table: StreamTable, stamp: CommitStamp
) -> Standing:
    move = EpochMove(table.id, Version(0), stamp.base_frontier)
    write_deltalake(
        table.location,
        judge.computed(table, move),
        mode="overwrite",
        configuration={"delta.enableChangeDataFeed": "true"},
        commit_properties=CommitProperties(
            custom_metadata={"userMetadata": stamp.to_json()},
            app_transactions=[Transaction(stamp.table_id, stamp.sequence)],
        ),
    )
    version = Version(DeltaTable(table.location).version())
    standing = Standing.from_stamp(stamp, version, datetime.now(UTC))
    db._catalog.adopt_standing(table.id, standing)
    return standing


def require_sound(db: StreamTables) -> dict[str, Frontier]:
    """Find out where each table stands, as its next refresh would, and that its rows are right.

    Return the base frontier of each.
    """
    judge, found = MomentJudge(db), dict[str, Frontier]()
    for table in db.stream_tables():
        known = db._catalog.standing(table.id)
        at = reconciled(table, known, db._catalog, datetime.now(UTC))
        assert at is not None
        # The head is later where the table was tidied up, which changes no row.
        for version in (at.standing.version, at.head):
            judge.require_equal([EpochMove(table.id, version, at.standing.base_frontier)])
        found[table.name] = at.standing.base_frontier
    return found
