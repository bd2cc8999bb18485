"""How each join follows changes, and how each aggregate is kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from streamtables.compiler.algebra import (
    Aggregate,
    AggregateCall,
    Existence,
    InnerJoin,
    Node,
    Probe,
    Scan,
)
from streamtables.compiler.algebra.inner_join import changing_inputs, tree_from_widest
from streamtables.compiler.algebra.keyed import must_be_computed
from streamtables.compiler.algebra.recursive import reads_itself
from streamtables.compiler.maintenance import Maintenance
from streamtables.compiler.maintenance.exactness import is_exact
from streamtables.compiler.maintenance.float_sums import is_float_sum
from streamtables.compiler.maintenance.stored_state import (
    as_aggregate,
    is_extremum,
    is_kept,
)
from streamtables.compiler.plan_text import call_text, describe
from streamtables.compiler.rewrites.rebuild import in_order
from streamtables.compiler.types import is_float

JoinWay = Literal["telescoped", "from-widest", "keyed", "mark", "recursive", "whole"]
AggregateWay = Literal["stored-state", "touched-groups", "whole"]


@dataclass(frozen=True)
class JoinInput:
    """One input of a join, and how the rows of it that changed rows lead to are found."""

    name: str
    met: str


@dataclass(frozen=True)
class JoinStrategy:
    """How changes pass through one join."""

    operator: str
    condition: str
    way: JoinWay
    terms: int
    """How many terms the delta has when every table changes."""
    reason: str
    inputs: tuple[JoinInput, ...]


@dataclass(frozen=True)
class AggregateStrategy:
    """How one aggregate call is kept."""

    call: str
    groups: tuple[str, ...]
    way: AggregateWay
    reason: str
    exact: bool
    """Whether its answer depends on the rows alone, and not on their order."""


_RECURSIVE: tuple[JoinWay, int, str] = (
    "recursive",
    1,
    "it is part of a recursion, which is walked once over both versions of what changed",
)


def join_strategies(definition: Node) -> list[JoinStrategy]:
    """Return how changes pass through each join, from the top down."""
    nodes = reversed(in_order(definition))
    return [join_strategy(node) for node in nodes if isinstance(node, InnerJoin | Probe)]


def join_strategy(node: InnerJoin | Probe) -> JoinStrategy:
    """Return how changes pass through one join."""
    if reads_itself(node):
        way, terms, reason = _RECURSIVE
    else:
        way, terms, reason = _inner(node) if isinstance(node, InnerJoin) else _probe(node)
    inputs = tuple(JoinInput(_name(part), _met(node, part)) for part in node.inputs)
    return JoinStrategy(type(node).__name__, describe(node), way, terms, reason, inputs)


def _inner(join: InnerJoin) -> tuple[JoinWay, int, str]:
    tree = tree_from_widest(join)
    if tree is not None:
        widest = _name(join.parts[tree.root])
        return "from-widest", 2, f"one pass over {widest} finds all that changes elsewhere concern"
    terms = len(changing_inputs(join))
    return "telescoped", terms, "one term for each changed input, walked from its changes"


def _probe(node: Probe) -> tuple[JoinWay, int, str]:
    if not node.equalities:
        reason = "no equality tells which rows of the left side a changed right row concerns"
        return "whole", 3, reason
    terms = "changed left rows, and touched ones with their answers after and before"
    marks = isinstance(node, Existence) and node.mode == "mark"
    return "mark" if marks else "keyed", 3, terms


def _met(join: InnerJoin | Probe, part: Node) -> str:
    equal = _equal_columns(join, part)
    if part.key == ():
        return "its one row"
    if not equal:
        return "every row"
    once = part.key is not None and set(part.key) <= set(equal)
    computed = ", computed for the keys that are looked up" if must_be_computed(part) else ""
    return f"{'one row' if once else 'rows'} by {', '.join(equal)}{computed}"


def _equal_columns(join: InnerJoin | Probe, part: Node) -> list[str]:
    found = dict.fromkeys(name for pair in join.equalities for name in pair)
    return [name for name in found if name in part.names]


def _name(part: Node) -> str:
    tables = dict.fromkeys(node.table for node in in_order(part) if isinstance(node, Scan))
    if reads_itself(part):
        return "the recursion"
    listed = ", ".join(tables) or type(part).__name__
    return f"what is computed from {listed}" if must_be_computed(part) else listed


def aggregate_strategies(maintenance: Maintenance) -> list[AggregateStrategy]:
    """Return how each aggregate call is kept, from the top down."""
    return [
        found
        for node in reversed(in_order(maintenance.definition))
        if isinstance(node, Aggregate)
        for found in _of_aggregate(maintenance, node)
    ]


def _of_aggregate(maintenance: Maintenance, node: Aggregate) -> Iterator[AggregateStrategy]:
    at_root = maintenance.chain is not None and maintenance.chain.keyed is node
    for call in node.calls:
        way, reason = _way(maintenance, node, call, at_root=at_root)
        yield AggregateStrategy(call_text(call), node.group, way, reason, is_exact(call))


def _way(
    maintenance: Maintenance, node: Aggregate, call: AggregateCall, *, at_root: bool
) -> tuple[AggregateWay, str]:
    if at_root and maintenance.state is not None:
        return "stored-state", _how_kept(node, call)
    way: AggregateWay = "touched-groups" if node.group else "whole"
    if not at_root:
        return way, "it stands below another operator, and its old value is not stored"
    if not is_kept(call):
        return way, why_not_kept(call)
    return way, why_no_state(maintenance)


def _how_kept(node: Aggregate, call: AggregateCall) -> str:
    """Return how the stored state of a call follows a change."""
    if is_float_sum(call):
        return (
            "its change is added to the stored sum while that is known to nine digits; else, and "
            "where Infinity or NaN stand in a group, the group is computed again"
        )
    if is_extremum(call):
        lost = (
            "a group that lost it is computed again"
            if node.group
            else "when it goes, all rows are looked at"
        )
        return f"the stored value improves with rows that come; {lost}"
    added = "its change is added to the stored sums and counts"
    if any(is_extremum(other) or is_float_sum(other) for other in node.calls):
        return f"{added}; changes too large for the driver compute touched groups again"
    return added


def why_no_state(maintenance: Maintenance) -> str:
    """Return why the groups at the root have no stored state."""
    assert maintenance.chain is not None
    if maintenance.chain.filtered:
        return "a condition hides some groups, whose state is not stored"
    aggregate = as_aggregate(maintenance.chain.keyed)
    for call in aggregate.calls if aggregate is not None else ():
        if not is_kept(call):
            return why_not_kept(call)
    return "an expression stands between the groups and the output"


def why_not_kept(call: AggregateCall) -> str:
    """Return why an aggregate does not follow from its old value and the change."""
    if call.function in ("min", "max"):
        kind = call.argument_types[0] if call.argument_types else "this type"
        return f'"{call.function}" of {kind} looks at all rows of a group'
    if call.distinct:
        return f'"{call.function}" of DISTINCT values'
    if call.argument_types and is_float(call.argument_types[0]):
        return f'"{call.function}" of {call.argument_types[0]} has no exact sum to add to'
    return f'"{call.function}" does not follow from sums and counts'
