"""All 22 queries of TPC-H as stream tables on Spark and Delta, two rounds of changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.engine.session import SparkSessions
from streamtables.errors import StreamTablesError
from streamtables.refresh.results import Refresh
from tests.tpch.delta_tables import apply_round, write_tables
from tests.tpch.duckdb_versions import Versions
from tests.tpch.generated_data import generate
from tests.tpch.queries import NUMBERS, query_name, query_text
from tests.tpch.schema import KEYS

SCALE = 0.01
ROUNDS = 2
SHARE = 0.01

pytestmark = [pytest.mark.spark, pytest.mark.slow]

Failures = dict[str, list[str]]


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
    with StreamTables(folder / "warehouse", spark=spark_sessions.get()) as db:
        return follow_all(db, versions, folder / "sources")


def follow_all(db: StreamTables, versions: Versions, folder: Path) -> Failures:
    """Create every query as a stream table, follow all rounds, and verify after the last."""
    failures: Failures = defaultdict(list)
    paths = write_tables(versions, folder)
    for table, path in paths.items():
        db.add_source(table, path=path, key=KEYS[table])
    created = [name for name in map(query_name, NUMBERS) if is_created(db, name, failures)]
    note_other_than("full", db.refresh_all(), failures)
    for _ in range(ROUNDS):
        apply_round(versions, versions.add_round(SHARE).number, paths)
        note_other_than("differential", db.refresh_all(), failures)
    for name in created:
        note_difference(db, name, failures)
    return failures


def is_created(db: StreamTables, name: str, failures: Failures) -> bool:
    try:
        db.create(name, query_text(int(name[1:]), SCALE), mode="differential")
    except StreamTablesError as refused:
        failures[name].append(f"refused: {refused.message}: {refused.detail}")
        return False
    return True


def note_other_than(mode: str, refreshes: Iterable[Refresh], failures: Failures) -> None:
    for done in refreshes:
        # A round may leave a small result as it is; the refresh then makes no commit.
        if done.error is not None:
            failures[done.table].append(f"{mode} refresh failed: {done.error!r}")
        elif done.mode != mode:
            failures[done.table].append(f"{mode} expected, not {done.mode}: {done.reason.text}")


def note_difference(db: StreamTables, name: str, failures: Failures) -> None:
    try:
        found = db.verify(name)
    except StreamTablesError as error:
        failures[name].append(f"cannot be verified: {error!r}")
        return
    if not found.equal:
        failures[name].append(
            f"{found.missing} rows missing, {found.extra} extra\n{found.sample.to_pydict()}"
        )


@pytest.mark.parametrize("number", NUMBERS)
def test_differential_refreshes_keep_the_table_equal_to_its_query(
    number: int, failures: Failures
) -> None:
    found = failures.get(query_name(number), [])
    assert not found, "\n".join(found)
