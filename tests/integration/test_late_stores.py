"""A store that shows what was written later than it was: nothing is skipped, and nothing damaged.

What is late is left out of every answer of the store, to whichever program asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from deltalake.exceptions import CommitFailedError

from streamtables.api import StreamTables
from streamtables.engine import stores
from streamtables.engine.delta_log import LATE_SECONDS, DeltaLog, HeadProbe
from streamtables.engine.outcomes import Applied
from streamtables.engine.spark_commit import Attempt
from streamtables.errors import HistoryGoneError, TableDamagedError, TransientError
from streamtables.positions import CommitStamp, Sequence, Version
from streamtables.refresh.adopt import reconciled
from streamtables.sources.delta import DeltaWatch
from tests.support.late_store import LateKeys, entry_of
from tests.support.object_store import BUCKET, object_store
from tests.support.stamped import refreshed, require_sound


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[dict[str, str], LateKeys]]:
    doors: list[LateKeys] = []

    def door(store: object) -> LateKeys:
        doors.append(LateKeys(store))  # type: ignore[arg-type]  # whatever the server runs
        return doors[0]

    with object_store(door) as variables:
        yield variables, doors[0]


@pytest.fixture
def late(
    served: tuple[dict[str, str], LateKeys], monkeypatch: pytest.MonkeyPatch
) -> Iterator[set[str]]:
    """The ends of the keys that the store does not show."""
    variables, door = served
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    stores._opened.cache_clear()
    yield door.late
    door.late.clear()


@pytest.fixture
def place(late: set[str], tmp_path: Path) -> str:
    return f"s3://{BUCKET}/{tmp_path.name}"


@pytest.fixture
def db(place: str, tmp_path: Path) -> Iterator[StreamTables]:
    """A warehouse in the store, with a source there and a table on it."""
    write(f"{place}/t", 1)
    with StreamTables(f"{place}/w", catalog=str(tmp_path / "catalog.db")) as opened:
        opened.add_source("t", path=f"{place}/t", key="id")
        opened.create("s", "SELECT id FROM t")
        yield opened


def write(location: str, *numbers: int) -> None:
    configuration = {"delta.enableChangeDataFeed": "true"}
    rows = pa.table({"id": pa.array(numbers, pa.int64())})
    write_deltalake(location, rows, mode="append", configuration=configuration)


def test_the_store_of_these_tests_hides_what_is_there(place: str, late: set[str]) -> None:
    write(place, 1)
    first = DeltaTable(place)
    write(place, 2)
    late.add(entry_of(place.removeprefix(f"s3://{BUCKET}/"), 1))
    assert DeltaTable(place).version() == 0
    assert DeltaLog(place).head() == DeltaLog(place).head(Version(0)) == Version(0)
    # Hidden, and not gone: nobody writes over it.
    with pytest.raises(CommitFailedError):
        first.delete("id = 1")


def test_a_late_entry_of_a_source_is_found_as_soon_as_it_is_shown(
    db: StreamTables, place: str, late: set[str]
) -> None:
    source, watch, probe = db._catalog.source("t"), DeltaWatch(), HeadProbe(f"{place}/t")
    assert probe.moved()
    assert watch.look(source, None).version == Version(0)
    write(source.location, 2)
    late.add(entry_of("t", 1))
    assert not probe.moved()
    assert watch.look(source, Version(0)).version == Version(0)
    late.clear()
    assert probe.moved()
    assert watch.look(source, Version(0)).version == Version(1)


@pytest.mark.parametrize("seen", [True, False], ids=["seen-before", "first-look"])
def test_an_entry_is_not_passed_over_for_the_one_after_it(
    db: StreamTables, late: set[str], seen: bool
) -> None:
    source, watch = db._catalog.source("t"), DeltaWatch()
    if seen:
        watch.look(source, None)
    for number in (2, 3):
        write(source.location, number)
    late.add(entry_of("t", 1))
    log = DeltaLog(source.location)
    assert log.head() == Version(2)
    with pytest.raises(TransientError, match="not shown yet"):
        log.entries(Version(0), Version(2))
    if seen:
        assert watch.look(source, Version(0)).version == Version(0)
    else:
        with pytest.raises(TransientError, match="not shown yet"):
            watch.look(source, None)
    late.clear()
    assert [entry.version for entry in log.entries(Version(0), Version(2))] == [1, 2]
    assert watch.look(source, Version(0)).version == Version(2)


def test_an_entry_that_stays_away_is_gone(
    db: StreamTables, late: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    source = db._catalog.source("t")
    for number in (2, 3):
        write(source.location, number)
    late.add(entry_of("t", 1))
    monkeypatch.setattr("streamtables.engine.delta_log.LATE_SECONDS", -1.0)
    with pytest.raises(HistoryGoneError):
        DeltaLog(source.location).entries(Version(0), Version(2))


@pytest.mark.fault(
    "files",
    "an object store shows a commit by Spark late",
    step="the look after a refresh has written",
    seen="the refresh fails with ST-3000; it is not recorded as one that found nothing to do",
    recovery="by itself: the next refresh adopts the commit",
)
def test_a_commit_that_is_not_shown_is_not_taken_for_none(db: StreamTables, late: set[str]) -> None:
    refreshed(db)
    table = db._catalog.stream_table("s")
    attempt = Attempt.begin(table.location, _stamp(table.location, 0))
    write(db._catalog.source("t").location, 2)
    refreshed(db)
    late.add(entry_of(table.location.rpartition("/")[2], 1))
    attempt = replace(attempt, stamp=replace(attempt.stamp, sequence=Sequence(2)))
    with pytest.raises(TransientError, match="not show the commit"):
        attempt.confirm("merge")
    late.clear()
    ours = replace(attempt, stamp=_stamp(table.location, 1)).confirm("merge")
    assert isinstance(ours, Applied)
    assert ours.version == Version(1)


def _stamp(location: str, version: int) -> CommitStamp:
    entry = DeltaLog(location).entry(Version(version))
    assert entry is not None
    assert entry.stamp is not None
    return entry.stamp


@pytest.mark.fault(
    "files",
    "an object store shows the last commit of a stream table late",
    step="before the next refresh",
    seen="ST-3000; the table is not taken for damaged, until two minutes have passed",
    recovery="by itself, as soon as it is shown",
)
def test_a_table_whose_last_commit_is_late_is_not_damaged(db: StreamTables, late: set[str]) -> None:
    refreshed(db)
    write(db._catalog.source("t").location, 2)
    refreshed(db)
    table = db._catalog.stream_table("s")
    standing = db._catalog.standing(table.id)
    assert standing is not None
    late.add(entry_of(table.location.rpartition("/")[2], 1))
    with pytest.raises(TransientError, match="not shown yet"):
        reconciled(table, standing, db._catalog, datetime.now(UTC))
    assert db._catalog.stream_table("s").state == "active"
    late.clear()
    require_sound(db)
    late.add(entry_of(table.location.rpartition("/")[2], 1))
    long_ago = replace(standing, updated_at=standing.updated_at - timedelta(seconds=LATE_SECONDS))
    with pytest.raises(TableDamagedError):
        reconciled(table, long_ago, db._catalog, datetime.now(UTC))
