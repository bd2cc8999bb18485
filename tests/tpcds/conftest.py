"""One generation of the data for all tests of TPC-DS, and their versions in DuckDB."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.table_versions import TableVersions
from tests.tpcds.generated_data import generate
from tests.tpcds.queries import query_texts
from tests.tpcds.schema import KEYS, columns_of

SCALE = 0.05


@pytest.fixture(scope="session")
def tpcds_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file for each table, and the queries."""
    return generate(tmp_path_factory.mktemp("tpcds"), SCALE)


@pytest.fixture(scope="session")
def tpcds_queries(tpcds_data: Path) -> dict[int, str]:
    return query_texts(tpcds_data)


@pytest.fixture(scope="module")
def tpcds_versions(
    tpcds_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TableVersions]:
    """The tables before any round."""
    database = tmp_path_factory.mktemp("tpcds_versions") / "versions.duckdb"
    with TableVersions(tpcds_data, database, columns_of(tpcds_data), KEYS) as made:
        yield made
