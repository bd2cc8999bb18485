"""Listings of folders: what is data, what differs, and what is kept of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamtables.engine.file_listing import FileState, files_in
from streamtables.errors import EnvironmentFaultError, SourceMissingError
from streamtables.sources.files.listing import (
    Difference,
    Listing,
    difference,
    from_bytes,
    to_bytes,
)

STATES = st.builds(FileState, st.integers(0, 2**60), st.integers(0, 2**63))
LISTINGS = st.dictionaries(st.text(min_size=1, max_size=12), STATES, max_size=6)


def write(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def test_files_are_found_in_all_folders_in_their_order(tmp_path: Path) -> None:
    write(tmp_path, "b.csv", "a/2.csv", "a/1.csv", "_day=3/x.csv", "a b/[c].csv")
    assert list(files_in(str(tmp_path))) == [
        "_day=3/x.csv",
        "a b/[c].csv",
        "a/1.csv",
        "a/2.csv",
        "b.csv",
    ]


def test_hidden_and_unfinished_files_are_no_data(tmp_path: Path) -> None:
    write(tmp_path, ".a", "_SUCCESS", "_tmp/a.csv", ".hidden/a.csv", "a.csv._COPYING_", "a.csv")
    (tmp_path / "to_nothing.csv").symlink_to(tmp_path / "nothing")
    assert list(files_in(str(tmp_path))) == ["a.csv"]


def test_a_pattern_is_for_names(tmp_path: Path) -> None:
    write(tmp_path, "a.csv", "csv/a.txt", "deep/b.csv", "B.CSV")
    assert list(files_in(str(tmp_path), "*.csv")) == ["a.csv", "deep/b.csv"]


def test_a_file_in_the_place_of_a_folder_is_no_folder(tmp_path: Path) -> None:
    write(tmp_path, "a.csv")
    for name in ("a.csv", "nothing"):
        with pytest.raises(SourceMissingError, match=name):
            files_in(str(tmp_path / name))


def test_a_folder_that_may_not_be_read_is_told(tmp_path: Path, monkeypatch) -> None:
    def refused(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(EnvironmentFaultError, match="cannot be read") as caught:
        files_in(str(tmp_path))
    assert "Permission denied" in caught.value.detail


def test_every_write_to_a_file_is_seen(tmp_path: Path) -> None:
    write(tmp_path, "a.csv")
    before = files_in(str(tmp_path))
    (tmp_path / "a.csv").write_text("y")
    os.utime(tmp_path / "a.csv", ns=(0, before["a.csv"].modified_ns + 1))
    assert difference(before, files_in(str(tmp_path))).changed == ("a.csv",)


@given(LISTINGS, LISTINGS)
def test_a_difference_leads_from_one_listing_to_the_other(before: Listing, now: Listing) -> None:
    found = difference(before, now)
    after = {name: state for name, state in before.items() if name not in found.gone}
    after |= {name: now[name] for name in (*found.new, *found.changed)}
    assert after == now
    assert bool(found.why_anew) == bool(found.changed or found.gone)
    assert set(found.new).isdisjoint(before)


def test_reasons_name_the_first_file_and_count_the_others() -> None:
    assert Difference(new=("a",)).why_anew == ""
    assert Difference(changed=("a",)).why_anew == 'the file "a" changed'
    both = Difference(changed=("a", "b", "c"), gone=("d",))
    assert both.why_anew == 'the file "a", with 2 others, changed and the file "d" is gone'


@given(LISTINGS)
def test_a_listing_is_read_back_as_it_was(listing: Listing) -> None:
    assert from_bytes(to_bytes(listing)) == listing


@given(st.binary(max_size=60), st.integers(0, 40))
def test_what_is_no_listing_is_never_taken_for_one(noise: bytes, cut: int) -> None:
    assert from_bytes(noise) is None
    whole = to_bytes({"a.csv": FileState(1, 2)})
    assert from_bytes(whole[: -1 - cut]) is None
