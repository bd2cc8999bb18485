"""All 99 queries as stream tables on Spark and Delta, two rounds of changes."""

from __future__ import annotations

import pytest

from streamtables.api import StreamTables
from streamtables.engine.session import SparkSessions
from tests.support.followed_queries import FollowedQueries
from tests.support.table_versions import TableVersions
from tests.tpcds.queries import query_name
from tests.tpcds.rounds import add_round

ROUNDS = 2
SHARE = 0.02
LEAST_CHANGED = 60
"""Tables whose rows the rounds must change at least, lest they prove little."""

pytestmark = [pytest.mark.spark, pytest.mark.long]


def test_differential_refreshes_keep_all_tables_equal_to_their_queries(
    spark_sessions: SparkSessions,
    tpcds_queries: dict[int, str],
    tpcds_versions: TableVersions,
    tmp_path_factory: pytest.TempPathFactory,
):
    folder = tmp_path_factory.mktemp("tpcds_on_spark")
    queries = {query_name(number): sql for number, sql in tpcds_queries.items()}
    with StreamTables(folder / "warehouse", spark=spark_sessions.get()) as db:
        followed = FollowedQueries(db, queries, tpcds_versions, folder / "sources")
        for _ in range(ROUNDS):
            followed.follow(add_round(tpcds_versions, SHARE))
        followed.verify()
    assert not followed.failures, followed.failures
    assert len(followed.changed) >= LEAST_CHANGED
