"""Binding of generators: LATERAL VIEW, a table function in FROM, and explode in the select list."""

from __future__ import annotations

import re

from sqlglot import exp

from streamtables.compiler.algebra import Column, Generate, Node
from streamtables.compiler.frontend import functions
from streamtables.compiler.frontend.attach import attached
from streamtables.compiler.frontend.binding import Binding, column
from streamtables.compiler.frontend.clock import with_moments
from streamtables.compiler.frontend.dialect import span_of
from streamtables.compiler.frontend.expressions import bind_expression, function_name
from streamtables.compiler.frontend.from_parts import FromClause
from streamtables.compiler.frontend.scope import Relation, Scope, Visible
from streamtables.compiler.frontend.select_items import SelectItem
from streamtables.compiler.frontend.subqueries import Subqueries
from streamtables.compiler.frontend.typing import Types, type_of
from streamtables.compiler.types import INT, UNKNOWN, SqlType, nested_types, struct_fields
from streamtables.errors import SqlTypeError, UnknownNameError

_OUTER = "_outer"


def with_lateral_view(clause: FromClause, view: exp.Lateral, binding: Binding) -> FromClause:
    """Return FROM with the columns of one LATERAL VIEW."""
    alias = view.args.get("alias")
    name = alias.this.name if alias is not None and alias.this else ""
    names = [item.name for item in alias.columns] if alias is not None else []
    outer = bool(view.args.get("outer"))
    return _with_generator(clause, view.this, outer, (name,) if name else (), names, binding)


def with_table_function(
    clause: FromClause, item: exp.Expr, binding: Binding, *, outer: bool = False
) -> FromClause:
    """Return FROM with the rows of a generator that may read what stands before it."""
    alias = item.args.get("alias")
    name = alias.this.name if alias is not None and alias.this else ""
    names = [part.name for part in alias.columns] if alias is not None else []
    return _with_generator(clause, item.this, outer, (name,) if name else (), names, binding)


def _with_generator(
    clause: FromClause,
    call: exp.Expr,
    outer: bool,
    alias: tuple[str, ...],
    names: list[str],
    binding: Binding,
) -> FromClause:
    found = Subqueries()
    timed = with_moments(call, found, binding)
    call = bind_expression(timed, clause.scope, binding, generator=True)
    node = attached(clause.joined(binding), found, binding)
    shown, generate = _generate(node, call, outer, names, binding)
    relation = Relation(alias, shown)
    return FromClause((generate,), clause.scope.beside(Scope.of(relation)))


def _generate(
    node: Node, call: exp.Expr, outer: bool, names: list[str], binding: Binding
) -> tuple[tuple[Visible, ...], Generate]:
    function = function_name(call) or ""
    if function.removesuffix(_OUTER) not in functions.GENERATORS:
        raise UnknownNameError(
            f'"{function}" does not make rows',
            sql=binding.sql,
            span=span_of(call),
            hint="Use explode, posexplode, inline or stack.",
        )
    if function.endswith(_OUTER):
        call = call.copy()
        call.set("this", str(call.this)[: -len(_OUTER)])
        outer = True
    made = _made_columns(call, binding.types_of(node))
    if names and len(names) != len(made) and made:
        raise SqlTypeError(
            f"{len(names)} names for the {len(made)} columns of {function}",
            sql=binding.sql,
            span=span_of(call),
            hint=f"Give {len(made)} names.",
        )
    made = made or [(name, UNKNOWN) for name in names]
    if not made:
        raise binding.unimplemented(f'"{function}" of a value whose type is not known', call)
    shown = tuple(
        Visible(wanted, binding.namer.fresh(wanted), type_)
        for wanted, (_, type_) in zip(names or [name for name, _ in made], made, strict=True)
    )
    columns = tuple(Column(item.inner, item.type) for item in shown)
    return shown, Generate(node, call, columns, outer)


def _made_columns(call: exp.Expr, types: Types) -> list[tuple[str, SqlType]]:
    """Return the names and types that Spark gives to what a generator makes."""
    function = (function_name(call) or "").removesuffix(_OUTER)
    given = type_of(call.expressions[0], types) if call.expressions else UNKNOWN
    match function:
        case "explode" | "posexplode":
            position = [("pos", INT)] if function == "posexplode" else []
            if given.startswith("map<"):
                key, value = nested_types(given)
                return [*position, ("key", key), ("value", value)]
            inner = nested_types(given)[0] if given.startswith("array<") else UNKNOWN
            return [*position, ("col", inner)]
        case "inline":
            return struct_fields(nested_types(given)[0]) if given.startswith("array<") else []
        case "stack":
            return _stacked(call, types)
        case "json_tuple":
            return [(f"c{i}", SqlType("string")) for i in range(len(call.expressions) - 1)]
        case _:
            return []


def _stacked(call: exp.Expr, types: Types) -> list[tuple[str, SqlType]]:
    first, *values = call.expressions
    rows = int(first.name) if re.fullmatch(r"\d+", first.name or "") else 1
    width = -(-len(values) // max(rows, 1))
    return [(f"col{i}", type_of(values[i], types)) for i in range(width)]


def generated_items(
    node: Node, items: list[SelectItem], binding: Binding
) -> tuple[Node, list[SelectItem]]:
    """Return the relation with the rows of a generator in the select list, and the list over it."""
    found = [item for item in items if is_generator(item.expression)]
    if not found:
        return node, items
    if len(found) > 1:
        raise SqlTypeError(
            "only one generator can stand in a select list",
            sql=binding.sql,
            span=span_of(found[1].expression),
            hint="Use LATERAL VIEW for the others.",
        )
    (item,) = found
    written = [item.shown] if not item.names and "(" not in item.shown else list(item.names)
    made = _made_columns(item.expression, binding.types_of(node))
    names = written if len(written) == len(made) else list(item.names)
    shown, generated = _generate(node, item.expression, False, names, binding)
    columns = [SelectItem(visible.shown, column(visible.inner)) for visible in shown]
    place = items.index(item)
    return generated, [*items[:place], *columns, *items[place + 1 :]]


def is_generator(expression: exp.Expr) -> bool:
    """Whether an expression is a call that makes rows."""
    return (function_name(expression) or "") in functions.GENERATORS
