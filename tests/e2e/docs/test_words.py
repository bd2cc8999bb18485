"""Names within sentences are names that there are: methods, variables, errors, files."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import streamtables
from streamtables import errors
from streamtables.api import StreamTables
from streamtables.settings import _OTHER_VARIABLES, ENVIRONMENT_PREFIX, SETTINGS
from tests.e2e.docs.blocks import ROOT, pages

_INLINE = re.compile(r"`([^`]+)`")
_OUTSIDE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"(?:benchmarks|docs|examples|scripts|src|tests)/[\w./-]+\.\w+")
OWNERS: dict[str, Any] = {"db": StreamTables, "streamtables": streamtables}


def within_sentences(found: Callable[[str], Iterator[Any]]) -> list[Any]:
    """Return what is found in the words of all pages, each once."""
    texts = {
        " ".join(text.split())
        for page in pages().values()
        for text in _INLINE.findall(_OUTSIDE.sub("", page))
    }
    return sorted({item for text in texts for item in found(text)})


def uses(text: str) -> Iterator[str]:
    """Give the calls and attributes of a warehouse, or of the package, that a text has."""
    try:
        tree = ast.parse(text.replace("…", "..."))
    except SyntaxError:
        return
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id))) if id in OWNERS:
                yield ast.unparse(node)
            # Modules and files are named after the package too.
            case ast.Attribute(value=ast.Name("db")):
                yield ast.unparse(node)


@pytest.mark.parametrize("use", within_sentences(uses))
def test_a_method_takes_what_it_is_given(use: str):
    node = ast.parse(use, mode="eval").body
    call = node if isinstance(node, ast.Call) else None
    name = call.func if call else node
    assert isinstance(name, ast.Attribute)
    assert isinstance(name.value, ast.Name)
    owner = OWNERS[name.value.id]
    found = getattr(owner, name.attr, None)
    assert found is not None, f"there is no {use}"
    if call is not None and not _stands_for_any(call):
        given = [None] * len(call.args)
        named = {str(keyword.arg): None for keyword in call.keywords}
        itself = [None] if owner is StreamTables else []
        inspect.signature(found).bind(*itself, *given, **named)


def _stands_for_any(call: ast.Call) -> bool:
    """Whether a call has nothing between its parentheses, and so says nothing of them."""
    return not call.args and not call.keywords


def test_every_variable_is_a_setting_or_known_otherwise():
    told = {
        name for text in pages().values() for name in re.findall(r"STREAMTABLES_[A-Z_0-9]+", text)
    }
    known = {f"{ENVIRONMENT_PREFIX}{name.upper()}" for name in SETTINGS} | _OTHER_VARIABLES
    assert told - known == set()


def test_every_error_is_one_that_there_is():
    told = {code for text in pages().values() for code in re.findall(r"ST-\d{4}", text)}
    known = {
        kind.code
        for kind in vars(errors).values()
        if inspect.isclass(kind) and hasattr(kind, "code")
    }
    assert told - known == set()


def test_every_file_is_there():
    def files(text: str) -> Iterator[str]:
        yield from _FILE.findall(text)

    missing = [file for file in within_sentences(files) if not (ROOT / file).exists()]
    assert missing == []


@pytest.mark.parametrize("use", ["db.refreshed('a')", "db.verify('a', part=0.1)"])
def test_a_wrong_use_would_be_found(use: str):
    with pytest.raises((AssertionError, TypeError)):
        test_a_method_takes_what_it_is_given(use)
