"""Command lines that a page shows, read by what would read them; nothing is carried out."""

from __future__ import annotations

import argparse
import importlib.util
import re
import shlex
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from functools import cache
from inspect import signature
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import pytest
import typer
from starlette.routing import compile_path

from streamtables.api import StreamTables
from streamtables.cli.app import build_app
from streamtables.cli.invocation import Invocation, connect_by_package, environment_first
from streamtables.engine.jars import REQUIRED
from streamtables.settings import Settings, load_settings
from streamtables.web.app import build_app as build_pages
from tests.e2e.docs.blocks import ROOT

Words = Sequence[str]
# They read their words themselves; all that is looked for is the module.
BARE_WORDS = frozenset({"tests.integration.postgres.test_drain_crashes"})


def read_command(words: Words) -> None:
    """Refuse a command that its program would refuse."""
    assert words[0] in READERS, f"nobody knows how to check {words[0]}"
    READERS[words[0]](words[1:])


def read_streamtables(words: Words) -> None:
    """Read a command line by the parsers of its commands."""
    command = typer.main.get_command(build_app(rich_help=False))
    context, name, rest = None, "streamtables", environment_first(list(words))
    while True:
        invocation = Invocation(connect=connect_by_package)
        try:
            context = command.make_context(name, rest, parent=context, obj=invocation)
        except typer.Exit:  # the version, or help
            return
        if not hasattr(command, "resolve_command"):
            return
        left = [*context._protected_args, *context.args]
        found, command, rest = command.resolve_command(context, left)
        assert found is not None
        name = found


@cache
def _makefile() -> dict[str, str]:
    text = (ROOT / "Makefile").read_text("utf-8")
    return dict(re.findall(r"^([a-z][a-z-]*):(?! export).*\n((?:\t.*\n)*)", text, re.M))


def read_make(words: Words) -> None:
    """Look up the target, and read its ARGS by the module that it runs."""
    target, *given = words
    assert target in _makefile(), f"there is no target {target}"
    for word in given:
        name, _, value = word.partition("=")
        assert name == "ARGS", f"no target takes {name}"
        module = re.search(r"-m ([\w.]+) \$\(ARGS\)", _makefile()[target])
        assert module is not None, f"make {target} takes no ARGS"
        read_python(["-m", module[1], *shlex.split(value)])


class _Understood(Exception):  # noqa: N818 - it is no error
    """A module has read its options."""


def read_python(words: Words) -> None:
    """Have a module read its options, and stop it then."""
    assert words[0] == "-m"
    module, *given = words[1:]
    if module == "pytest":
        missing = [word for word in given if "/" in word and not (ROOT / word).exists()]
        assert not missing, f"there is no {missing}"
        return
    found = importlib.util.find_spec(module)
    assert found is not None, f"there is no module {module}"
    if module in BARE_WORDS:
        return
    name = f"{module}.__main__" if found.submodule_search_locations else module
    main = importlib.import_module(name).main
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(argparse.ArgumentParser, "parse_args", _stopping_after)
        patch.setattr("sys.argv", [module, *given])
        with pytest.raises(_Understood):
            main(given) if signature(main).parameters else main()


def _stopping_after(
    parser: argparse.ArgumentParser, words: Words | None = None, namespace: Any = None
) -> NoReturn:
    _, left = parser.parse_known_args(words, namespace)
    assert not left, f"{parser.prog} does not know {left}"
    raise _Understood


def read_pip(words: Words) -> None:
    """Look up the extras of our own package."""
    action, *wanted = words
    assert action == "install"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    for word in wanted:
        found = re.fullmatch(r"(?:\.|streamtables)(?:\[([\w,]+)\])?", word)
        assert found is not None, f"{word} is not ours"
        extras = set((found[1] or "").split(",")) - {""}
        assert extras <= project["optional-dependencies"].keys()


def read_export(words: Words) -> None:
    """Read variables of ours as settings."""
    given = dict(word.split("=", 1) for word in words)
    load_settings(environment=given)


def read_spark_submit(words: Words) -> None:
    """Compare packages with those that we fetch ourselves."""
    given = dict(pairwise(words))
    assert set(given["--packages"].split(",")) <= set(REQUIRED.packages)
    started = (ROOT / "src/streamtables/engine/spark_start.py").read_text("utf-8")
    for place, word in enumerate(words):
        if word == "--conf":
            assert all(f'"{part}"' in started for part in words[place + 1].split("=")), words


@cache
def addresses() -> frozenset[tuple[str, str]]:
    """Return the methods and addresses of the JSON API, as its own description has them."""
    with tempfile.TemporaryDirectory() as folder, StreamTables(folder, settings=Settings()) as db:
        app: Any = build_pages(db, token="a token of the tests").app
        paths = app.openapi()["paths"]
    found = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    return frozenset(found | {("GET", app.openapi_url)})


def read_address(path: str, *methods: str) -> None:
    """Refuse an address that the JSON API does not have."""
    known = [item for method, item in addresses() if method in methods]
    fits = any(compile_path(item)[0].match(path) for item in known)
    assert path in known or fits, f"there is no {path} for {methods}"


def read_curl(words: Words) -> None:
    """Look up method and address in the description of the API."""
    method = words[words.index("-X") + 1] if "-X" in words else "GET"
    read_address("/" + words[-1].partition("/")[2], method)


def read_setup(words: Words) -> None:
    """Look up the words of the set-up script."""
    script = (ROOT / "scripts/setup.sh").read_text("utf-8")
    assert all(re.search(rf"\b{word}\b", script) for word in words)


def read_dbt(words: Words) -> None:
    """Look up the example project."""
    assert words[0] in ("seed", "run")
    assert (ROOT / "examples/dbt/dbt_project.yml").is_file()


def read_path(words: Words) -> None:
    """Refuse nothing: what a script or folder is called says little."""
    assert len(words) == 1
    assert Path(words[0]).name


READERS: dict[str, Callable[[Words], None]] = {
    ".": read_path,
    ".venv/bin/python": read_python,
    "cd": read_path,
    "curl": read_curl,
    "dbt": read_dbt,
    "export": read_export,
    "make": read_make,
    "pip": read_pip,
    "python": read_python,
    "scripts/setup.sh": read_setup,
    "spark-submit": read_spark_submit,
    "streamtables": read_streamtables,
}
