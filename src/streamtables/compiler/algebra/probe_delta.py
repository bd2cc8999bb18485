"""How a change of either side reaches the output of a probe.

LEFT OUTER, SEMI, ANTI and mark joins are linear in their left input, but not in the right one:

    Δ(L ∘ R) = ΔL ∘ R′  +  T ∘ R′ − T ∘ R

where T are the rows of L (before) that some changed row of R can match: only for them can the
answer be another one.  The traps: testing a deleted row of L against the old R, and flipping the
NULL padding once per changed row of R instead of once per row of L.
"""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra.candidates import Names, candidates, candidates_below
from streamtables.compiler.algebra.existence import Existence
from streamtables.compiler.algebra.inner_join import InnerJoin
from streamtables.compiler.algebra.left_join import LeftJoin
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
from streamtables.compiler.algebra.project import Project, Projection
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
    asking: list[Node] = []
    if may_change(node.left):
        asking.append(differentiate(node.left))
    touched = _touched_rows(node) if may_change(node.right) else None
    if touched is not None:
        asking.append(touched)
    new, old = _met_rows(node, asking)
    terms: list[Node] = []
    if may_change(node.left):
        terms.append(node.with_inputs(differentiate(node.left), new))
    if touched is not None:
        terms += [node.with_inputs(touched, new), Negate(node.with_inputs(touched, old))]
    return Net(Sum(tuple(terms)))


def _met_rows(node: Probe, asking: list[Node]) -> tuple[Node, Node]:
    """Return the rows of the right input, after and before, that any left row can ask for.

    They are cut to the keys of all of those rows, so that one pass finds them all.
    """
    new, old = at("after", node.right), at("before", node.right)
    if not node.equalities:
        return new, old
    shown = [_shown(rows, node.equalities) for rows in asking]
    names = tuple(right for _, right in node.equalities)
    rows = shown[0] if len(shown) == 1 else Sum(tuple(shown))
    keys = Keys(rows, names, nulls=node.minds_nulls)
    pairs = tuple((name, name) for name in names)
    return restrict(new, keys, pairs), restrict(old, keys, pairs)


def _shown(node: Node, pairs: On) -> Node:
    """Return columns of a relation under the names that they have elsewhere."""
    return Project(
        node,
        tuple(
            Projection(
                shown, exp.Column(this=exp.to_identifier(own, quoted=True)), node.type_of(own)
            )
            for own, shown in pairs
        ),
    )


def _touched_rows(node: Probe) -> Node:
    """Return the rows of the left input, before, that a changed row of the right one can match."""
    left = at("before", node.left)
    if node.equalities:
        names = tuple(dict.fromkeys(right for _, right in node.equalities))
        keys = Keys(candidates(node.right, names), names, nulls=node.minds_nulls)
        return restrict(left, keys, node.equalities)
    if read := _right_columns(node):
        # No equality to look a row up by: the condition itself tells which rows are touched.
        return Existence(left, Keys(differentiate(node.right), read), node.conditions, "semi")
    return left


def _right_columns(node: Probe) -> tuple[str, ...]:
    read = {c.name for item in node.conditions for c in item.find_all(exp.Column)}
    return tuple(name for name in node.right.names if name in read)


@candidates_below.register
def _(node: Probe, names: Names) -> Node | None:
    """Return what changed on the left, and the keys that changed on the right."""
    if not names or not set(names) <= set(node.left.names):
        return None
    same = tuple((name, name) for name in names)
    found: list[Node] = []
    if may_change(node.left):
        found.append(_shown(candidates(node.left, names), same))
    if may_change(node.right):
        partners = {left: right for left, right in node.equalities}
        met = tuple((partners[name], name) for name in names if name in partners)
        if len(met) == len(names):
            rows = candidates(node.right, tuple(dict.fromkeys(own for own, _ in met)))
            found.append(_shown(rows, met))
        else:
            found.append(_shown(_touched_rows(node), same))
    return found[0] if len(found) == 1 else Sum(tuple(found))


@kind_of.register
def _(node: Probe) -> Kind:
    return "keyed" if node.equalities else "whole"


@push_restriction.register
def restrict_probe(node: Probe, keys: Node, on: On) -> Node:
    """Restrict the left input, and the right one where its rows must equal those of the left."""
    traced = tuple(pair for pair in on if pair[0] in node.left.names)
    partner = {left: right for left, right in node.equalities}
    met = tuple((partner[column], key) for column, key in traced if column in partner)
    if isinstance(node, LeftJoin) and len(traced) < len(on) and _holds_no_null(keys):
        return _restrict_matches(node, keys, on, met)
    below = node.with_inputs(
        restrict_partly(node.left, keys, on, traced), restrict_partly(node.right, keys, on, met)
    )
    return Restrict(below, keys, on) if stays_above(on, traced) else below


def _holds_no_null(keys: Node) -> bool:
    return isinstance(keys, Keys) and not keys.nulls


def _restrict_matches(node: LeftJoin, keys: Node, on: On, met: On) -> Node:
    """Restrict an outer join by columns of its right side, where no key is NULL.

        (L ⟕ R) ⋉ K = L ⋈ (R ⋉ K)

    A padded row has NULL there, which equals no key, so only matches are left; and those are
    looked up from the right rows, where the outer join would have to begin with all of the left.
    """
    own = (*(pair for pair in on if pair[0] in node.right.names), *met)
    right = restrict_partly(node.right, keys, on, own)
    names = tuple(dict.fromkeys(name for _, name in node.equalities))
    left = restrict(node.left, Keys(right, names, nulls=node.minds_nulls), node.equalities)
    matches = InnerJoin((left, right), node.conditions)
    return Restrict(matches, keys, on) if stays_above(on, own) else matches
