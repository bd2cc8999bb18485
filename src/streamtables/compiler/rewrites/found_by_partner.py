"""Find the rows of one input by those of the other, where conditions leave few of these.

    (L ⋉ K) ⋈ σ(R ⋉ K)        rows of L are of use only where σ left a row of R with their value

Both inputs are asked by the same values, K.  Where a condition leaves out most rows of one of them,
and the other must equal it in that column, the rest of K finds rows that join nothing: a thousand
changed lines name a thousand parts, of which six are red, and only the lines of these six matter.

The same holds for each right input of a probe, which only answers left rows, and for the left one
of a semi join.  The join stays as it is: this is about which rows are fetched, and in which order.
"""

from __future__ import annotations

from streamtables.compiler.algebra import Node, Scan
from streamtables.compiler.algebra.found_scan import found_scan, input_with
from streamtables.compiler.algebra.held_values import HeldColumn, Values
from streamtables.compiler.rewrites.wanted_rows import AnyOf, LookupBook

Place = tuple[Node, str]
"""An input of a join, and a column of it."""


def found_by_partner(ours: Place, theirs: Place, book: LookupBook) -> Node:
    """Return our input with rows that are found by theirs; as it is where that spares nothing."""
    node, column = ours
    mine, partner = found_scan(*ours), found_scan(*theirs)
    if mine is None or partner is None or mine[0].conditions or not partner[0].conditions:
        return node
    (scan, source), (other, other_source) = mine, partner
    any_of, by_them = book.wanted(scan), _values(book.wanted(other), other_source)
    if len(any_of) != 1 or by_them is None:
        return node
    asked = dict(any_of[0])
    # What the partner was asked by besides may find other rows; the same values find fewer.
    if source not in asked or asked[source].columns != by_them.columns:
        return node
    asked[source] = Values(frozenset({HeldColumn(other.table, other.relation, other_source)}))
    return _with_scan(node, column, book.found_anew(scan, tuple(asked.items())))


def _values(any_of: AnyOf, source: str) -> Values | None:
    return dict(any_of[0]).get(source) if len(any_of) == 1 else None


def _with_scan(node: Node, column: str, scan: Scan) -> Node:
    """Return a relation with another scan under a column."""
    if isinstance(node, Scan):
        return scan
    below = input_with(node, column)
    assert below is not None
    place, name = below
    inputs = list(node.inputs)
    inputs[place] = _with_scan(inputs[place], name, scan)
    return node.with_inputs(*inputs)
