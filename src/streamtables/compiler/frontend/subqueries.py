"""Subqueries inside expressions: each is bound where it stands, and a column takes its place.

What the column holds is worked out when the subquery is attached to the relation that the
expression reads (attach.py): for a scalar subquery its value, for EXISTS, IN and quantified
comparisons their answer: true, false or NULL.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from sqlglot import exp

from streamtables.compiler.algebra.expressions import columns_in
from streamtables.compiler.frontend.binding import Binding, Bound, column
from streamtables.compiler.types import BOOLEAN, SqlType

Kind = Literal["scalar", "exists", "any"]


@dataclass(frozen=True)
class Subquery:
    """A bound subquery and the name of the column that stands for it.

    `any` is true when `operands operator row` is true for some row; IN is `= ANY`.  Where some
    comparison is NULL and none is true the answer is `unknown`.
    """

    kind: Kind
    name: str
    bound: Bound
    operands: tuple[exp.Expr, ...] = ()
    operator: type[exp.Binary] = exp.EQ
    unknown: bool | None = None

    @property
    def type(self) -> SqlType:
        """The type of the column."""
        return self.bound.columns[0].type if self.kind == "scalar" else BOOLEAN

    def reference(self) -> exp.Column:
        """Return the column that stands for it, in a form that binding leaves alone."""
        stands = column(self.name)
        stands.meta["bound"] = True
        return stands


@dataclass
class Subqueries:
    """The subqueries of one expression, or of several that are read together."""

    found: list[Subquery] = field(default_factory=list)
    one_moment: bool = False
    """Whether all calls of the current time read one column: so the same text is the same value."""

    def add(
        self,
        kind: Kind,
        bound: Bound,
        binding: Binding,
        operands: tuple[exp.Expr, ...] = (),
        operator: type[exp.Binary] = exp.EQ,
        unknown: bool | None = None,
    ) -> exp.Column:
        """Keep a subquery, and return the column that stands for it."""
        name = binding.namer.fresh(kind)
        self.found.append(Subquery(kind, name, bound, operands, operator, unknown))
        return self.found[-1].reference()

    def in_expression(self, expression: exp.Expr) -> Subqueries:
        """Return those that an expression reads."""
        read = columns_in(expression)
        return Subqueries([item for item in self.found if item.name in read])

    def without(self, other: Subqueries) -> Subqueries:
        """Return those that another collection does not have."""
        taken = {item.name for item in other.found}
        return Subqueries([item for item in self.found if item.name not in taken])

    def types(self) -> dict[str, SqlType]:
        """Return the types of the columns that stand for the subqueries."""
        return {item.name: item.type for item in self.found}
