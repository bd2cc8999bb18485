"""How far Spark is with a statement that takes long."""

from __future__ import annotations

from threading import Thread
from time import monotonic

from streamtables.api import StreamTables

SLOW = "SELECT max(hash(a.id, b.id)) FROM range(0, 20000, 1, 8) a CROSS JOIN range(10000) b"


def test_tasks_are_counted_while_a_statement_runs(db: StreamTables):
    session = db.spark
    work = Thread(target=lambda: session.sql(SLOW).collect())
    work.start()
    totals: set[int] = set()
    until = monotonic() + 120
    while work.is_alive() and monotonic() < until and not totals:
        if (found := db.spark_progress()) is not None:
            assert 0 <= found.done <= found.total
            totals.add(found.total)
    work.join()
    assert max(totals) >= 1
    assert db.spark_progress() is None
