"""X ⋉ K: keep the rows of X whose key occurs in K, and push that towards the scans.

K is the set of keys that occur in the changes of some input.  The keyed rule recomputes only them:

    ΔOp(X) = Op(X′ ⋉ K) − Op(X ⋉ K)

Keys compare null-safe, unless a user's equality asks: a NULL key belongs to K like any other.  A
restriction may be pushed below an operator in part (fewer columns keep more rows) as long as the
whole of it stays above.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

from streamtables.compiler.algebra.node import Column, Node, Unary, remembered

On = tuple[tuple[str, str], ...]
"""Pairs of a column of the restricted relation and the column of the keys it must equal."""


@dataclass(frozen=True, eq=False)
class Keys(Unary):
    """The distinct values of some columns, whatever the weights.

    Without `nulls` a key that holds a NULL is left out, and keys compare with `=`: it is so where
    a user's equality decides, for which a NULL matches nothing.  Spark looks those up faster.
    """

    key_columns: tuple[str, ...]
    nulls: bool = True

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(Column(name, self.input.type_of(name)) for name in self.key_columns)

    @property
    def signed(self) -> bool:
        return False

    @property
    def key(self) -> tuple[str, ...]:
        return self.key_columns


@dataclass(frozen=True, eq=False)
class Restrict(Node):
    """The rows of `input` for which `keys` holds an equal key."""

    input: Node
    keys: Node
    on: On

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input, self.keys)

    @property
    def signed(self) -> bool:
        return self.input.signed

    @property
    def key(self) -> tuple[str, ...] | None:
        return self.input.key

    def with_inputs(self, *inputs: Node) -> Node:
        restricted, keys = inputs
        return Restrict(restricted, keys, self.on)


@remembered
def restrict(node: Node, keys: Node, on: On) -> Node:
    """Return X ⋉ K, with the restriction as near to the scans as it can go."""
    return push_restriction(node, keys, on) if on else node


@singledispatch
def push_restriction(node: Node, keys: Node, on: On) -> Node:
    """Push a restriction through one operator; by default it stays above."""
    return Restrict(node, keys, on)


def restrict_partly(node: Node, keys: Node, on: On, traced: On) -> Node:
    """Restrict by the pairs that could be traced into `node`, and nothing when there are none."""
    return restrict(node, keys, traced) if traced else node


def stays_above(on: On, traced: On) -> bool:
    """Whether a part of the restriction was lost on the way down."""
    return {key for _, key in traced} != {key for _, key in on}
