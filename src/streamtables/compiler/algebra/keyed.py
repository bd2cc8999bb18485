"""The keyed rule: recompute the touched keys before and after, and subtract.

    K        = keys that occur in ΔX
    ΔOp(X)   = Op(X′ ⋉ K) − Op(X ⋉ K)

It is right for every operator whose output for a key depends only on the input rows with that key,
and so it is the safety net under all the cheaper forms.  Without key columns the whole relation is
one group, which exists even when it is empty.
"""

from __future__ import annotations

from dataclasses import dataclass

from streamtables.compiler.algebra.candidates import Names, candidates, candidates_below
from streamtables.compiler.algebra.node import (
    Kind,
    Node,
    Unary,
    at,
    delta_rule,
    kept,
    kind_of,
)
from streamtables.compiler.algebra.restriction import (
    Keys,
    On,
    Restrict,
    push_restriction,
    restrict_partly,
    stays_above,
)
from streamtables.compiler.algebra.signed import Negate, Net, Sum


@dataclass(frozen=True, eq=False)
class Keyed(Unary):
    """An operator that works on each group of rows with equal key columns by itself."""

    @property
    def key_columns(self) -> tuple[str, ...]:
        """The columns of the input, shown in the output too, that make a group."""
        raise NotImplementedError

    @property
    def signed(self) -> bool:
        return False

    @property
    def compares_rows(self) -> bool:
        return True

    @property
    def key(self) -> tuple[str, ...] | None:
        return self.key_columns


@kept
def must_be_computed(node: Node) -> bool:
    """Whether some part of the relation has to be computed from groups of rows."""
    return node.compares_rows or any(must_be_computed(item) for item in node.inputs)


def touched_keys(node: Keyed) -> Keys:
    """Return K: the keys that occur in the changes of the input, and perhaps some more."""
    return Keys(candidates(node.input, node.key_columns), node.key_columns)


def recomputed(node: Keyed, keys: Keys, version: Node) -> Node:
    """Return Op over the rows of `version` that have one of the keys."""
    pairs = tuple((name, name) for name in node.key_columns)
    return node.with_inputs(restrict_partly(version, keys, pairs, pairs))


@delta_rule.register
def delta_keyed(node: Keyed) -> Node:
    """Return the touched groups after the refresh minus those before it."""
    keys = touched_keys(node)
    new = recomputed(node, keys, at("after", node.input))
    old = recomputed(node, keys, at("before", node.input))
    return Net(Sum((new, Negate(old))))


@kind_of.register
def _(node: Keyed) -> Kind:
    return "keyed" if node.key_columns else "whole"


@candidates_below.register
def _(node: Keyed, names: Names) -> Node | None:
    inner = set(names) <= set(node.key_columns)
    return candidates(node.input, names) if names and inner else None


@push_restriction.register
def restrict_keyed(node: Keyed, keys: Node, on: On) -> Node:
    """Restrict the input by the pairs on group columns; the others stay above."""
    traced = tuple((column, key) for column, key in on if column in node.key_columns)
    below = node.with_inputs(restrict_partly(node.input, keys, on, traced))
    return Restrict(below, keys, on) if stays_above(on, traced) else below
