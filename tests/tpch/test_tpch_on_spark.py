"""All 22 queries of TPC-H as stream tables on Spark and Delta, two rounds of changes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from streamtables.api import StreamTables
from streamtables.engine.session import SparkSessions
from tests.support.followed_queries import Failures, FollowedQueries
from tests.tpch.duckdb_versions import Versions
from tests.tpch.generated_data import generate
from tests.tpch.queries import NUMBERS, query_name, query_text

SCALE = 0.01
ROUNDS = 2
SHARE = 0.01

pytestmark = [pytest.mark.spark, pytest.mark.slow]


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Versions]:
    folder = tmp_path_factory.mktemp("tpch")
    with Versions(generate(folder, SCALE), folder / "versions.duckdb") as made:
        yield made


@pytest.fixture(scope="module")
def failures(
    spark_sessions: SparkSessions,
    versions: Versions,
    tmp_path_factory: pytest.TempPathFactory,
) -> Failures:
    """What went wrong with each table, from one pass over all of them.

    One pass, as the rounds move the sources that all tables read.
    """
    folder = tmp_path_factory.mktemp("tpch_on_spark")
    queries = {query_name(number): query_text(number, SCALE) for number in NUMBERS}
    with StreamTables(folder / "warehouse", spark=spark_sessions.get()) as db:
        followed = FollowedQueries(db, queries, versions, folder / "sources")
        for _ in range(ROUNDS):
            followed.follow(versions.add_round(SHARE).number)
        followed.verify()
        return followed.failures


@pytest.mark.parametrize("number", NUMBERS)
def test_differential_refreshes_keep_the_table_equal_to_its_query(
    number: int, failures: Failures
) -> None:
    found = failures.get(query_name(number), [])
    assert not found, "\n".join(found)
