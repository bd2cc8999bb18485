"""The inputs of a FROM clause while it is being bound.

All conditions of a FROM clause with inner joins, those of WHERE included, are one pool: a condition
on one input filters it, the others join.  The order in which the user wrote the inputs stays.
Conditions with a subquery wait until the inputs are joined: the subquery adds a column to them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from streamtables.compiler.algebra import Filter, InnerJoin, Node
from streamtables.compiler.algebra.expressions import columns_in
from streamtables.compiler.frontend.attach import filtered
from streamtables.compiler.frontend.binding import Binding
from streamtables.compiler.frontend.expressions import (
    all_of,
    bind_expression,
    check_condition,
    check_types,
    conjuncts,
)
from streamtables.compiler.frontend.implied import with_implied
from streamtables.compiler.frontend.scope import Scope
from streamtables.compiler.frontend.subqueries import Subqueries


@dataclass(frozen=True)
class FromClause:
    """The inputs of a FROM clause, what they show, and the conditions met so far."""

    parts: tuple[Node, ...]
    scope: Scope
    conditions: tuple[exp.Expr, ...] = ()
    waiting: tuple[tuple[exp.Expr, Subqueries], ...] = ()

    def beside(self, other: FromClause) -> FromClause:
        """Return both clauses as one, every row beside every other."""
        return FromClause(
            self.parts + other.parts,
            self.scope.beside(other.scope),
            self.conditions + other.conditions,
            self.waiting + other.waiting,
        )

    def with_scope(self, scope: Scope) -> FromClause:
        """Return the clause with other names in reach."""
        return replace(self, scope=scope)

    def with_conditions(self, conditions: list[exp.Expr]) -> FromClause:
        """Return the clause with more conditions in its pool."""
        return replace(self, conditions=(*self.conditions, *conditions))

    def joined(self, binding: Binding) -> Node:
        """Return one relation: each condition as near to its inputs as it can go."""
        parts = list(self.parts)
        local: dict[int, list[exp.Expr]] = {}
        across: list[exp.Expr] = []
        for condition in self.conditions:
            read = columns_in(condition)
            owners = [i for i, part in enumerate(parts) if read & set(part.names)]
            # A column of an enclosing query may take part, whatever else is read.
            if len(owners) == 1:
                local.setdefault(owners[0], []).append(condition)
            else:
                across.append(condition)
        for index, conditions in local.items():
            parts[index] = Filter(parts[index], all_of(conditions))
        if len(parts) > 1:
            node: Node = InnerJoin(tuple(parts), tuple(across))
        else:
            node = Filter(parts[0], all_of(across)) if across else parts[0]
        for condition, subqueries in self.waiting:
            node = filtered(node, condition, subqueries, binding)
        return node


def with_condition(clause: FromClause, condition: exp.Expr, binding: Binding) -> FromClause:
    """Return the clause with the conjuncts of one more condition."""
    found: list[exp.Expr] = []
    waiting: list[tuple[exp.Expr, Subqueries]] = []
    for part in conjuncts(condition):
        subqueries = Subqueries()
        bound = bind_expression(part, clause.scope, binding, subqueries=subqueries)
        if subqueries.found:
            waiting.append((bound, subqueries))
        else:
            found += conjuncts(bound)
    check_conditions(found, clause, binding)
    clause = clause.with_conditions(with_implied(found, binding.types_of(*clause.parts)))
    return replace(clause, waiting=(*clause.waiting, *waiting))


def check_conditions(conditions: list[exp.Expr], clause: FromClause, binding: Binding) -> None:
    """Refuse conditions that are not true or false, or that mix types."""
    types = binding.types_of(*clause.parts)
    for item in conditions:
        check_condition(item, types, binding)
        check_types(item, types, binding)
