"""One table, refreshed by sessions of different time zones."""

from __future__ import annotations

from pathlib import Path

from streamtables.api import StreamTables
from streamtables.engine.session import SparkSessions
from tests.support.spark_oracle import assert_verified, stored_bag

BERLIN = "Europe/Berlin"


def _opened(sessions: SparkSessions, folder: Path, zone: str) -> StreamTables:
    session = sessions.get().newSession()
    session.conf.set("spark.sql.session.timeZone", zone)
    return StreamTables(folder / "w", spark=session)


def _append(db: StreamTables, place: Path, *moments: str) -> None:
    values = ", ".join(f"(TIMESTAMP '{moment}Z')" for moment in moments)
    db.spark.sql(f"INSERT INTO delta.`{place}` VALUES {values}")


def test_days_are_those_of_the_zone_that_the_warehouse_began_in(
    spark_sessions: SparkSessions, tmp_path: Path
) -> None:
    place = tmp_path / "events"
    with _opened(spark_sessions, tmp_path, BERLIN) as db:
        db.spark.sql(
            f"CREATE TABLE delta.`{place}` (at TIMESTAMP) USING delta "
            "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
        )
        # An hour ahead of UTC on the day before the clocks change, two on the day itself.
        _append(db, place, "2024-03-30 22:30:00", "2024-03-30 23:30:00")
        db.add_source("events", path=place)
        db.create(
            "days",
            "SELECT CAST(CAST(at AS DATE) AS STRING) AS d, count(*) AS n FROM events GROUP BY 1",
        )
        db.refresh("days")
        assert_verified(db, "days")
    with _opened(spark_sessions, tmp_path, "UTC") as db:
        _append(db, place, "2024-03-31 21:30:00", "2024-03-31 22:30:00")
        assert db.refresh("days").mode == "differential"
        assert_verified(db, "days")
        found = {tuple(row): n for row, n in stored_bag(db, "days").items()}
        wanted = {("2024-03-30", 1): 1, ("2024-03-31", 2): 1, ("2024-04-01", 1): 1}
        assert found == wanted
