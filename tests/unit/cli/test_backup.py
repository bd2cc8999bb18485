"""`backup` and `restore` on the command line."""

from __future__ import annotations

from pathlib import Path

from streamtables.api import connect


def test_backup_says_what_it_copied(run, db):
    shown = run("backup", "b", "--with-tables")
    assert (shown.code, "catalog and tables copied to b" in shown.out) == (0, True)
    assert db.asked("backup") == [((Path("b"),), {"with_tables": True})]
    assert run("backup", "b", "--json").json["catalog_revision"] == "0005"


def test_restore_says_how_each_table_is(run, tmp_path: Path):
    with connect(tmp_path / "w") as opened:
        opened.backup(tmp_path / "b")
    shown = run("restore", str(tmp_path / "b"), "--into", str(tmp_path / "other"))
    assert (shown.code, "no tables" in shown.out) == (0, True)
    again = run("restore", str(tmp_path / "b"), "--into", str(tmp_path / "other"))
    assert again.code == 2
    assert "ST-1303" in again.err
    forced = run(
        "restore", str(tmp_path / "b"), "--into", str(tmp_path / "other"), "--force", "--json"
    )
    assert (forced.code, forced.json) == (0, [])


def test_bad_input_ends_with_2(run, tmp_path: Path):
    for words in (
        ("backup",),
        ("restore", "b"),
        ("restore", "--into", "w"),
        ("restore", str(tmp_path), "--into", str(tmp_path / "w")),
    ):
        assert run(*words).code == 2, words
    assert not (tmp_path / "w").exists()
