"""The relational algebra: one file per operator, with its node and its delta rule."""

from streamtables.compiler.algebra.aggregate import Aggregate, AggregateCall
from streamtables.compiler.algebra.clock import CLOCK_COLUMN, CLOCK_TABLE, Clock
from streamtables.compiler.algebra.constant import Constant
from streamtables.compiler.algebra.distinct import Distinct
from streamtables.compiler.algebra.existence import Existence
from streamtables.compiler.algebra.filter import Filter
from streamtables.compiler.algebra.generate import Generate
from streamtables.compiler.algebra.inner_join import InnerJoin
from streamtables.compiler.algebra.keyed import Keyed
from streamtables.compiler.algebra.left_join import LeftJoin
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
from streamtables.compiler.algebra.probe import Probe
from streamtables.compiler.algebra.probe_delta import delta_probe
from streamtables.compiler.algebra.project import Project, Projection
from streamtables.compiler.algebra.recursive import Itself, Recursive
from streamtables.compiler.algebra.recursive_delta import delta_recursive
from streamtables.compiler.algebra.recursive_sides import OneSided
from streamtables.compiler.algebra.restriction import Keys, Restrict, restrict
from streamtables.compiler.algebra.scan import Scan, ScanColumn
from streamtables.compiler.algebra.signed import Negate, Net, Repeat, Sum, Unfold
from streamtables.compiler.algebra.top_k import TopK
from streamtables.compiler.algebra.touched import Touched
from streamtables.compiler.algebra.union_all import UnionAll
from streamtables.compiler.algebra.weighed import Weighed
from streamtables.compiler.algebra.window import Window, WindowCall

OPERATORS: tuple[type[Node], ...] = (
    Scan,
    Filter,
    Project,
    InnerJoin,
    UnionAll,
    LeftJoin,
    Existence,
    Generate,
    Aggregate,
    Distinct,
    Window,
    TopK,
    Recursive,
    Constant,
    Clock,
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
    Touched,
    Weighed,
    OneSided,
)
"""The operators that only delta rules make."""

__all__ = [
    "CLOCK_COLUMN",
    "CLOCK_TABLE",
    "OPERATORS",
    "SIGNED_OPERATORS",
    "WEIGHT",
    "Aggregate",
    "AggregateCall",
    "Clock",
    "Column",
    "Constant",
    "Distinct",
    "Empty",
    "Existence",
    "Filter",
    "Generate",
    "InnerJoin",
    "Itself",
    "Keyed",
    "Keys",
    "LeftJoin",
    "Negate",
    "Net",
    "Node",
    "OneSided",
    "Probe",
    "Project",
    "Projection",
    "Recursive",
    "Repeat",
    "Restrict",
    "Scan",
    "ScanColumn",
    "Sum",
    "TopK",
    "Touched",
    "Unfold",
    "UnionAll",
    "Weighed",
    "Window",
    "WindowCall",
    "at",
    "delta_probe",
    "delta_recursive",
    "differentiate",
    "kind_of",
    "may_change",
    "restrict",
]
