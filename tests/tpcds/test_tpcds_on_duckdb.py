"""The law on DuckDB for all 99 queries: the result before a round plus its delta is after it."""

from __future__ import annotations

import pytest

from tests.support.proof import prove
from tests.support.table_versions import TableVersions
from tests.tpcds.queries import NUMBERS, leaves_open
from tests.tpcds.rounds import add_round

ROUNDS = 2
SHARE = 0.02

pytestmark = [pytest.mark.long]


@pytest.fixture(scope="module")
def changed_versions(tpcds_versions: TableVersions) -> TableVersions:
    for _ in range(ROUNDS):
        add_round(tpcds_versions, SHARE)
    return tpcds_versions


@pytest.mark.parametrize("number", NUMBERS)
def test_before_plus_delta_is_after(
    number: int, tpcds_queries: dict[int, str], changed_versions: TableVersions
):
    sql = tpcds_queries[number]
    outcome = prove(sql, changed_versions, one_answer=not leaves_open(sql))
    assert not outcome.failure, outcome.failure
