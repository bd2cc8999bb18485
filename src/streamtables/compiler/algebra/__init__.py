"""The relational algebra: one file per operator, with its node and its delta rule."""

from streamtables.compiler.algebra.aggregate import Aggregate, AggregateCall
from streamtables.compiler.algebra.distinct import Distinct
from streamtables.compiler.algebra.filter import Filter
from streamtables.compiler.algebra.inner_join import InnerJoin
from streamtables.compiler.algebra.keyed import Keyed
from streamtables.compiler.algebra.node import (
    WEIGHT,
    Column,
    Empty,
    Node,
    at,
    differentiate,
    kind_of,
    may_change,
)
from streamtables.compiler.algebra.project import Project, Projection
from streamtables.compiler.algebra.restriction import Keys, Restrict, restrict
from streamtables.compiler.algebra.scan import Scan, ScanColumn
from streamtables.compiler.algebra.signed import Negate, Net, Repeat, Sum, Unfold
from streamtables.compiler.algebra.union_all import UnionAll

OPERATORS: tuple[type[Node], ...] = (
    Scan,
    Filter,
    Project,
    InnerJoin,
    UnionAll,
    Aggregate,
    Distinct,
)
"""Every operator that a query can be made of."""

SIGNED_OPERATORS: tuple[type[Node], ...] = (
    Sum,
    Negate,
    Net,
    Repeat,
    Unfold,
    Empty,
    Keys,
    Restrict,
)
"""The operators that only delta rules make."""

__all__ = [
    "OPERATORS",
    "SIGNED_OPERATORS",
    "WEIGHT",
    "Aggregate",
    "AggregateCall",
    "Column",
    "Distinct",
    "Empty",
    "Filter",
    "InnerJoin",
    "Keyed",
    "Keys",
    "Negate",
    "Net",
    "Node",
    "Project",
    "Projection",
    "Repeat",
    "Restrict",
    "Scan",
    "ScanColumn",
    "Sum",
    "Unfold",
    "UnionAll",
    "at",
    "differentiate",
    "kind_of",
    "may_change",
    "restrict",
]
