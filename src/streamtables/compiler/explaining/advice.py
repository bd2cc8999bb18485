"""What a person could do so that a table costs less, each with its reason, and only when true."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from streamtables.compiler.algebra import (
    Aggregate,
    AggregateCall,
    Filter,
    InnerJoin,
    LeftJoin,
    Node,
    Probe,
    Project,
    Scan,
    TopK,
    Window,
    kind_of,
)
from streamtables.compiler.algebra.expressions import columns_in
from streamtables.compiler.algebra.recursive import reads_itself
from streamtables.compiler.frontend.dialect import parse_query
from streamtables.compiler.frontend.typing import type_of
from streamtables.compiler.maintenance.exactness import is_exact
from streamtables.compiler.maintenance.stored_state import as_aggregate, is_kept
from streamtables.compiler.plan_text import call_text, expression_text, short
from streamtables.compiler.rewrites.carry_key import carry_key
from streamtables.compiler.rewrites.rebuild import in_order, rebuild
from streamtables.compiler.types import UNKNOWN

if TYPE_CHECKING:
    from streamtables.compiler.plan import Plan


@dataclass(frozen=True)
class Advice:
    """Something to do, and why it would help."""

    code: str
    text: str
    reason: str


def advice(plan: Plan, *, sources: Collection[str] | None = None) -> list[Advice]:
    """Return what would make a query cheaper to maintain.

    `sources` are the tables whose key somebody can declare; None means all of them.
    """
    if not plan.incremental:
        return list(about_refusals(plan))
    nodes = in_order(plan.definition)
    own = plan.tables if sources is None else sources
    bags, not_in = list(about_bags(plan, own)), list(about_not_in(plan))
    found = [
        *bags,
        *([] if any(item.code == "declare-key" for item in bags) else about_keys(nodes, own)),
        *about_whole([node for node in nodes if node is not _told_by_stored(plan)]),
        *(not_in or about_scalars(plan, nodes)),
        *about_floats(nodes),
        *about_mixed_aggregates(plan),
        *about_having(plan),
    ]
    return list(dict.fromkeys(found))


def about_refusals(plan: Plan) -> Iterator[Advice]:
    """Say what to do about the parts that no rule follows."""
    for refusal in plan.refusals:
        yield Advice(
            "refused",
            refusal.hint or "Rewrite the refused part, or choose mode 'full'.",
            f"every refresh computes the whole query: {refusal.reason.rstrip('.')}",
        )


def about_keys(nodes: list[Node], sources: Collection[str]) -> Iterator[Advice]:
    """Ask for the keys of sources that are joined by equality and have none."""
    joined = (node for node in nodes if isinstance(node, InnerJoin | LeftJoin))
    joins = [node for node in joined if not reads_itself(node)]
    scans = [scan for join in joins for scan in _joined_scans(join) if _may_declare(scan, sources)]
    if scans:
        listed = _quoted(scan.table for scan in scans)
        yield Advice(
            "declare-key",
            f"Declare the key of {listed}, if there is one.",
            "without a key a joined row may match any number of rows",
        )


def _joined_scans(join: InnerJoin | LeftJoin) -> Iterator[Scan]:
    equal = {name for pair in join.equalities for name in pair}
    for part in join.inputs:
        scan = _scan_below(part)
        if scan is not None and not equal.isdisjoint(part.names):
            yield scan


def _scan_below(node: Node) -> Scan | None:
    while isinstance(node, Filter | Project):
        node = node.input
    return node if isinstance(node, Scan) else None


def _may_declare(scan: Scan, sources: Collection[str]) -> bool:
    return scan.table_key is None and scan.table in sources


def about_bags(plan: Plan, sources: Collection[str]) -> Iterator[Advice]:
    """Say what it means that the rows of a result have no key, and whence one could come."""
    if plan.key is not None or plan.root is None:
        return
    nodes = [node for node in in_order(plan.root) if isinstance(node, Scan)]
    keyless = [node.table for node in nodes if _may_declare(node, sources)]
    reason = "the result has no key, so equal rows are counted, and a row is found by all columns"
    if keyless and _would_have_key(plan.root):
        text = f"Declare the key of {_quoted(keyless)}: the result would have one too."
        yield Advice("declare-key", text, reason)
    else:
        text = "Group the rows, or write SELECT DISTINCT, if equal rows should be one."
        yield Advice("no-key", text, reason)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in dict.fromkeys(names))


def _would_have_key(root: Node) -> bool:
    """Whether the result had a key if every source had one."""

    def with_key(_: Node, new: Node) -> Node:
        if isinstance(new, Scan) and new.table_key is None:
            return replace(new, table_key=(new.fields[0].source,))
        return new

    keyed = rebuild(root, with_key)
    return isinstance(keyed, Project) and carry_key(keyed).key is not None


def _told_by_stored(plan: Plan) -> Node | None:
    """Return the first rows at the root, where those that are stored tell the next ones."""
    kept = plan.filling if plan.root is not None else None
    return kept.chain.keyed if kept is not None and kept.first and kept.chain else None


def about_whole(nodes: list[Node]) -> Iterator[Advice]:
    """Name operators that look at a whole table, and what would confine them."""
    for node in nodes:
        match node:
            case Window(partition=(), input=Window(partition=())):
                # The one below, which this one shows to all peers, says it.
                continue
            case Window(partition=()):
                text = "Add PARTITION BY, if what is computed may start anew in each partition."
                yield Advice("whole-window", text, f"{short(node)} has one partition of all rows")
            case TopK(partition=()):
                text = "Keep the rows without LIMIT, and take the first ones where they are read."
                yield Advice("first-rows", text, f"{short(node)} is taken again from all rows")
            case Aggregate(group=()) if not all(is_kept(call) for call in node.calls):
                text = "Aggregate by a group first, and over the groups in a second stream table."
                yield Advice("whole-aggregate", text, f"{short(node)} looks at all rows")
            case Probe() if kind_of(node) == "whole":
                yield _without_type(node) or _without_equality(node)
            case InnerJoin() if _has_loose_input(node):
                yield _without_equality(node)


def _without_equality(node: Node) -> Advice:
    text = "Add an equality of columns to the condition of the join, if there is one that holds."
    return Advice("no-equality", text, f"{short(node)} compares a changed row with every row")


def _without_type(node: Probe) -> Advice | None:
    """Name an equality of both sides by which no rows are found, as its types are not one."""
    types = {item.name: item.type for side in node.inputs for item in side.columns}
    for condition in node.conditions:
        if not isinstance(condition, exp.EQ | exp.NullSafeEQ) or not _is_across(condition, node):
            continue
        sides = (condition.this, condition.expression)
        found = [(expression_text(side), type_of(side, types)) for side in sides]
        unknown = [text for text, type_ in found if type_ == UNKNOWN]
        unlike = " and ".join(f"{text} is {type_}" for text, type_ in found)
        why = f"the type of {unknown[0]} is not known" if unknown else unlike
        return Advice(
            "cast-equality",
            f'Cast both sides of "{expression_text(condition)}" to one type.',
            f"{why}, so {short(node)} compares a changed row with every row",
        )
    return None


def _is_across(condition: exp.Binary, node: Probe) -> bool:
    """Whether each side of a condition reads one input, and not the same."""
    one, other = columns_in(condition.this), columns_in(condition.expression)
    ours, theirs = set(node.left.names), set(node.right.names)
    across = (one <= ours and other <= theirs) or (one <= theirs and other <= ours)
    return bool(one and other) and across


def _has_loose_input(join: InnerJoin) -> bool:
    equal = {name for pair in join.equalities for name in pair}
    # An input of one row is met by every row, and costs nothing.
    many = [part for part in join.parts if part.key != ()]
    return len(many) > 1 and any(equal.isdisjoint(part.names) for part in many)


def about_scalars(plan: Plan, nodes: list[Node]) -> Iterator[Advice]:
    """Name an aggregate of all rows that another operator reads."""
    chain = plan.filling.chain
    for node in nodes:
        if not isinstance(node, Aggregate) or node.group:
            continue
        below = chain is None or node is not chain.keyed
        if below and all(is_kept(call) for call in node.calls):
            yield Advice(
                "whole-scalar",
                f"Make a stream table of {short(node)}, and read it here.",
                "below another operator it is computed from all rows; as a table it is kept from "
                "what changed",
            )


def about_not_in(plan: Plan) -> Iterator[Advice]:
    """Name the form of NOT IN that asks for no count of NULLs."""
    for node in parse_query(plan.sql).find_all(exp.Not):
        if isinstance(node.this, exp.In) and node.this.args.get("query") is not None:
            yield Advice(
                "not-in",
                "Write NOT EXISTS instead of NOT IN, if neither side can be NULL: it means the "
                "same there.",
                "NOT IN has to count the NULLs of the whole subquery at each refresh",
            )


def about_floats(nodes: list[Node]) -> Iterator[Advice]:
    """Name aggregates of floats, which are computed again group by group."""
    calls = [call for node in nodes if isinstance(node, Aggregate) for call in node.calls]
    for call in calls:
        if call.approximate:
            continue
        if not is_exact(call) or call.sorted_sum:
            yield Advice(
                "float-aggregate",
                f'Cast the argument of "{call.function}" to DECIMAL, if it is money or a measure '
                "with fixed digits, or set the option approximate_floats.",
                "sums of floats depend on the order of rows, so touched groups are computed again",
            )


def about_mixed_aggregates(plan: Plan) -> Iterator[Advice]:
    """Name aggregates that could be kept by stored state, were it not for others beside them."""
    calls = _calls_at_root(plan)
    added = [call_text(call) for call in calls if is_kept(call)]
    others = [call_text(call) for call in calls if not is_kept(call)]
    if added and others:
        yield Advice(
            "mixed-aggregates",
            f"Keep {', '.join(others)} in a stream table of its own.",
            f"{', '.join(added)} could be kept by stored state; beside the others all groups that "
            "changed are computed again",
        )


def about_having(plan: Plan) -> Iterator[Advice]:
    """Say that a condition on groups keeps aggregates from being stored state."""
    chain, calls = plan.maintenance.chain, _calls_at_root(plan)
    if chain is not None and chain.filtered and calls and all(map(is_kept, calls)):
        yield Advice(
            "having",
            "Set the option store_groups, or leave the condition out and filter where the table "
            "is read.",
            "groups that the condition hides have no stored state, so touched groups are computed "
            "again",
        )


def _calls_at_root(plan: Plan) -> tuple[AggregateCall, ...]:
    chain = plan.filling.chain
    aggregate = as_aggregate(chain.keyed) if chain is not None else None
    return aggregate.calls if aggregate is not None else ()
