"""A projection that only renames or drops columns of another projection becomes one with it."""

from __future__ import annotations

from dataclasses import replace

from streamtables.compiler.algebra import Node, Project, Projection
from streamtables.compiler.rewrites.rebuild import in_order, rebuild


def merge_projects(root: Node) -> Node:
    """Return the same relation with chains of projections folded, none computed twice."""
    uses: dict[int, int] = {}
    for node in in_order(root):
        for child in node.inputs:
            uses[id(child)] = uses.get(id(child), 0) + 1

    def merge(old: Node, new: Node) -> Node:
        if not isinstance(new, Project) or not isinstance(new.input, Project):
            return new
        shared = uses.get(id(old.inputs[0]), 0) > 1
        if shared or any(item.passes is None for item in new.projections):
            return new
        inner = {item.name: item for item in new.input.projections}
        if _repeats_work(new, inner):
            return new
        folded = tuple(
            replace(inner[item.passes or ""], name=item.name, type=item.type)
            for item in new.projections
        )
        return Project(new.input.input, folded)

    return rebuild(root, merge)


def _repeats_work(outer: Project, inner: dict[str, Projection]) -> bool:
    """Whether an expression would be written more than once."""
    computed = [
        item.passes for item in outer.projections if inner[item.passes or ""].passes is None
    ]
    return len(computed) != len(set(computed))
