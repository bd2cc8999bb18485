"""What may be said of a folder of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtables.errors import ConfigError
from streamtables.sources.files.choices import checked_folder


@pytest.mark.parametrize(
    ("names", "format"),
    [
        (["a.csv", "b.CSV", "c.csv.gz"], "csv"),
        (["a.tsv"], "csv"),
        (["a.json", "b.jsonl.zst", "c.ndjson"], "json"),
        (["part-0001.snappy.parquet"], "parquet"),
        (["a.orc"], "orc"),
    ],
)
def test_the_format_is_seen_by_the_names(tmp_path: Path, names: list[str], format: str) -> None:
    for name in names:
        (tmp_path / name).touch()
    assert checked_folder(tmp_path, None, None, "", None).format == format


@pytest.mark.parametrize("names", [[], ["a.txt"], ["a.csv", "b.json"], ["gz.gz"]])
def test_a_format_that_is_not_seen_has_to_be_said(tmp_path: Path, names: list[str]) -> None:
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(ConfigError, match="which format") as caught:
        checked_folder(tmp_path, None, None, "", None)
    assert "csv, json, parquet, orc" in caught.value.hint
    assert checked_folder(tmp_path, "CSV", None, "", None).format == "csv"


def test_folders_are_kept_as_everybody_finds_them(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = checked_folder("in/../landing/", "csv", " id INT ", "", {"multiLine": True})
    assert found.folder == str(tmp_path / "landing")
    assert (found.schema, found.options) == ("id INT", {"multiLine": "true"})
    assert checked_folder("s3://b/in/", "csv", None, "", None).folder == "s3://b/in"


@pytest.mark.parametrize("option", ["path", "BasePath", "modifiedAfter", "ignoreCorruptFiles"])
def test_options_that_choose_or_pass_over_files_are_refused(tmp_path: Path, option: str) -> None:
    with pytest.raises(ConfigError, match=option):
        checked_folder(tmp_path, "csv", None, "", {option: "x"})
