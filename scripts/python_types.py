"""Types that the interface answers with: which annotations name them, and what their fields are."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Literal, get_args, get_origin

from scripts.signatures import written

# Of the compiler a caller sees a plan and its refusals; the rest is how it works.
_COMPILER = "streamtables.compiler"
_SHOWN_OF_COMPILER = frozenset({"Plan", "Refusal"})
NAME = re.compile(r"\b[A-Z]\w+\b")


def named_by(annotation: str, module: str) -> Iterator[type]:
    """Give the classes of ours that an annotation names."""
    for name in NAME.findall(annotation):
        kind = _resolved(name, sys.modules[module])
        home = getattr(kind, "__module__", "")
        hidden = home.startswith(_COMPILER) and name not in _SHOWN_OF_COMPILER
        ours = inspect.isclass(kind) and home.startswith("streamtables.") and not hidden
        if ours and (dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")):
            assert isinstance(kind, type)
            yield kind


@cache
def _resolved(name: str, module: ModuleType) -> object:
    """Return what a name means in a module, also where only type checkers import it."""
    if hasattr(module, name):
        return getattr(module, name)
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if not isinstance(node, ast.ImportFrom) or all(alias.name != name for alias in node.names):
            continue
        if (home := node.module or "").startswith("streamtables."):
            return getattr(importlib.import_module(home), name, None)
    return None


def fields_of(kind: type) -> list[tuple[str, str, str]]:
    """Return the fields and properties of a type: name, type, and what is said of it."""
    found: dict[str, tuple[str, str]] = {}
    for base in reversed(kind.__mro__):
        if not base.__module__.startswith("streamtables."):
            continue
        node = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        assert isinstance(node, ast.ClassDef)
        for item, after in zip(node.body, [*node.body[1:], None], strict=True):
            match item:
                case ast.AnnAssign(target=ast.Name(name), annotation=annotation):
                    found[name] = (_spelled(written(annotation), base), _said(after))
                case ast.FunctionDef(name, returns=answer) if _is_property(item) and answer:
                    found[name] = (written(answer), first_sentence(ast.get_docstring(item)))
    return [(name, *facts) for name, facts in found.items() if not name.startswith("_")]


def _spelled(annotation: str, kind: type) -> str:
    """Write the words that a field may have in the place of the name for them."""

    def words(match: re.Match[str]) -> str:
        meant = _resolved(match[0], sys.modules[kind.__module__])
        if get_origin(meant) is not Literal:
            return match[0]
        return " | ".join(f'"{word}"' for word in get_args(meant))

    return NAME.sub(words, annotation)


def _said(node: ast.stmt | None) -> str:
    match node:
        case ast.Expr(value=ast.Constant(value=str(text))):
            return " ".join(text.split())
    return ""


def first_sentence(text: str | None) -> str:
    """Return what stands before the first empty line, in one line."""
    return " ".join((text or "").split("\n\n")[0].split())


def _is_property(node: ast.FunctionDef) -> bool:
    return any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
