"""Calls of a user's own functions, written out right after parsing.

    f(a, b)  →  CAST(body, with CAST(a AS …) and CAST(b AS …) for its parameters, AS …)

A Python function stays a call inside the cast, which tells the rest of the compiler its type; an
aggregate in Python stays a call that carries its type.
Every parameter of a SQL function occurs in its body: an argument that vanished could take an
aggregate, and so the groups of its query, with it.
"""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.frontend.dialect import VerbatimSpark, parse_query, span_of
from streamtables.compiler.frontend.functions import GENERATORS
from streamtables.compiler.frontend.inlining import Inlining
from streamtables.compiler.frontend.own_aggregates import as_own_aggregate
from streamtables.compiler.frontend.sql_functions import body_of, check_type
from streamtables.compiler.library import Entry, Library, PythonFunction, SqlFunction
from streamtables.errors import SqlTypeError

# Around an aggregate or a window function only; a scalar function has nothing to do with these.
_AROUND = (exp.Window, exp.Filter, exp.IgnoreNulls, exp.RespectNulls, exp.WithinGroup)
_NOT_ARGUMENTS = (exp.Distinct, exp.Kwarg, exp.PropertyEQ, exp.Ordered)


def parsed(sql: str, inlining: Inlining) -> exp.Query:
    """Parse a query and write out the calls of own functions in it."""
    query = parse_query(sql)
    write_out(query, sql, inlining)
    return query


def write_out(query: exp.Query, sql: str, inlining: Inlining) -> None:
    """Replace the calls of own functions in a parsed query, from the inside out."""
    calls = own_calls(query, inlining)
    if calls:
        _keep_shown_names(query, calls)
    for call in reversed(calls):
        call.replace(written_out(call, sql, inlining))


def check_function(function: SqlFunction, library: Library) -> tuple[Entry, ...]:
    """Raise when the body of a function is not one; return the functions that it reaches."""
    inlining = Inlining(library)
    for type_ in (function.returns, *(type_ for _, type_ in function.parameters)):
        check_type(type_)
    body_of(function, inlining, lambda query, text: write_out(query, text, inlining))
    return inlining.used


def own_calls(query: exp.Query, inlining: Inlining) -> list[exp.Anonymous]:
    """Return the calls of own functions, each before those among its arguments."""
    library = inlining.library
    if not library.functions:
        return []
    calls = query.find_all(exp.Anonymous)
    return [call for call in calls if library.function(call.name) and _is_scalar_call(call)]


def written_out(call: exp.Anonymous, sql: str, inlining: Inlining) -> exp.Expr:
    """Return the expression that a call stands for; its arguments are written out already."""
    function = inlining.function(call.name)
    assert function is not None
    _check_arguments(call, function, sql)
    if isinstance(function, PythonFunction):
        value = call.copy()
        value.set("this", function.name)
        if function.aggregate:
            return as_own_aggregate(value, function.returns)
        return _cast(value, function.returns, call)
    body = body_of(function, inlining, lambda inner, text: write_out(inner, text, inlining)).copy()
    names = [name.lower() for name, _ in function.parameters]
    types = [type_ for _, type_ in function.parameters]
    values = {
        name: _cast(value.copy(), type_, value)
        for name, type_, value in zip(names, types, call.expressions, strict=True)
    }
    holder = exp.Paren(this=body)
    for column in list(holder.find_all(exp.Column)):
        column.replace(values[column.name.lower()].copy())
    return _cast(holder.this, function.returns, call)


def _cast(value: exp.Expr, type_: str, at: exp.Expr) -> exp.Expr:
    cast = exp.Cast(this=value, to=exp.DataType.build(type_, dialect=VerbatimSpark))
    if place := span_of(at):
        cast.meta.update(start=place.start, end=place.end - 1)
    return cast


def _is_scalar_call(call: exp.Anonymous) -> bool:
    """Whether a call stands where a value does: not in FROM, and not behind a namespace."""
    parent = call.parent
    qualified = isinstance(parent, exp.Dot) and parent.expression is call
    return not qualified and not isinstance(parent, exp.Table | exp.Lateral)


def _check_arguments(call: exp.Anonymous, function: SqlFunction | PythonFunction, sql: str) -> None:
    around = isinstance(call.parent, _AROUND) and call.parent.this is call
    if isinstance(function, PythonFunction) and function.aggregate:
        distinct = any(isinstance(item, exp.Distinct) for item in call.expressions)
        if distinct or (around and not isinstance(call.parent, exp.Window)):
            what = "is an aggregate in Python, which takes neither DISTINCT nor FILTER"
            hint = "Choose the rows in a subquery below it."
            raise _wrong(f'"{function.name}" {what}', call, sql, hint)
    elif around:
        raise _wrong(f'"{function.name}" is neither an aggregate nor a window function', call, sql)
    for argument in call.expressions:
        if isinstance(argument, _NOT_ARGUMENTS) or argument.is_star:
            what = f'function "{function.name}" takes values alone'
            raise _wrong(what, call, sql, "Give each argument by its place.")
    if isinstance(function, SqlFunction) and len(call.expressions) != len(function.parameters):
        wanted = len(function.parameters)
        what = f"{wanted} argument{'s' * (wanted != 1)}, not {len(call.expressions)}"
        shown = ", ".join(f"{name} {type_}" for name, type_ in function.parameters)
        hint = f"It is defined as {function.name}({shown})."
        raise _wrong(f'function "{function.name}" takes {what}', call, sql, hint)


def _wrong(message: str, call: exp.Anonymous, sql: str, hint: str = "") -> SqlTypeError:
    return SqlTypeError(message, sql=sql, span=span_of(call), hint=hint)


def _keep_shown_names(query: exp.Query, calls: list[exp.Anonymous]) -> None:
    """Name the items of select lists as they were written, before their calls are replaced."""
    holders = {id(holder) for call in calls for holder in _ancestry(call)}
    for select in query.find_all(exp.Select):
        for item in list(select.expressions):
            # A field of a struct is shown under its own name.
            named = isinstance(item, exp.Alias | exp.Aliases | exp.Dot)
            generator = isinstance(item, exp.Anonymous) and item.name.lower() in GENERATORS
            if id(item) in holders and not named and not generator:
                shown = item.sql(dialect=VerbatimSpark, normalize_functions="lower")
                alias = exp.Alias(alias=exp.to_identifier(shown, quoted=True))
                item.replace(alias)
                alias.set("this", item)


def _ancestry(node: exp.Expr) -> list[exp.Expr]:
    found = [node]
    while found[-1].parent is not None:
        found.append(found[-1].parent)
    return found
