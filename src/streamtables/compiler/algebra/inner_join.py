"""The inner (or cross) join of n inputs, and how a change of any of them reaches its output.

    Δ(R¹ ⋈ … ⋈ Rⁿ) = Σᵢ R¹ ⋈ … ⋈ Rⁱ⁻¹ ⋈ ΔRⁱ ⋈ Rⁱ⁺¹′ ⋈ … ⋈ Rⁿ′

Inputs to the left of the changed one are read before the refresh, those to its right after it, so
each combination of changes is counted exactly once.  The trap: reading both sides after counts
ΔR ⋈ ΔS twice.  Weights multiply.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from sqlglot import exp

from streamtables.compiler.algebra.keyed import must_be_computed
from streamtables.compiler.algebra.node import (
    Column,
    Kind,
    Node,
    at,
    delta_rule,
    differentiate,
    kind_of,
    may_change,
)
from streamtables.compiler.algebra.restriction import (
    Keys,
    On,
    Restrict,
    push_restriction,
    restrict,
    restrict_partly,
    stays_above,
)
from streamtables.compiler.algebra.signed import Sum
from streamtables.compiler.types import UNKNOWN
from streamtables.errors import InternalError


@dataclass(frozen=True, eq=False)
class InnerJoin(Node):
    """Every combination of rows, one of each input, for which all conditions are true."""

    parts: tuple[Node, ...]
    conditions: tuple[exp.Expr, ...]

    def __post_init__(self) -> None:
        # The front end renames columns apart, so a clash here is our own bug.
        names = [name for part in self.parts for name in part.names]
        if len(names) != len(set(names)):
            raise InternalError("join inputs share column names")

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(column for part in self.parts for column in part.columns)

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.parts

    def with_inputs(self, *inputs: Node) -> Node:
        return replace(self, parts=inputs)

    @cached_property
    def equalities(self) -> tuple[tuple[str, str], ...]:
        """Pairs of columns that the conditions make equal."""
        return tuple(
            (condition.this.name, condition.expression.name)
            for condition in self.conditions
            if isinstance(condition, exp.EQ)
            and isinstance(condition.this, exp.Column)
            and isinstance(condition.expression, exp.Column)
        )

    @cached_property
    def key(self) -> tuple[str, ...] | None:
        """The keys of all inputs, without those that the rows of another input already fix."""
        keys = [part.key for part in self.parts]
        if any(key is None for key in keys):
            return None
        needed = list(range(len(self.parts)))
        for index in reversed(range(1, len(self.parts))):
            others = [name for i in needed if i != index for name in self.parts[i].names]
            if self._is_fixed_by(set(keys[index] or ()), set(others)):
                needed.remove(index)
        return tuple(name for i in needed for name in keys[i] or ())

    def _is_fixed_by(self, key: set[str], others: set[str]) -> bool:
        equal = [pair for pair in self.equalities if _same_type(self, *pair)]
        fixed = {b for a, b in equal if a in others} | {a for a, b in equal if b in others}
        return bool(key) and key <= fixed


@delta_rule.register
def delta_inner_join(join: InnerJoin) -> Node:
    """Return one term for each input that may change."""
    changing = [index for index, part in enumerate(join.parts) if may_change(part)]
    return Sum(tuple(_term(join, index) for index in changing))


def _term(join: InnerJoin, changed: int) -> Node:
    delta = differentiate(join.parts[changed])
    before = [at("before", part) for part in join.parts[:changed]]
    after = [at("after", part) for part in join.parts[changed + 1 :]]
    walked = [_reachable(join, part, delta) for part in (*before, *after)]
    return join.with_inputs(*walked[:changed], delta, *walked[changed:])


def _reachable(join: InnerJoin, part: Node, delta: Node) -> Node:
    """Cut an input that must be computed first to the join keys of the changes.

    A scan needs no such cut: the join itself, walked from the changes, is one.
    """
    if not must_be_computed(part):
        return part
    changed = set(delta.names)
    pairs = tuple(
        (ours, theirs)
        for left, right in join.equalities
        for ours, theirs in ((left, right), (right, left))
        if theirs in changed and ours in part.names and _same_type(join, ours, theirs)
    )
    keys = Keys(delta, tuple(dict.fromkeys(theirs for _, theirs in pairs)))
    return restrict(part, keys, pairs) if pairs else part


def _same_type(join: InnerJoin, left: str, right: str) -> bool:
    """Whether equality of two columns needs no cast, which could make two values equal to one."""
    type_ = join.type_of(left)
    return type_ != UNKNOWN and type_ == join.type_of(right)


@kind_of.register
def _(node: InnerJoin) -> Kind:
    return "multilinear"


@push_restriction.register
def restrict_inner_join(node: InnerJoin, keys: Node, on: On) -> Node:
    """Restrict every input that a key column can be traced to."""
    traced = [_trace(node, part, on) for part in node.parts]
    below = node.with_inputs(
        *(
            restrict_partly(part, keys, on, pairs)
            for part, pairs in zip(node.parts, traced, strict=True)
        )
    )
    # One input that holds every key column enforces the whole restriction by itself.
    whole = any(not stays_above(on, pairs) for pairs in traced)
    return below if whole else Restrict(below, keys, on)


def _trace(join: InnerJoin, part: Node, on: On) -> On:
    """Return the pairs whose column is in `part`, or equals one of the same type there."""
    names = set(part.names)
    pairs: dict[str, str] = {}
    for column, key in on:
        if column in names:
            pairs[key] = column
            continue
        for left, right in (*join.equalities, *((b, a) for a, b in join.equalities)):
            if left == column and right in names and _same_type(join, left, right):
                pairs.setdefault(key, right)
    return tuple((column, key) for key, column in pairs.items())
