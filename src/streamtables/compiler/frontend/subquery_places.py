"""Finding the subqueries and the calls of the clock in an expression, and binding each in place."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from streamtables.compiler.frontend.binding import Binding, Bound
from streamtables.compiler.frontend.clock import at_the_moment, clock_call
from streamtables.compiler.frontend.dialect import span_of
from streamtables.compiler.frontend.subqueries import Subqueries
from streamtables.errors import SqlTypeError

BindOperand = Callable[[exp.Expr], exp.Expr]

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
_NEGATED: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.LT: exp.GTE,
    exp.GTE: exp.LT,
    exp.GT: exp.LTE,
    exp.LTE: exp.GT,
}


def without_subqueries(
    node: exp.Expr, binding: Binding, bind_operand: BindOperand, found: Subqueries
) -> exp.Expr:
    """Bind the outermost subqueries, and put columns in their places.

    `binding` is that of a query inside the expression; `bind_operand` binds what stands before IN.
    """

    def bound(query: exp.Expr) -> Bound:
        bare = query.unnest()
        assert isinstance(bare, exp.Query)
        return binding.bind_query(bare, binding)

    def compared(
        operand: exp.Expr,
        query: exp.Expr,
        operator: type[exp.Binary],
        *,
        unknown: bool | None = None,
    ) -> exp.Column:
        inner = bound(query)
        operand = operand.unnest()
        values = operand.expressions if isinstance(operand, exp.Tuple) else [operand]
        if len(values) != len(inner.columns):
            raise SqlTypeError(
                f"{len(values)} values compared with a subquery of {len(inner.columns)} columns",
                sql=binding.sql,
                span=span_of(node),
                hint="Give the subquery one column for each value.",
            )
        operands = tuple(bind_operand(item) for item in values)
        return found.add("any", inner, binding, operands, operator, unknown)

    if (moment := clock_call(node)) is not None:
        return at_the_moment(moment, found, binding)
    match node:
        case exp.Exists() if isinstance(node.this, exp.Query):
            return found.add("exists", bound(_without_limit(node.this)), binding)
        case exp.In() if node.args.get("query"):
            return compared(node.this, node.args["query"], exp.EQ, unknown=_is_denied(node))
        case exp.Binary() if isinstance(node, _COMPARISONS) and _quantified(node.expression):
            query, operator = node.expression.this, type(node)
            if isinstance(node.expression, exp.Any):
                return compared(node.this, query, operator)
            return exp.Not(this=compared(node.this, query, _NEGATED[operator]))
        case exp.Subquery() | exp.Select() | exp.SetOperation():
            inner = bound(node)
            if len(inner.columns) != 1:
                raise SqlTypeError(
                    f"a subquery as a value has {len(inner.columns)} columns",
                    sql=binding.sql,
                    span=span_of(node),
                    hint="Select one column.",
                )
            return found.add("scalar", inner, binding)
    for child in list(node.iter_expressions()):
        new = without_subqueries(child, binding, bind_operand, found)
        if new is not child:
            child.replace(new)
    return node


def _is_denied(node: exp.Expr) -> bool:
    """Whether a condition stands under an odd number of NOTs.

    Spark's IN is never NULL.  Where it cannot be told it is false, and NOT IN is false as well, so
    neither keeps a row.
    """
    denied, parent = False, node.parent
    while isinstance(parent, exp.Paren | exp.And | exp.Or | exp.Not):
        denied ^= isinstance(parent, exp.Not)
        parent = parent.parent
    return denied


def _quantified(node: exp.Expr | None) -> bool:
    return isinstance(node, exp.Any | exp.All) and isinstance(node.this, exp.Query)


def _without_limit(query: exp.Expr) -> exp.Expr:
    """EXISTS asks for one row, so a limit of one or more says nothing."""
    limit = query.args.get("limit")
    if limit is None or query.args.get("offset") is not None:
        return query
    if not limit.expression.is_int or limit.expression.name == "0":
        return query
    without = query.copy()
    without.set("limit", None)
    return without
