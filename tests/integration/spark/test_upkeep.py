"""Tables that are tidied up between refreshes: no reader sees it, and refreshes lead on."""

from __future__ import annotations

from pathlib import Path

from streamtables.api import StreamTables
from streamtables.engine.session import SparkSessions
from tests.support.settings import settings_with
from tests.support.shop import QUERIES, open_shop
from tests.support.spark_oracle import refreshed


def test_a_tidied_table_is_followed_and_follows(
    spark_sessions: SparkSessions, tmp_path: Path
) -> None:
    settings = settings_with(checkpoint_after=2, compact_after=2, retention_hours=1)
    with StreamTables(tmp_path / "w", spark=spark_sessions.get(), settings=settings) as db:
        shop = open_shop(db, tmp_path)
        db.create("copy", QUERIES["filter"], mode="differential")
        db.create("count", "SELECT count(*) AS n FROM copy", mode="differential")
        db.refresh_all()
        for number in (11, 12, 13):
            shop.orders.append((number, 10, "7.00", "z"))
            db.refresh("copy")
        shop.orders.delete("id = 11")
        db.refresh("copy")
        done = {(item.table, item.job): item for item in db.maintain()}
        assert [item.text for item in done.values() if item.error is not None] == []
        assert done["copy", "compact"].text.endswith("files became 1")
        assert ("copy", "checkpoint") in done
        # Its changes since the reader's version are needed still, and are there.
        assert refreshed(db, "count").mode == "differential"
        shop.orders.delete("id = 12")
        assert refreshed(db, "copy").mode == "differential"
        refreshed(db, "count")
        assert db.refresh("copy").outcome == "no-change"
