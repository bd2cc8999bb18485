"""Every place in the compiler that turns a query down, and which of them a query reaches."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from streamtables import compiler, errors
from streamtables.compiler.plan import compile_sql
from streamtables.errors import SqlError

ROOT = Path(compiler.__file__).parent
MAKERS = ("unimplemented", "not_incremental", "unsupported")
"""The methods of `Binding` that make a refusal; the place is where they are called."""

# Statements such as CREATE STREAM TABLE are no queries; `test_statements.py` is about them.
_ELSEWHERE = ("statements.py", "statement_reader.py", "binding.py")


@dataclass(frozen=True)
class Site:
    """One call that makes an error, with the function that it stands in."""

    file: str
    function: str
    maker: str
    first_line: int
    last_line: int

    @property
    def name(self) -> str:
        """What stays when lines move."""
        return f"{self.file} {self.function} {self.maker}"


def sites() -> list[Site]:
    """Return every place that turns a query down."""
    return [
        site
        for path in sorted(ROOT.rglob("*.py"))
        if path.name not in _ELSEWHERE
        for site in _sites_in(path)
    ]


def error_classes() -> dict[str, type[errors.StreamTablesError]]:
    """Return all error classes by name."""
    found = vars(errors).values()
    return {
        item.__name__: item
        for item in found
        if isinstance(item, type) and issubclass(item, errors.StreamTablesError)
    }


def raised_in_compiler() -> set[str]:
    """Return the names of the error classes that the compiler makes."""
    every = error_classes()
    return {
        name
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and (name := _called(node)) in every
    }


def _sites_in(path: Path) -> Iterator[Site]:
    makers = {*MAKERS, *(n for n, kind in error_classes().items() if issubclass(kind, SqlError))}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (maker := _called(node)) in makers:
            last = node.end_lineno or node.lineno
            around = [f.name for f in functions if f.lineno <= node.lineno <= (f.end_lineno or 0)]
            file = str(path.relative_to(ROOT))
            yield Site(file, around[-1] if around else "", maker, node.lineno, last)


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return ""


def reached(
    queries: Iterable[str], tables: Mapping[str, Mapping[str, str]], keys: Mapping[str, list[str]]
) -> set[tuple[str, int]]:
    """Compile queries that are turned down; return file and line of every frame that did it."""
    with _recorded() as lines:
        for sql in queries:
            try:
                compile_sql(sql, tables, keys)
            except SqlError:
                continue
    return lines


@contextmanager
def _recorded() -> Iterator[set[tuple[str, int]]]:
    """Note where errors are made, rather than where they are caught."""
    lines: set[tuple[str, int]] = set()
    made = SqlError.__init__

    def noted(self: SqlError, *values: Any, **named: Any) -> None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            lines.add((frame.f_code.co_filename, frame.f_lineno))
            frame = frame.f_back
        made(self, *values, **named)

    SqlError.__init__ = noted  # type: ignore[method-assign]  # put back below
    try:
        yield lines
    finally:
        SqlError.__init__ = made  # type: ignore[method-assign]  # as it was
