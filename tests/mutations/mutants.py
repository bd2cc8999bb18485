"""Wrong rules, each a small edit of a right one; the oracle must see every one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from streamtables.compiler.algebra import (
    Node,
)


class Patches:
    """Edits that are all taken back at the end."""

    def __init__(self, attributes: pytest.MonkeyPatch, stack: ExitStack) -> None:
        self._attributes = attributes
        self._stack = stack

    def function(self, module: object, name: str, wrong: Callable[..., Any]) -> None:
        """Replace a function of a module or class."""
        self._attributes.setattr(module, name, wrong)

    def rule(self, dispatch: Any, kind: type[Node], wrong: Callable[..., Any]) -> None:
        """Replace the rule of one operator."""
        self._stack.callback(dispatch.register, kind, dispatch.dispatch(kind))
        dispatch.register(kind, wrong)


@dataclass(frozen=True)
class Mutant:
    """A wrong rule and how to put it in place of the right one."""

    name: str
    query: str
    apply: Callable[[Patches], None]


MUTANTS: list[Mutant] = []


def mutant(name: str, query: str) -> Callable[[Callable[[Patches], None]], None]:
    """List a function as the mutant of this name; `query` uses the rule that it breaks."""

    def listed(apply: Callable[[Patches], None]) -> None:
        MUTANTS.append(Mutant(name, query, apply))

    return listed


@contextmanager
def mutated(wrong: Mutant) -> Iterator[None]:
    """Put a mutant in place for a while."""
    with pytest.MonkeyPatch.context() as attributes, ExitStack() as stack:
        wrong.apply(Patches(attributes, stack))
        yield
