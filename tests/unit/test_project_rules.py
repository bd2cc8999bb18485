"""The rules of the house that a program can check."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import re
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from streamtables import errors

ROOT = Path(__file__).resolve().parents[2]
APART = ("dbt", "airflow", "dagster", "tpcds")
"""The extras that have environments of their own."""
SOURCE = ROOT / "src" / "streamtables"
MODULES = sorted(SOURCE.rglob("*.py"))
MOST_LINES = 600
SIZE_EXCEPTIONS = ROOT / "scripts" / "size_exceptions.toml"

# Reaching into the JVM or the RDD layer works in one process only, not over Spark Connect.
NOT_CONNECT_SAFE = re.compile(r"\b_jvm\b|\b_jsc\b|\b_jdf\b|\.rdd\b|\bsparkContext\b")
# What Connect does by itself, and classic Spark only so; asked for on classic Spark alone.
CLASSIC_ONLY = {
    "src/streamtables/engine/job_tags.py": {".sparkContext"},
    "src/streamtables/engine/java_process.py": {".sparkContext", "._jvm"},
}
ONLY_IN = {"pyspark": "engine", "deltalake": "engine", "py4j": "engine", "sqlglot": "compiler"}
# Where packages and jars come from is for the machine to say, not for the project.
ADDRESS = re.compile(r"https?://[^\s\"'<>)\]]+")
KNOWN_ADDRESSES = re.compile(r"https?://(www\.)?(apache\.org|keepachangelog\.com|semver\.org)/")
MACHINE_PATH = re.compile(r"(?<![\w.])/(home|root|work|Users)/\w+")


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def project_files() -> Iterator[Path]:
    skipped = {"__pycache__", "build", "dist", "warehouse", "demo", "spark-warehouse", "results"}
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(
            name for name in folders if name not in skipped and (name == ".ci" or name[0] != ".")
        )
        # In a second worktree `.git` is a file, which says where the first one is.
        yield from (Path(folder, name) for name in sorted(names) if name != ".git")


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_no_module_is_longer_than_the_limit(path: Path):
    exceptions = tomllib.loads(text_of(SIZE_EXCEPTIONS))
    lines = len(text_of(path).splitlines())
    assert lines <= MOST_LINES or relative(path) in exceptions, (
        f"{relative(path)} has {lines} lines: split it by concept, "
        f"or give the reason in {relative(SIZE_EXCEPTIONS)}"
    )


def test_size_exceptions_are_needed_and_have_reasons():
    for name, reason in tomllib.loads(text_of(SIZE_EXCEPTIONS)).items():
        assert len((ROOT / name).read_text(encoding="utf-8").splitlines()) > MOST_LINES, name
        assert len(reason) > 20, f"{name} needs a reason"


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_no_code_that_only_classic_spark_runs(path: Path):
    tree = ast.parse(text_of(path))
    names = [
        f".{node.attr}" if isinstance(node, ast.Attribute) else node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute | ast.Name)
    ]
    allowed = CLASSIC_ONLY.get(relative(path), set())
    found = [name for name in names if NOT_CONNECT_SAFE.search(name) and name not in allowed]
    assert not found, f"{relative(path)} uses {found}, which Spark Connect does not have"


def imports_that_run(tree: ast.Module) -> Iterator[str]:
    """Yield the top-level package of each import outside `if TYPE_CHECKING`."""
    only_types = {
        id(child)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for statement in node.body
        for child in ast.walk(statement)
    }
    for node in ast.walk(tree):
        if id(node) in only_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.split(".")[0]


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_each_heavy_package_has_one_home(path: Path):
    layer = path.relative_to(SOURCE).parts[0]
    for package in imports_that_run(ast.parse(text_of(path))):
        home = ONLY_IN.get(package, layer)
        assert layer == home, f"{relative(path)} imports {package}, which only {home}/ may"


def test_packages_only_re_export():
    for path in MODULES:
        if path.name != "__init__.py" or "migrations" in path.parts:
            continue
        classes = [
            node.name for node in ast.parse(text_of(path)).body if isinstance(node, ast.ClassDef)
        ]
        assert not classes, f"{relative(path)} defines {classes}; give them a module"


def test_no_download_address_and_no_path_of_a_machine():
    for path in project_files():
        if path == Path(__file__).resolve() or path.name == "LICENSE":
            continue
        text = text_of(path)
        addresses = [found for found in ADDRESS.findall(text) if not KNOWN_ADDRESSES.match(found)]
        if path.name == "constraints.txt" or path.suffix in {".toml", ".sh", ".cfg"}:
            assert not addresses, f"{relative(path)} names {addresses}"
        assert "--index-url" not in text, f"{relative(path)} names a package index"
        assert not MACHINE_PATH.search(text), f"{relative(path)} holds a path of one machine"


def test_versions_agree():
    version = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]["version"]
    changelog = text_of(ROOT / "CHANGELOG.md")
    newest = re.search(r"^## \[(\d+\.\d+\.\d+)\]", changelog, flags=re.MULTILINE)
    assert newest is not None
    assert newest.group(1) == version
    assert importlib.import_module("streamtables").__version__ == version
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        named = re.findall(r"streamtables(?:==| )v?(\d+\.\d+\.\d+)", text_of(page))
        assert set(named) <= {version}, relative(page)


@pytest.mark.parametrize(
    "file", ["constraints.txt", *(f"constraints-{name}.txt" for name in APART)]
)
def test_pinned_packages_have_hashes_and_meet_the_project(file: str):
    pinned = text_of(ROOT / file)
    entries = re.split(r"\n(?=[a-z])", pinned.split("\n", 2)[2])
    assert all("--hash=sha256:" in entry for entry in entries)
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
    optional = project["optional-dependencies"]
    alone = file.removeprefix("constraints-").removesuffix(".txt")
    extras = [
        asked
        for extra, asked in optional.items()
        if extra == alone or (alone not in optional and extra not in APART)
    ]
    wanted = list(chain(project["dependencies"], *extras))
    for requirement in wanted:
        name = re.match(r"[\w-]+", requirement)
        assert name is not None
        assert re.search(rf"^{name.group()}(\[\w+\])?==", pinned, flags=re.MULTILINE), requirement


def error_classes() -> list[type[errors.StreamTablesError]]:
    return [
        value
        for value in vars(errors).values()
        if inspect.isclass(value) and issubclass(value, errors.StreamTablesError)
    ]


def test_error_codes_are_unique():
    codes = [error.code for error in error_classes()]
    assert len(codes) == len(set(codes))


def test_every_error_has_a_section_in_the_docs():
    page = text_of(ROOT / "docs" / "errors.md")
    sections = dict(re.findall(r"^## (ST-\d{4}) (\w+)$", page, flags=re.MULTILINE))
    known = {error.code: error.__name__ for error in error_classes()}
    leaves = {error.code for error in error_classes() if not error.__subclasses__()}
    assert sections.items() <= known.items(), "a section names an error that does not exist"
    assert leaves <= sections.keys(), f"no section for {sorted(leaves - sections.keys())}"
    for part in ("Cause", "Example", "Cure"):
        assert page.count(f"**{part}.**") == len(sections)


def test_every_error_is_drawn_in_the_tree():
    assert errors.__doc__ is not None
    for error in error_classes():
        assert error.__name__ in errors.__doc__, f"{error.__name__} is not in the drawn tree"


def test_no_document_speaks_of_how_work_is_organised():
    words = re.compile(r"\b(issue #?\d+|ticket #?\d+|phase \d+|sprint|milestone)\b", re.IGNORECASE)
    for path in project_files():
        if (
            path.suffix in {".md", ".py", ".sql", ".case", ".sh"}
            and path != Path(__file__).resolve()
        ):
            found = words.search(text_of(path))
            assert not found, f"{relative(path)} says {found.group()!r}"
