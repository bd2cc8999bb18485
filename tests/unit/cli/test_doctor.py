"""Doctor finds what is missing, says how to mend it, and starts nothing."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from streamtables.cli import findings
from streamtables.errors import CatalogUnreadableError


class FakeJars(ModuleType):
    """Jars that are there once they were resolved."""

    def __init__(self) -> None:
        super().__init__("streamtables.engine.jars")
        self.resolved: list[Path] = []

    S3 = "those for S3"

    def s3_folder(self, folder: Path) -> Path:
        return folder / "s3"

    def present(self, folder: Path, bundle: str = "") -> bool:
        return folder in self.resolved

    def resolve(self, folder: Path, bundle: str = "") -> None:
        assert (bundle == self.S3) == (folder.name == "s3")
        self.resolved.append(folder)


@pytest.fixture
def jars(monkeypatch, tmp_path: Path) -> FakeJars:
    fake = FakeJars()
    monkeypatch.setitem(sys.modules, "streamtables.engine.jars", fake)
    monkeypatch.setattr("streamtables.engine.jars", fake, raising=False)
    monkeypatch.setenv("STREAMTABLES_JARS_DIR", str(tmp_path / "jars"))
    return fake


@pytest.fixture
def java(tmp_path: Path, monkeypatch) -> Path:
    """A Java home whose java answers with version 17."""
    return make_java(tmp_path / "jdk", "17.0.15", monkeypatch)


def make_java(home: Path, version: str, monkeypatch) -> Path:
    (home / "bin").mkdir(parents=True)
    program = home / "bin" / "java"
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(home))
    return program


def states(answer: list[dict[str, str]]) -> dict[str, str]:
    return {finding["name"]: finding["state"] for finding in answer}


def test_missing_jars_are_a_fault_with_a_cure(run, jars, java, tmp_path: Path):
    result = run("doctor", "-w", str(tmp_path / "shop"))
    assert result.code == 1
    assert "hint: Fetch them once: streamtables doctor --fix." in result.out


def test_fix_resolves_the_jars_once(run, jars, java, tmp_path: Path):
    first = run("doctor", "--fix", "-w", str(tmp_path / "shop"), "--json")
    second = run("doctor", "--fix", "-w", str(tmp_path / "shop"), "--json")
    assert (first.code, second.code) == (0, 0)
    assert jars.resolved == [tmp_path / "jars"]
    assert states(first.json) == {
        "Python": "ok",
        "Java": "ok",
        "Spark": "ok",
        "deltalake": "ok",
        "PostgreSQL driver": "ok",
        "PostgreSQL server": "ok",
        "jars": "ok",
        "warehouse folder": "ok",
        "catalog": "absent",
    }


def test_jars_for_s3_are_looked_for_where_they_are_asked_for(run, jars, java, tmp_path: Path):
    place = str(tmp_path / "shop")
    assert "jars for S3" not in states(run("doctor", "--fix", "-w", place, "--json").json)
    missing = run("doctor", "--s3", "-w", place)
    assert missing.code == 1
    assert "hint: Fetch them once: streamtables doctor --fix --s3." in missing.out
    assert run("doctor", "--fix", "--s3", "-w", place).code == 0
    assert jars.resolved == [tmp_path / "jars", tmp_path / "jars" / "s3"]


def test_an_unreadable_catalog_is_a_fault(run, db, jars, java, tmp_path: Path):
    db.error = CatalogUnreadableError("the catalog is of version 9", hint="Upgrade.")
    result = run("doctor", "-w", str(tmp_path), "--json")
    assert result.code == 1
    assert result.json[-1] == {
        "name": "catalog",
        "state": "fault",
        "detail": "error[ST-4002]: the catalog is of version 9",
        "hint": "Upgrade.",
    }


def test_a_wrong_setting_is_named(run, jars, java, monkeypatch, tmp_path: Path):
    monkeypatch.setenv("STREAMTABLES_DRIVER_ROWS_MAX", "-1")
    found = {finding["name"]: finding for finding in run("doctor", "--json").json}
    assert found["jars"]["state"] == "fault"
    assert "driver_rows_max" in found["jars"]["detail"]


def test_java_too_old(tmp_path: Path, monkeypatch):
    make_java(tmp_path, "1.8.0_402", monkeypatch)
    found = findings.find_java()
    assert found.state == "fault"
    assert "1.8.0_402" in found.detail
    assert "openjdk-17" in found.hint


def test_java_home_without_java(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert findings.find_java().state == "fault"


def test_java_that_does_not_run(tmp_path: Path, monkeypatch):
    make_java(tmp_path, "17", monkeypatch).write_text("#!/bin/sh\nexit 3\n")
    assert "does not run" in findings.find_java().detail


def test_no_java_on_the_path(tmp_path: Path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "on the path" in findings.find_java().detail


@pytest.mark.parametrize(
    ("version", "major"), [("17.0.15", 17), ("21", 21), ("1.8.0_402", 8), ("24-ea", 24)]
)
def test_major_release_of_java(version, major):
    assert findings.java_major(version) == major


def test_a_package_that_only_the_demo_needs_may_be_absent():
    assert findings.find_package("x", "no_such_module", "no-such", needed=False).state == "absent"
    assert findings.find_package("x", "no_such_module", "no-such").state == "fault"


def test_a_file_where_the_warehouse_should_be(tmp_path: Path):
    file = tmp_path / "file"
    file.touch()
    assert findings.find_folder_rights(str(file / "shop")).state == "fault"


def test_a_folder_without_rights(tmp_path: Path, monkeypatch):
    # The super-user may write anywhere, so the question is answered here.
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "no right" in findings.find_folder_rights(str(tmp_path)).detail


def test_a_warehouse_elsewhere_is_not_examined_as_a_folder():
    assert findings.find_folder_rights("s3://bucket/shop").state == "absent"
