"""What every operator of the algebra is, and the three questions a rule may ask of one.

A plain relation is a bag of rows.  A *signed* relation carries one more column, `__st_weight`: how
many times the row appeared (positive) or went (negative).  A plain relation counts as one whose
weights are all 1.

    differentiate(X)        ΔX = X′ − X, signed
    at(version, X)          X before or after the refresh, plain
    restrict(X, K, on)      X ⋉ K, with the restriction pushed towards the scans

Nodes are shared, not copied: each answer is worked out once per node and remembered on it, so that
a form which two rules ask for is one object, and the back end writes it once.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property, singledispatch, wraps
from typing import Any, ClassVar, Literal, ParamSpec, TypeVar

from streamtables.compiler.types import SqlType
from streamtables.errors import InternalError, NotIncrementalError

WEIGHT = "__st_weight"

When = Literal["before", "after"]
Kind = Literal["linear", "multilinear", "keyed", "whole"]
P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Column:
    """One column of a relation: a name that is unique in its scope, and its type."""

    name: str
    type: SqlType


@dataclass(frozen=True, eq=False)
class Node:
    """A relation.  Two nodes are equal only when they are the same object."""

    whole_because: ClassVar[str] = ""
    """When a change makes the operator look at whole relations, and why; empty where none does."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, without the weight."""
        raise NotImplementedError

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The relations this one is made from."""
        return ()

    @cached_property
    def signed(self) -> bool:
        """Whether the rows carry a weight."""
        return any(node.signed for node in self.inputs)

    @property
    def key(self) -> tuple[str, ...] | None:
        """Columns whose values tell the rows apart; None when equal rows may occur."""
        return None

    @property
    def compares_rows(self) -> bool:
        """Whether what becomes of a row depends on other rows, so that groups must be computed."""
        return False

    def with_inputs(self, *inputs: Node) -> Node:
        """Return the same operator over other inputs."""
        raise NotImplementedError

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def type_of(self, name: str) -> SqlType:
        """Return the type of one column."""
        for column in self.columns:
            if column.name == name:
                return column.type
        raise InternalError(f"no column {name!r} in {type(self).__name__}")


FORMS_AT_MOST = 1_000
"""How many forms the rules may make for one delta.

Rules ask for several forms of each input, so where inputs hold each other's forms their number may
double with every level.  Past this bound the whole relation is computed before and after instead.
"""

_forms_left: ContextVar[int | None] = ContextVar("forms_left", default=None)


class TooManyFormsError(Exception):
    """The rules made more forms than a delta may have."""


def kept(function: Callable[P, R]) -> Callable[P, R]:
    """Keep the answer on the first argument, a node.

    Parts are shared, so an answer that is not kept would be worked out once per way to a part.
    """

    @wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        node, *rest = args
        memory: dict[object, Any] = vars(node).setdefault("_kept", {})
        key = (function.__name__, *(id(item) if isinstance(item, Node) else item for item in rest))
        if key not in memory:
            # The arguments are kept beside the answer: an id is only unique while its object lives.
            memory[key] = (rest, function(*args, **kwargs))
        answer: R = memory[key][1]
        return answer

    return wrapper


def remembered(function: Callable[P, R]) -> Callable[P, R]:
    """Keep a form of a node, and count that it was made."""

    @wraps(function)
    def counted(*args: P.args, **kwargs: P.kwargs) -> R:
        _count_form()
        return function(*args, **kwargs)

    return kept(counted)


def _count_form() -> None:
    left = _forms_left.get()
    if left is not None:
        if left == 0:
            raise TooManyFormsError
        _forms_left.set(left - 1)


@singledispatch
def delta_rule(node: Node) -> Node:
    """Return ΔX by the rule of X's operator; refuse when there is none."""
    raise NotIncrementalError(f"no delta rule for {type(node).__name__}")


@remembered
def differentiate(node: Node) -> Node:
    """Return the signed changes of a relation between before and after."""
    return delta_rule(node) if may_change(node) else Empty(node.columns, signed=True)


def changes_of(node: Node) -> Node:
    """Return the signed changes of a relation; by `whole` where its rules would make too much."""
    outermost = _forms_left.get() is None
    if not outermost:
        return differentiate(node)
    token = _forms_left.set(FORMS_AT_MOST)
    try:
        return differentiate(node)
    except TooManyFormsError:
        vars(node)["_whole"] = True
    finally:
        _forms_left.reset(token)
    return whole_changes(node)


def is_changed_whole(node: Node) -> bool:
    """Whether `changes_of` had to give up the rules of a relation."""
    changes_of(node)
    return "_whole" in vars(node)


@singledispatch
def whole_changes(node: Node) -> Node:
    """Return the relation after the refresh minus the one before it."""
    raise InternalError(f"no whole changes for {type(node).__name__}")


def at(when: When, node: Node) -> Node:
    """Return the relation as it stands before or after the refresh."""
    return version_of(node, when if may_change(node) else "after")


@remembered
def version_of(node: Node, when: When) -> Node:
    """Return the relation over the named version of every table."""
    if not node.inputs:
        return node_at(node, when)
    return node.with_inputs(*(at(when, item) for item in node.inputs))


@singledispatch
@kept
def may_change(node: Node) -> bool:
    """Whether any table below may have changes in this refresh."""
    return any(may_change(item) for item in node.inputs)


@singledispatch
def node_at(node: Node, when: When) -> Node:
    """Return a leaf as it stands before or after the refresh."""
    return node


@singledispatch
def kind_of(node: Node) -> Kind:
    """Return how changes travel through an operator."""
    raise InternalError(f"no kind for {type(node).__name__}")


@dataclass(frozen=True, eq=False)
class Empty(Node):
    """No rows."""

    fields: tuple[Column, ...]
    signed: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.fields

    def with_inputs(self, *inputs: Node) -> Node:
        return self


@dataclass(frozen=True, eq=False)
class Unary(Node):
    """An operator with one input."""

    input: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)

    def with_inputs(self, *inputs: Node) -> Node:
        (only,) = inputs
        return replace(self, input=only)


@dataclass(frozen=True, eq=False)
class Linear(Node):
    """An operator f with Δf(X) = f(ΔX): it looks at one row at a time, or adds bags up."""


@delta_rule.register
def delta_linear(node: Linear) -> Node:
    """Return f(ΔX)."""
    # An input that cannot change adds nothing, and is left out.
    return node.with_inputs(*(differentiate(item) for item in node.inputs if may_change(item)))


@kind_of.register
def _(node: Linear) -> Kind:
    return "linear"
