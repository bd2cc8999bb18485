"""All 22 queries of TPC-H, three rounds of changes to all tables, on DuckDB."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.proof import prove
from tests.tpch.duckdb_versions import Versions
from tests.tpch.generated_data import generate
from tests.tpch.queries import NUMBERS, query_text

SCALE = 0.01
ROUNDS = 3
SHARE = 0.01


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Versions]:
    folder = tmp_path_factory.mktemp("tpch")
    with Versions(generate(folder, SCALE), folder / "versions.duckdb") as made:
        for _ in range(ROUNDS):
            made.add_round(SHARE)
        yield made


@pytest.mark.parametrize("number", NUMBERS)
def test_before_plus_delta_is_after(number: int, versions: Versions):
    outcome = prove(query_text(number, SCALE), versions)
    assert not outcome.failure, outcome.failure
    assert all(outcome.delta_rows), "a round left the result as it was and proves little"
