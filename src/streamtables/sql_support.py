"""What of Spark SQL is maintained incrementally: the operators and aggregates that have rules.

`docs/sql_support.md` says the same, with the executed cases and the queries that are refused.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass

from streamtables.compiler.algebra import (
    OPERATORS,
    Distinct,
    InnerJoin,
    Keyed,
    Node,
    Probe,
    Recursive,
)
from streamtables.compiler.frontend import functions


@dataclass(frozen=True)
class Operator:
    """An operator that changes pass through, and how."""

    name: str
    kind: str
    summary: str
    whole_because: str
    """When and why a change makes it look at whole relations; empty where none does."""


@dataclass(frozen=True)
class SqlSupport:
    """Every operator and aggregate that has a rule."""

    operators: tuple[Operator, ...]
    aggregates: tuple[str, ...]


def sql_support() -> SqlSupport:
    """Return what is supported, from the operators themselves."""
    operators = tuple(
        Operator(o.__name__, operator_kind(o), _summary(o), o.whole_because) for o in OPERATORS
    )
    return SqlSupport(operators, tuple(sorted(functions.MAINTAINED_AGGREGATES)))


def operator_kind(operator: type[Node]) -> str:
    """Return how a change passes through an operator, in words."""
    if issubclass(operator, Probe):
        return "linear in the left input, keyed in the right; whole without an equality"
    if issubclass(operator, Keyed):
        return "keyed" if operator is Distinct else "keyed; whole without groups"
    if operator is Recursive:
        return "linear in the base, whole in what the step reads"
    return "multilinear" if operator is InnerJoin else "linear"


def _summary(operator: type[Node]) -> str:
    text = inspect.getdoc(sys.modules[operator.__module__]) or ""
    return text.splitlines()[0].rstrip(".")
