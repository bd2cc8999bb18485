"""Values inside arrays, maps and structs, and functions that take a function."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.expressions import Typed
from tests.support.generator.core import Generator, Makers


def nested_value(gen: Generator, columns: Sequence[Typed]) -> Typed:
    """Return a value that is taken out of a nested one."""
    name, type_ = gen.choices.pick(columns)
    other = gen.choices.pick([found for found, kind in columns if kind == type_])
    both = f"array({name}, {other})"
    options: list[Typed] = [
        (f"map('k', {name}, 'l', {other})['{gen.choices.pick(('k', 'l', 'm'))}']", type_),
        (f"element_at(map('k', {name}, 'l', {other}), 'l')", type_),
        (f"element_at({both}, {gen.choices.pick((1, 2))})", type_),
        (f"named_struct('p', {name}, 'q', named_struct('r', {other})).q.r", type_),
        (f"size({both})", "int"),
        (f"size(map_keys(map('k', {name})))", "int"),
        (f"size(filter({both}, e -> e IS NOT NULL))", "int"),
    ]
    if type_ == "int":
        options += [
            (f"element_at(transform({both}, e -> e + 1), 2)", "int"),
            (f"element_at(transform({both}, e -> e + {name}), 1)", "int"),
            (f"size(filter({both}, e -> e > {other}))", "int"),
            (f"element_at(map({gen.expressions.literal('int')}, {other}), 1)", "int"),
        ]
    return gen.choices.pick(options)


def nested_condition(gen: Generator, columns: Sequence[Typed]) -> str:
    """Return a condition on such a value."""
    text, type_ = nested_value(gen, columns)
    return gen.choices.pick((f"{text} = {gen.expressions.literal(type_)}", f"{text} IS NULL"))


MAKERS = Makers(conditions=(nested_condition,), values=(nested_value,))
