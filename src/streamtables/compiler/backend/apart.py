"""Which parts of a program are statements of their own, and how many tables each statement reads.

A part is computed apart when writing it again would read a table again, or take many operators.
Beyond that a statement may grow too wide: a join of n inputs has up to n terms of n tables each,
and the time in which Spark plans a statement grows faster than its tables do.  Past a limit, the
widest parts that are as small as the changes are computed apart, until what remains is within it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass

from streamtables.compiler.algebra import Keys, Net, Node, Scan, Weighed
from streamtables.compiler.algebra.bounded import is_bounded
from streamtables.compiler.algebra.recursive import reads_itself
from streamtables.compiler.rewrites.rebuild import in_order

_REPEATED_AT_MOST = 12
"""How many operators over small rows are rather written again than computed by a statement."""


@dataclass(frozen=True)
class Text:
    """What writing a relation out in full would repeat."""

    operators: int
    scans: int
    """The tables that are read, each as often as Spark reads it, which inlines shared parts."""

    @classmethod
    def of(cls, node: Node, inputs: Sequence[Text]) -> Text:
        """Add up what a relation writes itself and what its inputs do."""
        reads = isinstance(node, Scan) and node.version != "changes" and not node.found
        return cls(
            1 + sum(item.operators for item in inputs),
            int(reads) + sum(item.scans for item in inputs),
        )


@dataclass(frozen=True)
class Apart:
    """The parts that are statements of their own, in the order in which they are computed."""

    parts: tuple[Node, ...]
    texts: tuple[Text, ...]
    """What each of them writes, and last what the statement of the answer does."""

    @property
    def scans(self) -> int:
        """The most tables that one statement reads."""
        return max(text.scans for text in self.texts)

    @property
    def all_scans(self) -> int:
        """How often a table is read by all the statements together."""
        return sum(text.scans for text in self.texts)


def parts_apart(
    root: Node,
    named: Container[int],
    *,
    small_changes: bool = False,
    wanted: Node | None = None,
    scans_at_most: int | None = None,
) -> Apart:
    """Choose the parts of a relation that are computed apart; `wanted` is one whatever it takes."""
    uses = Counter(id(child) for node in in_order(root) for child in node.inputs)
    # Where a single value did not change, Spark sees that nothing is to be weighed by it.
    weighing = {id(node.single) for node in in_order(root) if isinstance(node, Weighed)}
    apart: dict[int, tuple[Node, Text]] = {}
    texts: dict[int, Text] = {}

    def text_of(node: Node) -> Text:
        return Text.of(node, [texts[id(item)] for item in node.inputs if id(item) not in apart])

    for node in in_order(root):
        for part in _too_wide(node, text_of(node), texts, apart, scans_at_most):
            apart[id(part)] = (part, texts[id(part)])
        text = texts[id(node)] = text_of(node)
        if node is root or id(node) not in named:
            continue
        shared = uses[id(node)] > 1 and not isinstance(node, Net) and is_bounded(node)
        if (
            node is wanted
            or (id(node) in weighing and text.scans > 0)
            or (isinstance(node, Keys) and not small_changes)
            or (shared and (text.scans or text.operators > _REPEATED_AT_MOST))
        ):
            apart[id(node)] = (node, text)
    parts = tuple(node for node, _ in apart.values())
    return Apart(parts, (*(text for _, text in apart.values()), texts[id(root)]))


def _too_wide(
    node: Node,
    text: Text,
    texts: dict[int, Text],
    apart: Container[int],
    scans_at_most: int | None,
) -> list[Node]:
    """Return the inputs, widest first, without which a relation reads no more than the limit."""
    if scans_at_most is None or text.scans <= scans_at_most:
        return []
    found: list[Node] = []
    rest = text.scans
    own = {id(item): item for item in node.inputs if id(item) not in apart}
    for item in sorted(own.values(), key=lambda part: -texts[id(part)].scans):
        small = is_bounded(item) and texts[id(item)].scans > 0
        if rest > scans_at_most and small and not reads_itself(item):
            found.append(item)
            rest -= texts[id(item)].scans
    return found
