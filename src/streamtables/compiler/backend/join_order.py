"""The order in which a join's inputs are joined, and where each condition goes.

A term of a delta starts from its changes and walks the join graph outwards, so that the running
result stays small.  A query without changes keeps the order the user wrote.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from streamtables.compiler.algebra import InnerJoin, Node
from streamtables.compiler.algebra.bounded import is_bounded


@dataclass(frozen=True)
class JoinStep:
    """One input and the conditions that can be checked once it is joined."""

    part: Node
    conditions: tuple[exp.Expr, ...]


def join_steps(join: InnerJoin) -> list[JoinStep]:
    """Return the inputs in the order of joining."""
    waiting = [(condition, _columns(condition)) for condition in join.conditions]
    parts = _ordered(join, [read for _, read in waiting])
    reached: set[str] = set()
    steps: list[JoinStep] = []
    for part in parts:
        reached |= set(part.names)
        ready = tuple(condition for condition, read in waiting if read <= reached)
        waiting = [(condition, read) for condition, read in waiting if not read <= reached]
        steps.append(JoinStep(part, ready))
    return steps


def _ordered(join: InnerJoin, reads: list[set[str]]) -> list[Node]:
    start = _start(join)
    if start is None:
        return list(join.parts)
    order, rest = [start], [part for part in join.parts if part is not start]
    reached = set(start.names)
    while rest:
        linked = (part for part in rest if _is_linked(set(part.names), reads, reached))
        chosen = next(linked, rest[0])
        order.append(chosen)
        reached |= set(chosen.names)
        rest = [part for part in rest if part is not chosen]
    return order


def starts_from_changes(join: InnerJoin) -> bool:
    """Whether one input of the join is as small as the changes."""
    return any(is_bounded(part) for part in join.parts)


def _start(join: InnerJoin) -> Node | None:
    """The changes when there are any, else an input that is cut to some keys."""
    small = [part for part in join.parts if is_bounded(part)]
    changes = [part for part in small if part.signed]
    return next(iter([*changes, *small]), None)


def _is_linked(names: set[str], reads: list[set[str]], reached: set[str]) -> bool:
    """Whether some condition joins a part with these columns to what is reached."""
    return any(
        not read.isdisjoint(names) and not read.isdisjoint(reached) and read <= names | reached
        for read in reads
    )


def _columns(expression: exp.Expr) -> set[str]:
    return {item.name for item in expression.find_all(exp.Column)}
