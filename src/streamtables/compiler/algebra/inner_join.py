"""The inner (or cross) join of n inputs, and how a change of any of them reaches its output.

    Δ(R¹ ⋈ … ⋈ Rⁿ) = Σᵢ R¹ ⋈ … ⋈ Rⁱ⁻¹ ⋈ ΔRⁱ ⋈ Rⁱ⁺¹′ ⋈ … ⋈ Rⁿ′

Inputs to the left of the changed one are read before the refresh, those to its right after it, so
each combination of changes is counted exactly once.  The trap: reading both sides after counts
ΔR ⋈ ΔS twice.  Weights multiply.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from sqlglot import exp

from streamtables.compiler.algebra.candidates import Names, candidates, candidates_below
from streamtables.compiler.algebra.keyed import must_be_computed
from streamtables.compiler.algebra.node import (
    Column,
    Kind,
    Node,
    When,
    at,
    delta_rule,
    differentiate,
    kind_of,
    may_change,
)
from streamtables.compiler.algebra.project import Project, Projection
from streamtables.compiler.algebra.restriction import (
    Keys,
    On,
    Restrict,
    push_restriction,
    restrict,
    restrict_partly,
    stays_above,
)
from streamtables.compiler.algebra.signed import Negate, Net, Sum
from streamtables.compiler.algebra.touched import Touched
from streamtables.compiler.types import UNKNOWN
from streamtables.errors import InternalError


@dataclass(frozen=True, eq=False)
class InnerJoin(Node):
    """Every combination of rows, one of each input, for which all conditions are true."""

    parts: tuple[Node, ...]
    conditions: tuple[exp.Expr, ...]

    def __post_init__(self) -> None:
        # The front end renames columns apart, so a clash here is our own bug.
        names = [name for part in self.parts for name in part.names]
        if len(names) != len(set(names)):
            raise InternalError("join inputs share column names")

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(column for part in self.parts for column in part.columns)

    @property
    def inputs(self) -> tuple[Node, ...]:
        return self.parts

    def with_inputs(self, *inputs: Node) -> Node:
        return replace(self, parts=inputs)

    @cached_property
    def equalities(self) -> tuple[tuple[str, str], ...]:
        """Pairs of columns that the conditions make equal."""
        return tuple(
            (condition.this.name, condition.expression.name)
            for condition in self.conditions
            if isinstance(condition, exp.EQ)
            and isinstance(condition.this, exp.Column)
            and isinstance(condition.expression, exp.Column)
        )

    @cached_property
    def key(self) -> tuple[str, ...] | None:
        """The keys of all inputs, without those that the rows of another input already fix."""
        keys = [part.key for part in self.parts]
        if any(key is None for key in keys):
            return None
        needed = list(range(len(self.parts)))
        for index in reversed(range(1, len(self.parts))):
            others = [name for i in needed if i != index for name in self.parts[i].names]
            if self._is_fixed_by(set(keys[index] or ()), set(others)):
                needed.remove(index)
        return tuple(name for i in needed for name in keys[i] or ())

    def _is_fixed_by(self, key: set[str], others: set[str]) -> bool:
        equal = [pair for pair in self.equalities if _same_type(self, *pair)]
        fixed = {b for a, b in equal if a in others} | {a for a, b in equal if b in others}
        return bool(key) and key <= fixed


@delta_rule.register
def delta_inner_join(join: InnerJoin) -> Node:
    """Return one term for each input that may change."""
    changing = changing_inputs(join)
    tree = tree_from_widest(join)
    if tree is not None:
        return _from_widest(join, tree, changing)
    return Sum(tuple(_term(join, index) for index in changing))


def changing_inputs(join: InnerJoin) -> list[int]:
    """Return the places of the inputs that may change."""
    return [index for index, part in enumerate(join.parts) if may_change(part)]


def tree_from_widest(join: InnerJoin) -> JoinTree | None:
    """Return the tree along which one pass finds all changes, where that saves terms."""
    changing = changing_inputs(join)
    tree = JoinTree.of(join) if len(changing) > 2 else None
    if tree is None or not tree.reaches(changing) or must_be_computed(join.parts[tree.root]):
        return None
    return tree


def _term(join: InnerJoin, changed: int) -> Node:
    delta = differentiate(join.parts[changed])
    before = [at("before", part) for part in join.parts[:changed]]
    after = [at("after", part) for part in join.parts[changed + 1 :]]
    walked = [_reachable(join, part, delta) for part in (*before, *after)]
    return join.with_inputs(*walked[:changed], delta, *walked[changed:])


def _from_widest(join: InnerJoin, tree: JoinTree, changing: list[int]) -> Node:
    """Return the change seen from the one input that every combination has a row of its own of.

        Δ(F ⋈ D) = (ΔF + T) ⋈ D′ − T ⋈ D

    T are the rows of F, before, that a changed row of the other inputs D can reach.  They are found
    in one pass over F, where one term for each changed input would read F as often.
    """
    root = tree.root
    wide = at("before", join.parts[root])
    touching = [child for child in tree.children(root) if tree.holds(child, changing)]
    key_sets = tuple(_touched_keys(join, tree, child, changing) for child in touching)
    pairs = tuple(tree.pairs[child] for child in touching)
    touched: Node = Touched(wide, key_sets, pairs)
    rows = Sum((differentiate(join.parts[root]), touched)) if root in changing else touched
    new = _with_root(join, root, rows, "after")
    old = _with_root(join, root, touched, "before")
    return Net(Sum((new, Negate(old))))


def _with_root(join: InnerJoin, root: int, rows: Node, when: When) -> Node:
    parts = [
        rows if index == root else _reachable(join, at(when, part), rows)
        for index, part in enumerate(join.parts)
    ]
    return join.with_inputs(*parts)


def _touched_keys(join: InnerJoin, tree: JoinTree, index: int, changing: list[int]) -> Keys:
    """Return the keys, as the parent knows them, of rows that changed or lead to changed ones."""
    part, names = join.parts[index], tuple(key for _, key in tree.pairs[index])
    found: list[Node] = []
    if index in changing:
        found.append(_cut(differentiate(part), names))
    for child in tree.children(index):
        if tree.holds(child, changing):
            keys = _touched_keys(join, tree, child, changing)
            found.append(_cut(restrict(at("after", part), keys, tree.pairs[child]), names))
    return Keys(found[0] if len(found) == 1 else Sum(tuple(found)), names, nulls=False)


def _cut(node: Node, names: tuple[str, ...]) -> Node:
    shown = tuple(Projection(name, _column(name), node.type_of(name)) for name in names)
    return Project(node, shown)


def _column(name: str) -> exp.Column:
    return exp.Column(this=exp.to_identifier(name, quoted=True))


@dataclass(frozen=True)
class JoinTree:
    """The inputs of a join as a tree of equalities, from the input that fixes all others."""

    root: int
    parents: dict[int, int]
    pairs: dict[int, On]
    """For each input but the root: pairs of a column of its parent and one of its own."""

    @classmethod
    def of(cls, join: InnerJoin) -> JoinTree | None:
        """Return the tree from the one input that looks up one row of each other, if there is one.

        Any root would be right; from this one no row leads to many.
        """
        trees = (cls._from(join, root) for root in range(len(join.parts)))
        whole = [tree for tree in trees if len(tree.parents) == len(join.parts) - 1]
        return whole[0] if len(whole) == 1 else None

    @classmethod
    def _from(cls, join: InnerJoin, root: int) -> JoinTree:
        parents: dict[int, int] = {}
        pairs: dict[int, On] = {}
        reached = [root]
        for index in reached:
            for other in set(range(len(join.parts))) - set(reached):
                found = _pairs(join, index, other)
                key = join.parts[other].key
                if key and set(key) <= {name for _, name in found}:
                    parents[other], pairs[other] = index, found
                    reached.append(other)
        return cls(root, parents, pairs)

    def children(self, index: int) -> list[int]:
        """Return the inputs that hang on one."""
        return [child for child, parent in self.parents.items() if parent == index]

    def holds(self, index: int, wanted: list[int]) -> bool:
        """Whether an input, or one below it, is among some."""
        return index in wanted or any(self.holds(child, wanted) for child in self.children(index))

    def reaches(self, wanted: list[int]) -> bool:
        """Whether all of some inputs are part of the tree."""
        return all(index == self.root or index in self.parents for index in wanted)


def _pairs(join: InnerJoin, parent: int, child: int) -> On:
    ours, theirs = set(join.parts[parent].names), set(join.parts[child].names)
    found: dict[str, str] = {}
    for left, right in join.equalities:
        for column, key in ((left, right), (right, left)):
            if column in ours and key in theirs and _same_type(join, column, key):
                found.setdefault(key, column)
    return tuple((column, key) for key, column in found.items())


def _reachable(join: InnerJoin, part: Node, delta: Node) -> Node:
    """Cut an input that must be computed first to the join keys of the changes.

    A scan needs no such cut: the join itself, walked from the changes, is one.
    """
    if not must_be_computed(part):
        return part
    changed = set(delta.names)
    pairs = tuple(
        (ours, theirs)
        for left, right in join.equalities
        for ours, theirs in ((left, right), (right, left))
        if theirs in changed and ours in part.names and _same_type(join, ours, theirs)
    )
    keys = Keys(delta, tuple(dict.fromkeys(theirs for _, theirs in pairs)), nulls=False)
    return restrict(part, keys, pairs) if pairs else part


def _same_type(join: InnerJoin, left: str, right: str) -> bool:
    """Whether equality of two columns needs no cast, which could make two values equal to one."""
    type_ = join.type_of(left)
    return type_ != UNKNOWN and type_ == join.type_of(right)


@candidates_below.register
def _(node: InnerJoin, names: Names) -> Node | None:
    """Return the keys that changed in each input, where each holds them or their equals."""
    on = tuple((name, name) for name in names)
    found: list[Node] = []
    for part in node.parts:
        if not may_change(part):
            continue
        pairs = _trace(node, part, on)
        if not names or stays_above(on, pairs):
            return None
        own = {key: column for column, key in pairs}
        rows = candidates(part, tuple(dict.fromkeys(own.values())))
        shown = (Projection(name, _column(own[name]), node.type_of(name)) for name in names)
        found.append(Project(rows, tuple(shown)))
    return found[0] if len(found) == 1 else Sum(tuple(found))


@kind_of.register
def _(node: InnerJoin) -> Kind:
    return "multilinear"


@push_restriction.register
def restrict_inner_join(node: InnerJoin, keys: Node, on: On) -> Node:
    """Restrict every input that a key column can be traced to."""
    traced = [_trace(node, part, on) for part in node.parts]
    below = node.with_inputs(
        *(
            restrict_partly(part, keys, on, pairs)
            for part, pairs in zip(node.parts, traced, strict=True)
        )
    )
    # One input that holds every key column enforces the whole restriction by itself.
    whole = any(not stays_above(on, pairs) for pairs in traced)
    return below if whole else Restrict(below, keys, on)


def _trace(join: InnerJoin, part: Node, on: On) -> On:
    """Return the pairs whose column is in `part`, or equals one of the same type there."""
    names = set(part.names)
    pairs: dict[str, str] = {}
    for column, key in on:
        if column in names:
            pairs[key] = column
            continue
        for left, right in (*join.equalities, *((b, a) for a, b in join.equalities)):
            if left == column and right in names and _same_type(join, left, right):
                pairs.setdefault(key, right)
    return tuple((column, key) for key, column in pairs.items())
