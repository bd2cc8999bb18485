"""Table functions in FROM: a relation that a generator makes of each row to its left."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.expressions import Typed
from tests.support.generator.core import Generator
from tests.support.generator.parts import Source, qualified


def array_over(gen: Generator, columns: Sequence[Typed]) -> Typed:
    """Return an array over some columns, and the type of its elements; it may be NULL or empty."""
    name, type_ = gen.choices.pick(columns)
    others = [other for other, kind in columns if kind == type_]
    second = gen.choices.pick(others)
    condition = gen.expressions.condition(list(columns), 0)
    options: list[Typed] = [
        (f"array({name}, {second})", type_),
        (f"array({name}, {gen.expressions.literal(type_)})", type_),
        (f"CASE WHEN {condition} THEN array({name}, {second}) END", type_),
        (f"array({name})", type_),
    ]
    if type_ == "int":
        options.append((f"sequence(1, greatest(coalesce({name}, 1), 1))", "int"))
    if type_ == "string":
        options.append((f"split({name}, 'x')", "string"))
    return gen.choices.pick(options)


def table_function_join(gen: Generator, source: Source) -> Source:
    """Return the source with the elements of an array beside each row."""
    gen.use("generate")
    alias, element = gen.name("q"), gen.name("e")
    array, type_ = array_over(gen, source.columns)
    columns = qualified(alias, [(element, type_)])
    word, condition = "CROSS JOIN", ""
    if gen.sometimes(2):
        plain = gen.expressions.condition([*source.columns, *columns])
        word, condition = "JOIN", f" ON {gen.choices.pick((plain, 'true'))}"
    made = f"LATERAL explode({array}) AS {alias}({element})"
    return Source(f"{source.text} {word} {made}{condition}", source.columns + columns)
