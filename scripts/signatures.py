"""Signatures of the interface as they are written in the code."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

_WIDTH = 88


def function_of(member: Any) -> Callable[..., Any]:
    """Return the function behind a method or property, without what goes around it."""
    found: Any = member.fget if isinstance(member, property) else member
    unwrapped: Callable[..., Any] = inspect.unwrap(found)
    return unwrapped


def signature(shown: str, member: Any) -> str:
    """Return a signature as it is written, on several lines where it is long."""
    node = _definition(function_of(member))
    answer = f" -> {written(node.returns)}" if node.returns is not None else ""
    if isinstance(member, property):
        return f"{shown}{answer}"
    given = list(_parameters(node.args))
    line = f"{shown}({', '.join(given)}){answer}"
    if len(line) <= _WIDTH:
        return line
    inner = "".join(f"    {part},\n" for part in given)
    return f"{shown}(\n{inner}){answer}"


def _definition(function: Callable[..., Any]) -> ast.FunctionDef:
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(node, ast.FunctionDef)
    return node


def _parameters(args: ast.arguments) -> Iterator[str]:
    positional = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
    for place, (arg, default) in enumerate(zip(positional, defaults, strict=True)):
        if arg.arg != "self":
            yield _parameter(arg, default)
        if args.posonlyargs and place == len(args.posonlyargs) - 1:
            yield "/"
    if args.vararg:
        yield f"*{_parameter(args.vararg, None)}"
    elif args.kwonlyargs:
        yield "*"
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        yield _parameter(arg, default)
    if args.kwarg:
        yield f"**{_parameter(args.kwarg, None)}"


def _parameter(arg: ast.arg, default: ast.expr | None) -> str:
    text = arg.arg if arg.annotation is None else f"{arg.arg}: {written(arg.annotation)}"
    return text if default is None else f"{text} = {written(default)}"


def written(node: ast.expr) -> str:
    """Return an expression as it is written, in the quotes of the house."""
    return re.sub(r"'([^'\"]*)'", r'"\1"', ast.unparse(node))
