"""LATERAL: a subquery in FROM that reads what stands before it."""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra import Node
from streamtables.compiler.frontend.attach import attached, right_side
from streamtables.compiler.frontend.binding import Binding
from streamtables.compiler.frontend.clock import with_moments
from streamtables.compiler.frontend.expressions import bind_expression, conjuncts
from streamtables.compiler.frontend.from_parts import FromClause, with_condition
from streamtables.compiler.frontend.probes import left_join
from streamtables.compiler.frontend.scope import Relation, Scope
from streamtables.compiler.frontend.subqueries import Subqueries


def join_lateral(
    clause: FromClause, join: exp.Join, relation: Relation, inner: Node, binding: Binding
) -> FromClause:
    """Return FROM beside a bound subquery whose free columns are those of FROM."""
    side, kind = (join.side or "").upper(), (join.kind or "").upper()
    if side not in ("", "LEFT") or kind in ("SEMI", "ANTI") or join.args.get("using"):
        words = " ".join(word for word in (side, kind, "JOIN LATERAL") if word)
        using = " with USING" if join.args.get("using") else ""
        raise binding.unimplemented(words + using, join)
    node = clause.joined(binding)
    scope = clause.scope.beside(Scope.of(relation))
    on = join.args.get("on")
    if side == "LEFT":
        found = Subqueries()
        timed = with_moments(on, found, binding) if on is not None else exp.true()
        bound = conjuncts(bind_expression(timed, scope, binding))
        node = attached(node, found, binding)
        right, conditions = right_side(node, inner, binding)
        conditions += [item for item in bound if item != exp.true()]
        return FromClause((left_join(node, right, conditions, binding),), scope)
    right, conditions = right_side(node, inner, binding)
    both = FromClause((node, right), scope).with_conditions(conditions)
    return with_condition(both, on, binding) if on is not None else both
