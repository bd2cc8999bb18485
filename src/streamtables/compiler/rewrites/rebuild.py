"""Walking and rebuilding a plan whose parts may be shared."""

from __future__ import annotations

from collections.abc import Callable

from streamtables.compiler.algebra.node import Node


def in_order(root: Node) -> list[Node]:
    """Return every node once, each after all of its inputs."""
    order: list[Node] = []
    seen: set[int] = set()

    def visit(node: Node) -> None:
        if id(node) in seen:
            return
        seen.add(id(node))
        for child in node.inputs:
            visit(child)
        order.append(node)

    visit(root)
    return order


def rebuild(root: Node, change: Callable[[Node, Node], Node]) -> Node:
    """Rebuild from the leaves up; `change` gets the old node and the new one over new inputs.

    A node whose inputs did not change is passed on as it is, so what was shared stays shared.
    """
    rebuilt: dict[int, Node] = {}
    for node in in_order(root):
        inputs = tuple(rebuilt[id(child)] for child in node.inputs)
        same = all(new is old for new, old in zip(inputs, node.inputs, strict=True))
        rebuilt[id(node)] = change(node, node if same else node.with_inputs(*inputs))
    return rebuilt[id(root)]
