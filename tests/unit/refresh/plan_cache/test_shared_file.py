"""The file of a machine: shared, private to its user, and never the reason for a failure."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import lmdb
import pytest

from streamtables.positions import InputId
from streamtables.refresh.plan_cache.levels import LevelFaultError
from streamtables.refresh.plan_cache.records import RecordName
from streamtables.refresh.plan_cache.shared_file import SharedFile


def name(part: str = "facts", table: str = "table") -> RecordName:
    return RecordName(InputId(table), "fingerprint", part)


def data_file(folder: Path) -> Path:
    return folder / "records" / "data.mdb"


def filled(folder: Path, records: int = 400) -> None:
    store = SharedFile(folder, 8)
    for number in range(records):
        store.save(name(str(number)), b"x" * 500)
    store.close()


def test_what_one_keeps_another_finds(tmp_path: Path):
    first, second = SharedFile(tmp_path, 8), SharedFile(tmp_path, 8)
    first.save(name(), b"kept")
    assert second.find(name()) == b"kept"
    assert second.find(name("other")) is None
    first.close()
    assert second.count() == 1
    second.close()
    again = SharedFile(tmp_path, 8)
    assert again.find(name()) == b"kept"
    again.close()


def test_the_folder_and_its_files_are_the_users_alone(tmp_path: Path):
    filled(tmp_path / "deep" / "down", 1)
    folder = tmp_path / "deep" / "down" / "records"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_a_dropped_table_takes_its_records_along_and_no_others(tmp_path: Path):
    store = SharedFile(tmp_path, 8)
    for table in ("a", "ab", "b"):
        for part in ("facts", "query"):
            store.save(name(part, table), b"x")
    store.forget([InputId("a"), InputId("nobody")])
    assert store.count() == 4
    assert store.find(name("facts", "a")) is None
    assert store.find(name("facts", "ab")) == b"x"
    assert (store.clear(), store.count()) == (4, 0)
    store.close()


def test_a_full_file_is_emptied_and_goes_on(tmp_path: Path):
    store = SharedFile(tmp_path, 1)
    gone = [store.save(name(str(number)), b"x" * 2_000) for number in range(2_000)]
    assert sum(gone) > 0
    assert store.find(name("1999")) == b"x" * 2_000
    assert sum(gone) + store.count() == 2_000
    store.close()
    assert data_file(tmp_path).stat().st_size <= 1 << 20


def test_a_record_larger_than_the_file_is_a_fault_and_no_more(tmp_path: Path):
    store = SharedFile(tmp_path, 1)
    with pytest.raises(LevelFaultError, match="MapFull"):
        store.save(name(), b"x" * (2 << 20))
    store.save(name(), b"small")
    assert store.find(name()) == b"small"
    store.close()


@pytest.mark.parametrize("size", [1, 100, 4_096, 8_192, 20_000, 100_000])
def test_a_file_that_was_cut_short_is_made_anew(tmp_path: Path, size: int):
    filled(tmp_path)
    os.truncate(data_file(tmp_path), size)
    store = SharedFile(tmp_path, 8)
    with pytest.raises(LevelFaultError, match="was removed"):
        store.find(name("1"))
    store.save(name(), b"new")
    assert (store.find(name()), store.count()) == (b"new", 1)
    store.close()
    assert [path.name for path in tmp_path.iterdir()] == ["records"]


def test_a_file_of_something_else_is_made_anew(tmp_path: Path):
    filled(tmp_path)
    data_file(tmp_path).write_bytes(b"no such file" * 10_000)
    store = SharedFile(tmp_path, 8)
    with pytest.raises(LevelFaultError, match="was removed"):
        store.find(name("1"))
    assert (store.find(name("1")), store.count()) == (None, 0)
    store.close()


def test_a_folder_that_cannot_be_made_is_a_fault_every_time(tmp_path: Path):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", Path("/proc/streamtables")):
        store = SharedFile(folder, 8)
        for _ in range(2):
            with pytest.raises(LevelFaultError, match="cannot be opened"):
                store.find(name())
        store.close()


def test_a_file_that_others_may_write_is_not_trusted(tmp_path: Path):
    filled(tmp_path, 1)
    (tmp_path / "records").chmod(0o777)
    with pytest.raises(LevelFaultError, match="not trusted"):
        SharedFile(tmp_path, 8).find(name())
    (tmp_path / "records").chmod(0o700)
    data_file(tmp_path).chmod(0o666)
    with pytest.raises(LevelFaultError, match="not trusted"):
        SharedFile(tmp_path, 8).find(name())


def test_a_file_of_another_user_or_a_link_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    filled(tmp_path / "theirs", 1)
    (tmp_path / "records").symlink_to(tmp_path / "theirs" / "records")
    with pytest.raises(LevelFaultError, match="not trusted"):
        SharedFile(tmp_path, 8).find(name())
    monkeypatch.setattr(os, "getuid", lambda: 123_456)
    with pytest.raises(LevelFaultError, match="not trusted"):
        SharedFile(tmp_path / "theirs", 8).find(name())


def test_a_fault_of_the_library_is_a_fault_of_the_level(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def refused(*_: object, **__: object) -> None:
        raise lmdb.ReadersFullError("no slot")

    monkeypatch.setattr(lmdb, "open", refused)
    with pytest.raises(LevelFaultError, match="no slot"):
        SharedFile(tmp_path, 8).find(name())


def test_a_forked_child_does_not_touch_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = SharedFile(tmp_path, 8)
    store.save(name(), b"x")
    with monkeypatch.context() as child:
        child.setattr(os, "getpid", lambda: -1)
        with pytest.raises(LevelFaultError, match="forked"):
            store.find(name())
    assert store.find(name()) == b"x"
    store.close()


def test_after_clearing_a_refused_folder_is_tried_again(tmp_path: Path):
    (tmp_path / "records").write_text("in the way")
    store = SharedFile(tmp_path, 8)
    with pytest.raises(LevelFaultError):
        store.save(name(), b"x")
    (tmp_path / "records").unlink()
    with pytest.raises(LevelFaultError):
        store.save(name(), b"x")
    assert store.clear() == 0
    store.save(name(), b"x")
    assert store.count() == 1
    store.close()


def test_threads_read_and_write_at_once(tmp_path: Path):
    store = SharedFile(tmp_path, 8)

    def work(number: int) -> bytes | None:
        store.save(name(str(number)), str(number).encode())
        return store.find(name(str(number)))

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(100))) == [str(number).encode() for number in range(100)]
    assert store.count() == 100
    store.close()
