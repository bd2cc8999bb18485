"""Binding of scalar expressions: names become columns, and every call is looked at once."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp

from streamtables.compiler.frontend import functions
from streamtables.compiler.frontend.binding import Binding, column
from streamtables.compiler.frontend.clock import clock_call
from streamtables.compiler.frontend.dialect import VerbatimSpark, span_of
from streamtables.compiler.frontend.own_aggregates import own_type
from streamtables.compiler.frontend.scope import Meaning, Scope, Visible
from streamtables.compiler.frontend.subqueries import Subqueries
from streamtables.compiler.frontend.subquery_places import without_subqueries
from streamtables.compiler.frontend.typing import Types, type_of
from streamtables.compiler.library import PythonFunction
from streamtables.compiler.types import (
    BOOLEAN,
    NULL,
    TIME_WINDOW,
    UNKNOWN,
    SqlType,
    field_type,
    has_plain_image,
    is_numeric,
    struct_fields,
)
from streamtables.errors import SqlTypeError, UnknownNameError

BELOW_GROUPS = "below_groups"
"""Marks what Spark computes before it groups: it does not follow from a group of what it reads."""

_MOMENTS = frozenset({"now", "today", "tomorrow", "yesterday"})
_PARTS = ("this", "table", "db", "catalog")
_SUBQUERIES = (exp.Subquery, exp.Exists, exp.Any, exp.All, exp.Select)


def bind_expression(
    expression: exp.Expr,
    scope: Scope,
    binding: Binding,
    *,
    aggregates: bool = False,
    aliases: Mapping[str, exp.Expr] | None = None,
    alias_unless: Collection[str] | None = None,
    subqueries: Subqueries | None = None,
    windows: bool = False,
    generator: bool = False,
) -> exp.Expr:
    """Return the expression over columns of the algebra.

    Aggregate calls pass only where `aggregates` says so; they stay as they are, for the grouping to
    take out.  `aliases` are bound expressions that may be named where the scope has no such column;
    with `alias_unless` also where it has one, outside aggregates, that is none of these columns.
    `subqueries` collects the subqueries, in whose places columns then stand.  Window calls and, at
    the top, a generator stay as they are where they may stand.
    """
    if subqueries is not None:

        def bind_operand(operand: exp.Expr) -> exp.Expr:
            return bind_expression(operand, scope, binding)

        inner = binding.inside(scope)
        expression = without_subqueries(expression.copy(), inner, bind_operand, subqueries)
    check_calls(expression, binding, aggregates=aggregates, windows=windows, generator=generator)

    def bind(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Anonymous):
            if function_name(node) == "window_time":
                return _window_time(node, scope, binding)
            return _spread_stars(node, scope, binding)
        if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
            return node
        if node.meta.get("bound"):
            return node
        named = (aliases or {}).get(node.name.lower()) if not node.table else None
        if named is not None and not scope.has(node.name):
            return exp.paren(named.copy(), copy=False)
        bound = _bound_column(node, scope, binding)
        if named is None or alias_unless is None or bound.name in alias_unless:
            return bound
        return bound if _in_aggregate(node) else exp.paren(named.copy(), copy=False)

    return expression.copy().transform(bind)


def _spread_stars(call: exp.Anonymous, scope: Scope, binding: Binding) -> exp.Anonymous:
    """Write out `*` and `t.*` among arguments, except in COUNT(*), and name the parts of a struct.

    A column may have another name inside the plan than the one that a struct would show.
    """
    name = str(call.this).lower()
    first = call.expressions[0] if call.expressions else None
    if name == "count" and isinstance(first, exp.Star):
        return call
    inside = first if isinstance(first, exp.Distinct) else call
    spread: list[exp.Expr] = []
    for item in inside.expressions:
        stars = star_items(item, scope, binding)
        named = [(item, item.name)] if stars is None else [(value, shown) for shown, value in stars]
        for value, shown in named:
            shows = name == "struct" and (stars is not None or isinstance(value, exp.Column))
            alias = exp.to_identifier(shown, quoted=True)
            spread.append(exp.Alias(this=value, alias=alias) if shows else value)
    inside.set("expressions", spread)
    return call


def _window_time(call: exp.Anonymous, scope: Scope, binding: Binding) -> exp.Expr:
    """Return the last moment of a time window that a query inside this one made."""
    refused = binding.unimplemented('"window_time" of anything but a column of windows', call)
    (given,) = call.expressions if len(call.expressions) == 1 else (None,)
    if not isinstance(given, exp.Column):
        raise refused
    found = scope.find(given, binding.sql)
    # Beside the window itself, Spark does not know the column yet.
    if found is None or found[1] or found[0] in scope.unlisted or found[0].type != TIME_WINDOW:
        raise refused
    window = column(found[0].inner)
    window.this.meta.update(given.parts[-1].meta)
    end = exp.Dot(this=window, expression=exp.to_identifier("end"))
    micros = exp.Anonymous(this="unix_micros", expressions=[end])
    last = exp.Sub(this=micros, expression=exp.Literal.number(1))
    result = exp.Anonymous(this="timestamp_micros", expressions=[last])
    result.meta[BELOW_GROUPS] = given.name
    return result


def _reference(visible: Visible) -> exp.Column:
    """Return a bound column in a form that binding leaves alone."""
    bound = column(visible.inner)
    bound.meta["bound"] = True
    return bound


def star_items(item: exp.Expr, scope: Scope, binding: Binding) -> list[tuple[str, exp.Expr]] | None:
    """Return the names and bound values that a star shows; None when the item is no star."""
    qualifier: tuple[str, ...] = ()
    if isinstance(item, exp.Star):
        star = item
    elif isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
        star, qualifier = item.this, tuple(part.name for part in item.parts[:-1])
    else:
        return None
    listed = scope.star(qualifier)
    found = (
        _fields_of(item, scope, binding)
        if listed is None
        else [(visible.shown, _reference(visible)) for visible in listed]
    )
    if found is None:
        raise UnknownNameError(
            f'no table "{".".join(qualifier)}" is in reach here',
            sql=binding.sql,
            span=span_of(item),
            hint="Write the alias of a table in FROM before the star.",
        )
    if star.args.get("replace") or star.args.get("rename"):
        raise binding.unsupported("REPLACE or RENAME after a star", item)
    shown = [name.lower() for name, _ in found]
    names = {_left_out(name, shown, scope, binding) for name in star.args.get("except_") or ()}
    return [(name, value) for name, value in found if name.lower() not in names]


def _fields_of(star: exp.Expr, scope: Scope, binding: Binding) -> list[tuple[str, exp.Expr]] | None:
    """Return the fields of the struct before a star; None where no column has that name."""
    names = [part.copy() for part in star.parts[:-1]]  # type: ignore[attr-defined]  # a Column
    struct = exp.Column(**dict(zip(_PARTS, reversed(names), strict=False)))
    if len(names) > len(_PARTS) or (meaning := scope.find(struct, binding.sql)) is None:
        return None
    visible, fields = meaning
    value: exp.Expr = _reference(visible)
    type_ = visible.type
    for field in fields:
        type_ = _field_of(type_, field, struct, binding)
        value = exp.Dot(this=value, expression=field.copy())
    names_known = all(re.fullmatch(r"\w+", name) for name, _ in struct_fields(type_))
    if not type_.startswith("struct<") or not names_known:
        raise binding.unimplemented(f"a star over a value of type {type_}", star)
    return [
        (name, exp.Dot(this=value.copy(), expression=exp.to_identifier(name, quoted=True)))
        for name, _ in struct_fields(type_)
    ]


def _left_out(name: exp.Expr, found: Sequence[str], scope: Scope, binding: Binding) -> str:
    """Return the name of a column that a star is to leave out, which must be one of its own."""
    shown = name.name.lower()
    if not isinstance(name, exp.Column) or not name.table:
        if shown in found:
            return shown
        name = name if isinstance(name, exp.Column) else exp.Column(this=name.copy())
    _, fields = scope.resolve(name, binding.sql)
    if fields:
        raise binding.unimplemented("EXCEPT of a field of a struct", name)
    return shown


def _in_aggregate(node: exp.Expr) -> bool:
    parent = node.parent
    return parent is not None and (is_aggregate(parent) or _in_aggregate(parent))


def check_calls(
    expression: exp.Expr,
    binding: Binding,
    *,
    aggregates: bool,
    windows: bool = False,
    generator: bool = False,
) -> None:
    """Refuse what an expression must not hold, with its place."""
    for node in expression.walk():
        if isinstance(node, exp.Array):
            raise binding.unsupported("an array in brackets", node)
        if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Star):
            raise binding.unsupported("a star behind an expression", node)
        if isinstance(node, exp.Cast):
            _check_cast(node, binding)
        if isinstance(node, exp.QueryTransform):
            raise binding.unimplemented("TRANSFORM … USING", node)
        if isinstance(node, _SUBQUERIES) and not _is_list(node):
            raise binding.unimplemented("a subquery in an expression", node)
        if isinstance(node, exp.Window) and not windows:
            raise UnknownNameError(
                "a window function cannot stand here",
                sql=binding.sql,
                span=span_of(node),
                detail="Window functions belong into the SELECT list, ORDER BY or QUALIFY.",
                hint="Filter the result of a window function with QUALIFY.",
            )
        if clock_call(node) is not None:
            raise binding.unimplemented("the current time in this place", node)
        if isinstance(node, exp.CurrentUser | exp.SessionUser):
            who = "current_user" if isinstance(node, exp.CurrentUser) else "session_user"
            raise binding.not_incremental(_session_reason(who), node, word=who)
        if isinstance(node, exp.Placeholder | exp.Parameter):
            raise binding.unsupported("a parameter", node, word=node.sql(VerbatimSpark))
        if name := function_name(node):
            if generator and node is expression and name in functions.GENERATORS:
                continue
            in_window = windows and _in_window(node)
            _check_call(name, node, binding, aggregates=aggregates or in_window)


def _check_cast(cast: exp.Cast, binding: Binding) -> None:
    if cast.to.is_type("time"):
        # sqlglot would write another type for it.
        raise binding.unimplemented("the type TIME", cast)
    literal = cast.this
    named = isinstance(literal, exp.Literal) and literal.name.strip().lower() in _MOMENTS
    if named and cast.to.is_type(
        "date", "timestamp", "timestamptz", "timestampltz", "timestampntz"
    ):
        raise binding.not_incremental(
            f"'{literal.name}' is another moment each time it is read.", cast
        )


def _in_window(node: exp.Expr) -> bool:
    """Whether a call is the function of a window."""
    parent = node.parent
    while isinstance(parent, exp.IgnoreNulls | exp.RespectNulls | exp.Filter):
        node, parent = parent, parent.parent
    return isinstance(parent, exp.Window) and parent.this is node


def _is_list(node: exp.Expr) -> bool:
    """Whether this is ANY or ALL over a list of patterns, or the aggregate `any`."""
    return isinstance(node, exp.Any | exp.All) and not isinstance(node.this, exp.Query)


def function_name(node: exp.Expr) -> str | None:
    """Return the name of a called function in lower case; None for anything else."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower()
    if isinstance(node, exp.Any) and not isinstance(node.parent, exp.Binary):
        return "any"
    if isinstance(node, exp.WithinGroup):
        return function_name(node.this)
    return "listagg" if isinstance(node, exp.GroupConcat) else None


def is_aggregate(node: exp.Expr) -> bool:
    """Whether this node is a call that turns many rows into one value."""
    return function_name(node) in functions.AGGREGATES or own_type(node) is not None


def _check_call(name: str, node: exp.Expr, binding: Binding, *, aggregates: bool) -> None:
    if name == "identifier":
        raise binding.unimplemented("IDENTIFIER", node)
    own = binding.inlining.library.function(name)
    if isinstance(own, PythonFunction):
        if not own.deterministic:
            raise binding.not_incremental(f'"{own.name}" may give another answer each time.', node)
        if own.aggregate and not aggregates:
            raise _misplaced_aggregate(name, node, binding)
        return
    if name not in functions.known_functions():
        raise _unknown_function(name, node, binding)
    if name in functions.NONDETERMINISTIC:
        raise binding.not_incremental(f'"{name}" may give another answer each time.', node)
    if name in functions.SESSION:
        raise binding.not_incremental(_session_reason(name), node)
    if name in ("window", "session_window"):
        raise binding.unimplemented("a time window outside the select list and GROUP BY", node)
    if name in functions.GENERATORS:
        raise binding.unimplemented(f'"{name}"', node)
    if name in functions.AGGREGATES and not aggregates:
        raise _misplaced_aggregate(name, node, binding)


def _misplaced_aggregate(name: str, node: exp.Expr, binding: Binding) -> UnknownNameError:
    return UnknownNameError(
        f'aggregate function "{name}" cannot stand here',
        sql=binding.sql,
        span=span_of(node),
        detail="Aggregates belong into the SELECT list or HAVING.",
        hint="Filter the result of an aggregate with HAVING.",
    )


def _unknown_function(name: str, node: exp.Expr, binding: Binding) -> UnknownNameError:
    known = {*functions.known_functions(), *binding.inlining.library.functions} - {name}
    close = difflib.get_close_matches(name, known, n=1)
    first = f'Did you mean "{close[0]}"?' if close else "Use a function of Spark SQL."
    return UnknownNameError(
        f'no function "{name}"',
        sql=binding.sql,
        span=span_of(node),
        hint=f"{first} Your own come with CREATE FUNCTION, or with register_function in Python.",
    )


def _session_reason(name: str) -> str:
    return f'"{name}" depends on who runs the query.'


def _bound_column(node: exp.Column, scope: Scope, binding: Binding) -> exp.Expr:
    meaning, fields = _meaning(node, scope, binding)
    bound: exp.Expr = column(meaning.inner)
    if span := span_of(node):
        # Later errors about this column still point into the user's text.
        bound.this.meta.update(start=span.start, end=span.end - 1)
    type_ = meaning.type
    for name in fields:
        type_ = _field_of(type_, name, node, binding)
        bound = exp.Dot(this=bound, expression=name.copy())
    return bound


def _meaning(node: exp.Column, scope: Scope, binding: Binding) -> Meaning:
    """Look a name up here first, then in the enclosing queries, from the inside out."""
    for place in (scope, *binding.enclosing):
        if (found := place.find(node, binding.sql)) is not None:
            return found
    return scope.resolve(node, binding.sql)


def _field_of(type_: SqlType, name: exp.Expr, node: exp.Column, binding: Binding) -> SqlType:
    """Return the type of a field; an error where the value has no fields or not this one."""
    found = field_type(type_, name.name)
    without = found == UNKNOWN and type_.startswith("struct<")
    if without or is_numeric(type_) or has_plain_image(type_):
        raise UnknownNameError(
            f'no field "{name.name}" in a value of type {type_}',
            sql=binding.sql,
            span=span_of(node),
            hint="Name a field of the struct, or check which table the column is of.",
        )
    return found


def conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    """Split a condition at its top-level ANDs."""
    bare = condition.unnest()
    if isinstance(bare, exp.And):
        return [*conjuncts(bare.this), *conjuncts(bare.expression)]
    return [bare]


def all_of(conditions: list[exp.Expr]) -> exp.Expr:
    """Join conditions with AND."""
    return exp.and_(*conditions, copy=False) if len(conditions) > 1 else conditions[0]


def check_condition(condition: exp.Expr, types: Types, binding: Binding) -> None:
    """Refuse a condition that is not true or false."""
    found = type_of(condition, types)
    if found not in (BOOLEAN, NULL, UNKNOWN):
        raise SqlTypeError(
            f"a condition must be true or false, this one is {found}",
            sql=binding.sql,
            span=span_of(condition),
            hint="Compare the value with something.",
        )


def check_types(expression: exp.Expr, types: Types, binding: Binding) -> None:
    """Refuse arithmetic that no Spark type rule allows, where both sides are known."""
    for node in expression.find_all(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv):
        for side in (node.this, node.expression):
            found = type_of(side, types)
            if found == BOOLEAN or found.startswith(("array<", "map<", "struct<")):
                raise SqlTypeError(
                    f"arithmetic on a value of type {found}",
                    sql=binding.sql,
                    span=span_of(side) or span_of(node),
                    hint="Cast the value to a number.",
                )
    for node in expression.find_all(exp.EQ, exp.LT, exp.GT, exp.LTE, exp.GTE, exp.NEQ):
        left, right = type_of(node.this, types), type_of(node.expression, types)
        if (left == BOOLEAN and is_numeric(right)) or (is_numeric(left) and right == BOOLEAN):
            raise SqlTypeError(
                f"cannot compare {left} with {right}",
                sql=binding.sql,
                span=span_of(node),
                hint="Cast one side to the type of the other.",
            )
