"""Up to which size a program is made in the plain way, and what is done beyond it.

`before` is taken as `after − changes`, so that no old version is opened.  In a join each input is
then two relations, which Spark must plan and join: a wide one reads the old versions instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from streamtables.compiler.algebra import InnerJoin, Node
from streamtables.compiler.rewrites.rebuild import in_order


@dataclass(frozen=True)
class Limits:
    """The sizes beyond which a program is made in another way."""

    join_inputs: int
    """How many inputs a join may have while `before` is derived."""
    scans: int
    """How many tables one statement may read before parts of it are computed apart."""

    def before(self, definition: Node) -> Literal["read", "derived"]:
        """Return how the tables of a definition are had as they stood before the refresh."""
        return "read" if widest_join(definition) > self.join_inputs else "derived"


def widest_join(definition: Node) -> int:
    """Return how many inputs the widest join has; 0 where there is none."""
    joins = (node for node in in_order(definition) if isinstance(node, InnerJoin))
    return max((len(join.parts) for join in joins), default=0)
