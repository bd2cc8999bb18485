"""How a change of either side reaches the output of a probe.

LEFT OUTER, SEMI, ANTI and mark joins are linear in their left input, but not in the right one:

    Δ(L ∘ R) = ΔL ∘ R′  +  T ∘ R′ − T ∘ R

where T are the rows of L (before) that some changed row of R can match: only for them can the
answer be another one.  The traps: testing a deleted row of L against the old R, and flipping the
NULL padding once per changed row of R instead of once per row of L.
"""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra.existence import Existence
from streamtables.compiler.algebra.node import (
    Kind,
    Node,
    at,
    delta_rule,
    differentiate,
    kind_of,
    may_change,
)
from streamtables.compiler.algebra.probe import Probe
from streamtables.compiler.algebra.restriction import (
    Keys,
    On,
    Restrict,
    push_restriction,
    restrict,
    restrict_partly,
    stays_above,
)
from streamtables.compiler.algebra.signed import Negate, Net, Sum


@delta_rule.register
def delta_probe(node: Probe) -> Node:
    """Return the new answers of changed left rows, and the changed answers of touched ones."""
    terms: list[Node] = []
    if may_change(node.left):
        changes = differentiate(node.left)
        terms.append(node.with_inputs(changes, _met_by(node, changes)))
    if may_change(node.right):
        terms += _changed_answers(node)
    return Net(Sum(tuple(terms)))


def _met_by(node: Probe, changes: Node) -> Node:
    """Return the rows of the right input that the changed left rows can match."""
    right = at("after", node.right)
    if not node.equalities:
        return right
    keys = Keys(changes, tuple(dict.fromkeys(left for left, _ in node.equalities)))
    return restrict(right, keys, tuple((right_, left) for left, right_ in node.equalities))


def _changed_answers(node: Probe) -> list[Node]:
    changes = differentiate(node.right)
    left, new, old = at("before", node.left), at("after", node.right), at("before", node.right)
    if node.equalities:
        names = tuple(dict.fromkeys(right for _, right in node.equalities))
        keys = Keys(changes, names)
        same = tuple((name, name) for name in names)
        left = restrict(left, keys, node.equalities)
        new, old = restrict(new, keys, same), restrict(old, keys, same)
    elif read := _right_columns(node):
        # No equality to look a row up by: the condition itself tells which rows are touched.
        left = Existence(left, Keys(changes, read), node.conditions, "semi")
    return [node.with_inputs(left, new), Negate(node.with_inputs(left, old))]


def _right_columns(node: Probe) -> tuple[str, ...]:
    read = {c.name for item in node.conditions for c in item.find_all(exp.Column)}
    return tuple(name for name in node.right.names if name in read)


@kind_of.register
def _(node: Probe) -> Kind:
    return "keyed" if node.equalities else "whole"


@push_restriction.register
def restrict_probe(node: Probe, keys: Node, on: On) -> Node:
    """Restrict the left input, and the right one where its rows must equal those of the left."""
    traced = tuple(pair for pair in on if pair[0] in node.left.names)
    partner = {left: right for left, right in node.equalities}
    met = tuple((partner[column], key) for column, key in traced if column in partner)
    below = node.with_inputs(
        restrict_partly(node.left, keys, on, traced), restrict_partly(node.right, keys, on, met)
    )
    return Restrict(below, keys, on) if stays_above(on, traced) else below
