"""Which logs have grown, where one of them cannot be read."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from pyarrow import fs

from streamtables.catalog.models import Source
from streamtables.engine.log_files import RemoteLogFiles, open_log_files
from streamtables.errors import EnvironmentFaultError, TransientError
from streamtables.sources.heads import Heads
from tests.support.delta_tables import DeltaTableFile, take_log_away
from tests.unit.catalog.builders import source

NAME = f"{0:020d}.json"


def table(folder: Path, name: str) -> Source:
    made = DeltaTableFile(folder / name, {"id": "bigint"}, [(1,)])
    return source(name, location=str(made.path))


def test_a_log_that_cannot_be_read_hides_no_other(tmp_path: Path):
    heads, sources = Heads(), [table(tmp_path, name) for name in "abc"]
    assert heads.moved(sources) == (sources, [])
    give_back = take_log_away(tmp_path / "b")
    for _ in range(2):
        assert heads.moved(sources) == ([], [sources[1]])
        heads.forget(sources[1].id)
    give_back()
    assert heads.moved(sources) == ([sources[1]], [])


def test_a_location_that_cannot_be_opened_hides_no_other(tmp_path: Path):
    odd, good = source("odd", location="nosuch://host/table"), table(tmp_path, "good")
    assert Heads().moved([odd, good]) == ([good], [odd])


def test_what_the_system_says_of_a_local_log_is_an_error_of_ours(tmp_path: Path):
    take_log_away(Path(table(tmp_path, "a").location))
    files = open_log_files(str(tmp_path / "a"))
    for ask in (lambda: files.facts(NAME), lambda: files.read(NAME), files.names):
        with pytest.raises(EnvironmentFaultError, match="cannot be read") as caught:
            ask()
        assert "symbolic links" in caught.value.detail


class Away:
    """A storage that cannot be reached."""

    def get_file_info(self, _: object) -> object:
        raise OSError("no route to the storage of key:secret")

    open_input_stream = get_file_info


def test_a_storage_that_is_away_is_a_passing_fault_and_no_key_is_told(
    monkeypatch: pytest.MonkeyPatch,
):
    opened = SimpleNamespace(from_uri=lambda _: (Away(), "bucket/t"))
    monkeypatch.setattr(fs, "FileSystem", opened)
    files = RemoteLogFiles("s3://key:secret@bucket/t?token=hidden")
    for ask in (lambda: files.facts(NAME), lambda: files.read(NAME), files.names):
        with pytest.raises(TransientError, match='"s3://bucket/t" cannot be reached') as caught:
            ask()
        told = f"{caught.value} {caught.value.detail} {caught.value.hint}"
        assert "secret" not in told
        assert "hidden" not in told
