"""Scalar subqueries: one value, or NULL where there is no row.

Most are aggregates without GROUP BY, which always give one row: COUNT over nothing is 0 there, where
a join would give NULL.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.expressions import Typed
from tests.support.generator.core import Generator, Makers
from tests.support.generator.subqueries import inner, of_type
from tests.support.histories import KEYS, TABLES


def scalar(gen: Generator, outer: Sequence[Typed]) -> Typed:
    """Return a subquery of at most one row."""
    if gen.sometimes(8):
        return _lookup(gen, outer)
    found = inner(gen, outer)
    name, type_ = gen.choices.pick(found.columns)
    calls: list[Typed] = [
        ("count(*)", "bigint"),
        (f"count({name})", "bigint"),
        (f"max({name})", type_),
        (f"min({name})", type_),
        ("count(*) + 1", "bigint"),
        (f"coalesce(max({name}), {gen.expressions.literal(type_)})", type_),
        (f"count(DISTINCT {name})", "bigint"),
    ]
    if type_ in ("int", "bigint", "decimal(10,2)"):
        calls += [(f"sum({name})", "number"), (f"coalesce(sum({name}), 0)", "number")]
        calls += [(f"avg({name})", "number")]
    call, result = gen.choices.pick(calls)
    bodies = [f"SELECT {call}{found.text}"] * 5
    # HAVING makes an aggregate that may give no row after all.
    bodies += [f"SELECT {call}{found.text} HAVING {_having(gen)}"]
    text = gen.choices.pick(bodies)
    if gen.sometimes(8):
        direction = gen.direction()
        text, result = f"SELECT {name}{found.text} ORDER BY {name}{direction} LIMIT 1", type_
    return f"({text})", result


def _having(gen: Generator) -> str:
    return gen.choices.pick(("count(*) > 1", "count(*) < 2", "count(*) = 0"))


def _lookup(gen: Generator, outer: Sequence[Typed]) -> Typed:
    """A row found by its key; there is at most one."""
    table = gen.choices.pick([name for name, key in KEYS.items() if len(key) == 1])
    alias, key = gen.name("q"), KEYS[table][0]
    name, type_ = gen.choices.pick(list(TABLES[table].items()))
    partners = of_type(outer, "int")
    wanted = gen.choices.pick(partners) if partners else "1"
    return f"(SELECT {alias}.{name} FROM {table} AS {alias} WHERE {alias}.{key} = {wanted})", type_


def scalar_condition(gen: Generator, columns: Sequence[Typed]) -> str:
    """Return a comparison with a subquery."""
    text, type_ = scalar(gen, columns)
    literal = gen.expressions.literal(type_)
    operator = gen.choices.pick(("=", "<", ">=", "<>", "<=>"))
    options = [f"{text} {operator} {literal}", f"{text} IS NULL", f"{text} IS NOT NULL"]
    if partners := of_type(columns, type_):
        options += [f"{gen.choices.pick(partners)} {operator} {text}"] * 4
        options += [f"{gen.choices.pick(partners)} BETWEEN {literal} AND {text}"]
        options += [f"{gen.choices.pick(partners)} IN ({literal}, {text})"]
    return gen.choices.pick(options)


def scalar_value(gen: Generator, columns: Sequence[Typed]) -> Typed:
    """Return the value of a subquery, perhaps inside an expression."""
    text, type_ = scalar(gen, columns)
    condition = gen.expressions.condition(list(columns), 0)
    return gen.choices.pick(
        (
            (text, type_),
            (text, type_),
            (f"coalesce({text}, {gen.expressions.literal(type_)})", type_),
            (f"CASE WHEN {condition} THEN {text} END", type_),
            (f"CASE WHEN {text} IS NULL THEN 'none' ELSE 'some' END", "string"),
        )
    )


MAKERS = Makers(
    conditions=(scalar_condition, scalar_condition), values=(scalar_value, scalar_value)
)
