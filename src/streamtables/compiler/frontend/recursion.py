"""Binding of WITH RECURSIVE: a base, UNION ALL, and a step that reads what was found last."""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra import Column, Project, Projection
from streamtables.compiler.algebra.recursive import Itself, Recursive
from streamtables.compiler.frontend.binding import Binding, Bound, column
from streamtables.compiler.frontend.dialect import span_of
from streamtables.compiler.frontend.scope import Visible, table_name
from streamtables.compiler.types import UNKNOWN
from streamtables.errors import SqlTypeError


def is_recursive(named: exp.CTE) -> bool:
    """Whether a named query reads itself."""
    name = named.alias.lower()
    return any(table_name(table).lower() == name for table in named.this.find_all(exp.Table))


def bind_recursive(named: exp.CTE, binding: Binding) -> Bound:
    """Bind a named query that reads itself."""
    query = named.this
    if not isinstance(query, exp.Union) or query.args.get("distinct"):
        raise binding.not_incremental(
            "Spark's WITH RECURSIVE is a base and a step with UNION ALL between them.", query
        )
    base = binding.bind_query(query.this, binding)
    names = [item.name for item in named.args["alias"].columns] or [c.shown for c in base.columns]
    if len(names) != len(base.columns):
        raise SqlTypeError(
            f"{len(names)} column aliases for {len(base.columns)} columns",
            sql=binding.sql,
            span=span_of(named.args["alias"]),
            hint=f"Give {len(base.columns)} names.",
        )
    inner = [binding.namer.fresh(name) for name in names]
    shown = tuple(
        Visible(name, own, item.type)
        for name, own, item in zip(names, inner, base.columns, strict=True)
    )
    table = binding.namer.fresh(named.alias)
    itself = Itself(table, tuple(Column(item.inner, item.type) for item in shown))
    step = binding.bind_query(
        query.expression, binding.with_named_query(named.alias, Bound(itself, shown))
    )
    if len(step.columns) != len(base.columns):
        raise SqlTypeError(
            f"a base of {len(base.columns)} and a step of {len(step.columns)} columns",
            sql=binding.sql,
            span=span_of(query.expression),
            hint="Both sides of UNION ALL must have the same number of columns.",
        )
    node = Recursive(table, _shown(base, shown), _shown(step, shown))
    return Bound(node, shown)


def _shown(side: Bound, shown: tuple[Visible, ...]) -> Project:
    """Give a side the names and types of the whole."""
    projections = []
    for item, wanted in zip(side.columns, shown, strict=True):
        value: exp.Expr = column(item.inner)
        if wanted.type not in (item.type, UNKNOWN):
            value = exp.cast(value, wanted.type, dialect="spark")
        projections.append(Projection(wanted.inner, value, wanted.type))
    return Project(side.node, tuple(projections))
