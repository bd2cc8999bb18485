"""LATERAL: a subquery in FROM that reads what stands before it."""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra import Node
from streamtables.compiler.frontend.attach import right_side
from streamtables.compiler.frontend.binding import Binding
from streamtables.compiler.frontend.expressions import bind_expression, conjuncts
from streamtables.compiler.frontend.from_parts import FromClause, with_condition
from streamtables.compiler.frontend.probes import left_join
from streamtables.compiler.frontend.scope import Relation, Scope


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
    right, conditions = right_side(node, inner, binding)
    scope = clause.scope.beside(Scope.of(relation))
    on = join.args.get("on")
    if side == "LEFT":
        bound = conjuncts(bind_expression(on, scope, binding)) if on is not None else []
        bound = [item for item in bound if item != exp.true()]
        joined = left_join(node, right, [*conditions, *bound], binding)
        return FromClause((joined,), scope)
    both = FromClause((node, right), scope).with_conditions(conditions)
    return with_condition(both, on, binding) if on is not None else both
