"""Both versions of a relation in one bag, each row with the side on which it stands.

    side  0     X′ ▷ K          rows like none that changed: the same in X and in X′
    side  1     X′ ⋉ K          the others, after
    side −1     X′ ⋉ K − ΔX     the others, before

K are the values of the changed rows.  Sides −1 and 0 together are X, sides 0 and 1 together X′,
with every copy of a row counted, and no old version is opened.  The trap: of a row with several
copies some may have appeared while the others stayed, so side −1 is counted, not looked up.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from streamtables.compiler.algebra.existence import Existence
from streamtables.compiler.algebra.node import WEIGHT, Column, Node, Unary, at, differentiate
from streamtables.compiler.algebra.project import Project, Projection
from streamtables.compiler.algebra.restriction import Keys, restrict
from streamtables.compiler.algebra.signed import Negate, Net, Repeat, Sum, Unfold
from streamtables.compiler.algebra.union_all import UnionAll
from streamtables.compiler.types import BIGINT, has_plain_image

SIDE = "__st_side"

_CHANGED = "__st_changed_"


@dataclass(frozen=True, eq=False)
class OneSided(Unary):
    """The rows that only one of two versions holds: weight 1 when it is the new one, else −1.

    The last column of the input is the side.
    """

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns[:-1]

    @property
    def signed(self) -> bool:
        return True


def can_be_sided(node: Node) -> bool:
    """Whether rows like a changed one can be found by some column, so that few are counted."""
    return bool(_compared(node))


def both_versions(node: Node, side: str = SIDE) -> Node:
    """Return all rows of both versions of a relation, with their side as the last column."""
    same, new, old = _split(node)
    return UnionAll((on_side(0, same, side), on_side(1, new, side), on_side(-1, old, side)))


def moved_rows(node: Node) -> Node:
    """Return the rows that went and that appeared, with their side as the last column."""
    rows = Unfold(Repeat(_netted_changes(node)))
    return with_columns(rows, node, Projection(SIDE, column(WEIGHT), BIGINT))


def on_side(value: int, rows: Node, side: str = SIDE) -> Node:
    """Return rows with the one side that they all are on as the last column."""
    return with_columns(rows, rows, Projection(side, number(value), BIGINT))


def _split(node: Node) -> tuple[Node, Node, Node]:
    """Return the rows that are like no changed one, and the others after and before."""
    after, changes, names = at("after", node), _netted_changes(node), _compared(node)
    renamed = Project(
        changes,
        tuple(Projection(_CHANGED + name, column(name), node.type_of(name)) for name in names),
    )
    keys = Keys(renamed, renamed.names)
    pairs = tuple(zip(names, renamed.names, strict=True))
    alike = tuple(exp.NullSafeEQ(this=column(own), expression=column(key)) for own, key in pairs)
    new = restrict(after, keys, pairs)
    old = Repeat(Net(Sum((new, Negate(changes)))), plain=True)
    return Existence(after, keys, alike, "anti"), new, old


def _netted_changes(node: Node) -> Node:
    changes = differentiate(node)
    return changes if isinstance(changes, Net) else Net(changes)


def _compared(node: Node) -> tuple[str, ...]:
    """Return the columns to find equal rows by; leaving some out only means to count more rows."""
    return tuple(item.name for item in node.columns if has_plain_image(item.type))


def with_columns(rows: Node, like: Node, *more: Projection) -> Node:
    """Return the columns that a relation has, in its order, and some more after them."""
    same = (Projection(item.name, column(item.name), item.type) for item in like.columns)
    return Project(rows, (*same, *more))


def column(name: str) -> exp.Column:
    """Return a reference to a column."""
    return exp.Column(this=exp.to_identifier(name, quoted=True))


def number(value: int) -> exp.Expr:
    """Return a number of the type of a side."""
    return exp.cast(exp.Literal.number(value), BIGINT, dialect="spark")
