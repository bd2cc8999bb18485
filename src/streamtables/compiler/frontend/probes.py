"""Making joins that look up each left row by itself: conditions go where they help most.

A condition on the right side alone filters it.  An equality of two expressions becomes one of two
columns, computed below the join, so that the rows to look at can be found by their key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from streamtables.compiler.algebra import (
    Existence,
    Filter,
    LeftJoin,
    Node,
    Project,
    Projection,
)
from streamtables.compiler.algebra.expressions import columns_in
from streamtables.compiler.frontend.binding import Binding, column
from streamtables.compiler.frontend.expressions import all_of
from streamtables.compiler.frontend.typing import type_of
from streamtables.compiler.types import UNKNOWN, SqlType, wider

Conditions = list[exp.Expr]


def left_join(left: Node, right: Node, conditions: Conditions, binding: Binding) -> LeftJoin:
    """Return LEFT OUTER JOIN of two relations."""
    sides = _Sides(left, right, binding).with_conditions(conditions)
    return LeftJoin(sides.left, sides.right, tuple(sides.conditions))


def existence(
    left: Node,
    right: Node,
    conditions: Conditions,
    mode: Literal["semi", "anti"],
    binding: Binding,
) -> Existence:
    """Return the left rows that have a match, or those that have none."""
    sides = _Sides(left, right, binding).with_conditions(conditions)
    return Existence(sides.left, sides.right, tuple(sides.conditions), mode)


def mark(left: Node, right: Node, conditions: Conditions, binding: Binding) -> Existence:
    """Return all left rows with one more column that says whether they have a match."""
    sides = _Sides(left, right, binding).with_conditions(conditions)
    name = binding.namer.fresh("found")
    return Existence(sides.left, sides.right, tuple(sides.conditions), "mark", name)


@dataclass(frozen=True)
class _Sides:
    """Both inputs, and the conditions between them."""

    left: Node
    right: Node
    binding: Binding
    conditions: tuple[exp.Expr, ...] = ()

    def with_conditions(self, conditions: Conditions) -> _Sides:
        own = set(self.right.names)
        local = [item for item in conditions if columns_in(item) and columns_in(item) <= own]
        right = Filter(self.right, all_of(local)) if local else self.right
        sides = _Sides(self.left, right, self.binding)
        for condition in conditions:
            if condition not in local:
                sides = sides._with_condition(condition)
        return sides

    def _with_condition(self, condition: exp.Expr) -> _Sides:
        if isinstance(condition, exp.EQ | exp.NullSafeEQ):
            ours, theirs = condition.this, condition.expression
            if not self._reads(ours, self.left):
                ours, theirs = theirs, ours
            if self._reads(ours, self.left) and self._reads(theirs, self.right):
                return self._with_equality(ours, theirs, type(condition))
        return _Sides(self.left, self.right, self.binding, (*self.conditions, condition))

    def _reads(self, expression: exp.Expr, side: Node) -> bool:
        read = columns_in(expression)
        return bool(read) and read <= set(side.names)

    def _with_equality(
        self, ours: exp.Expr, theirs: exp.Expr, operator: type[exp.Binary]
    ) -> _Sides:
        types = {item.name: item.type for side in (self.left, self.right) for item in side.columns}
        ours_type, theirs_type = type_of(ours, types), type_of(theirs, types)
        common = UNKNOWN if UNKNOWN in (ours_type, theirs_type) else wider(ours_type, theirs_type)
        if common == UNKNOWN:
            condition = operator(this=ours, expression=theirs)
            return _Sides(self.left, self.right, self.binding, (*self.conditions, condition))
        left, ours = _as_column(self.left, ours, ours_type, common, self.binding)
        right, theirs = _as_column(self.right, theirs, theirs_type, common, self.binding)
        condition = operator(this=ours, expression=theirs)
        return _Sides(left, right, self.binding, (*self.conditions, condition))


def _as_column(
    node: Node, expression: exp.Expr, type_: SqlType, wanted: SqlType, binding: Binding
) -> tuple[Node, exp.Expr]:
    """Return a relation that shows an expression as a column of a type, and that column."""
    if isinstance(expression, exp.Column) and type_ == wanted:
        return node, expression
    value = expression.copy()
    if type_ != wanted:
        value = exp.cast(exp.paren(value, copy=False), wanted, dialect="spark")
    name = binding.namer.fresh("join_key")
    return with_column(node, Projection(name, value, wanted)), column(name)


def with_column(node: Node, *more: Projection) -> Project:
    """Return a relation with further columns computed from its own."""
    passed = tuple(Projection(item.name, column(item.name), item.type) for item in node.columns)
    return Project(node, passed + more)
