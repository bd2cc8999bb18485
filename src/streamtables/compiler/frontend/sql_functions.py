"""The body of a SQL function: one deterministic expression over its parameters, bound once.

The one trap is capture: an argument must not meet a lambda's variable of its own name inside the
body, so those variables get names that no column has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp
from sqlglot.errors import ParseError

from streamtables.compiler.algebra.expressions import columns_in
from streamtables.compiler.frontend.binding import Binding, Bound, Notes
from streamtables.compiler.frontend.dialect import (
    VerbatimSpark,
    forget_places,
    parse_query,
    span_of,
)
from streamtables.compiler.frontend.expressions import bind_expression, check_types
from streamtables.compiler.frontend.inlining import Inlining, inside_of
from streamtables.compiler.frontend.scope import Namer, Relation, Scope, Visible
from streamtables.compiler.library import SqlFunction
from streamtables.compiler.types import normal_type
from streamtables.errors import (
    ConfigError,
    CycleError,
    InternalError,
    SqlError,
    SqlSyntaxError,
    UnimplementedSqlError,
    UnsupportedSqlError,
)

# As long as the word that the body is parsed behind, so that places in both texts are the same.
_SHOWN, _PARSED = "RETURN ", "SELECT "

WriteOut = Callable[[exp.Query, str], None]
"""Writes out the calls of own functions in a parsed query."""


def check_type(text: str) -> str:
    """Return the name of a type as it was given, or raise when Spark has none of that name."""
    try:
        exp.DataType.build(text, dialect=VerbatimSpark)
        # The line above passes over what follows a type.
        parse_query(f"SELECT CAST(NULL AS {text})")
    except (ParseError, ValueError, SqlError) as error:
        raise ConfigError(
            f'"{text}" is not a type', hint="Use a type of Spark SQL, as in decimal(12,2)."
        ) from error
    return text.strip()


def body_of(function: SqlFunction, inlining: Inlining, write_out: WriteOut) -> exp.Expr:
    """Return the body over columns that are the parameters, in lower case."""
    key = function.name.lower()
    if key in inlining.calling:
        path = [*inlining.calling[inlining.calling.index(key) :], key]
        raise CycleError(
            f'the function "{function.name}" would call itself', detail=f"{' → '.join(path)}."
        )
    if key not in inlining.bodies:
        text = _SHOWN + function.body
        inlining.calling.append(key)
        with inside_of(function, text):
            inlining.bodies[key] = _bound(function, text, inlining, write_out)
        inlining.calling.pop()
    return inlining.bodies[key]


def _bound(function: SqlFunction, text: str, inlining: Inlining, write_out: WriteOut) -> exp.Expr:
    select = _parsed(function, text)
    write_out(select, text)
    columns = tuple(
        Visible(name, name.lower(), normal_type(type_)) for name, type_ in function.parameters
    )
    scope = Scope.of(Relation((function.name,), columns))
    binding = replace(_ALONE, sql=text, inlining=inlining)
    try:
        body = bind_expression(select.expressions[0].unalias(), scope, binding)
    except UnimplementedSqlError as error:
        raise _not_in_a_body(error, text) from error
    check_types(body, {item.inner: item.type for item in columns}, binding)
    _check_parameters(function, body, text)
    _rename_lambda_variables(function, body)
    forget_places(body)
    return body


def _parsed(function: SqlFunction, text: str) -> exp.Select:
    try:
        query = parse_query(_PARSED + function.body)
    except SqlError as error:
        error.sql = text
        raise
    others = [
        name
        for name, value in query.args.items()
        if value and name not in ("expressions", "kind", "operation_modifiers")
    ]
    alone = isinstance(query, exp.Select) and len(query.expressions) == 1 and not others
    if not alone or isinstance(query.expressions[0], exp.Alias | exp.Aliases | exp.Star):
        raise SqlSyntaxError(
            "a function returns one expression",
            sql=text,
            span=span_of(query),
            hint="Write one expression over the parameters, without FROM and without a name.",
        )
    assert isinstance(query, exp.Select)
    for inner in query.expressions[0].find_all(exp.Query):
        raise UnsupportedSqlError(
            "a subquery cannot be part of a function",
            sql=text,
            span=span_of(inner),
            hint="Compute the value in the query, and give it to the function as an argument.",
        )
    return query


def _not_in_a_body(error: UnimplementedSqlError, text: str) -> UnsupportedSqlError:
    what = error.message.removesuffix(" is not maintained incrementally by this version")
    return UnsupportedSqlError(
        f"{what} cannot be part of a function",
        sql=text,
        span=error.span,
        hint="Give the value to the function as an argument.",
    )


def _check_parameters(function: SqlFunction, body: exp.Expr, text: str) -> None:
    names = [name.lower() for name, _ in function.parameters]
    for name in names:
        if names.count(name) > 1:
            raise UnsupportedSqlError(f'two parameters are named "{name}"', sql=text)
        if name not in columns_in(body):
            raise UnsupportedSqlError(
                f'the parameter "{name}" of function "{function.name}" is not used',
                sql=text,
                hint="Take it out of the parameters, or use it in the expression.",
            )


def _rename_lambda_variables(function: SqlFunction, body: exp.Expr) -> None:
    for lambda_ in list(body.find_all(exp.Lambda)):
        for variable in lambda_.expressions:
            name = variable.name.lower()
            fresh = f"__st_lambda_{function.name.lower()}_{name}"
            for part in list(lambda_.this.find_all(exp.Identifier)):
                if part.name.lower() == name and _is_variable(part):
                    part.set("this", fresh)
            variable.set("this", fresh)


def _is_variable(part: exp.Identifier) -> bool:
    field_or_alias = part.arg_key in ("expression", "alias") and isinstance(
        part.parent, exp.Dot | exp.Alias
    )
    return not field_or_alias and not isinstance(part.parent, exp.Column)


def _no_query(query: exp.Query, binding: Binding) -> Bound:
    raise InternalError("a function holds a query")


_ALONE = Binding("", {}, Namer(), Notes(), _no_query)
