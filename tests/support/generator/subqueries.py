"""What stands between the parentheses of a subquery: its FROM, and how it names the query around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tests.support.expressions import Typed
from tests.support.generator.core import Generator
from tests.support.generator.parts import pairs_of_one_type


@dataclass(frozen=True)
class Inner:
    """The FROM and WHERE of a subquery, the columns it may show, and whether it has conditions."""

    text: str
    columns: list[Typed]
    conditional: bool


def inner(gen: Generator, outer: Sequence[Typed]) -> Inner:
    """Return FROM and WHERE of a subquery, mostly correlated with the columns around it."""
    # A name without its relation would mean the subquery's own column, where it has one.
    outer = [(name, type_) for name, type_ in outer if "." in name]
    text, columns = gen.relation(1 if gen.sometimes(4) else 0)
    if gen.sometimes(6):
        other, more = gen.table()
        pairs = pairs_of_one_type(columns, more)
        if pairs:
            a, b, _ = gen.choices.pick(pairs)
            text, columns = f"{text} JOIN {other} ON {a} = {b}", columns + more
    conditions = _correlations(gen, columns, outer)
    if gen.sometimes(3):
        with _around(gen, outer):
            conditions.append(gen.condition(columns))
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return Inner(f" FROM {text}{where}", columns, bool(conditions))


def _correlations(gen: Generator, columns: list[Typed], outer: Sequence[Typed]) -> list[str]:
    found: list[str] = []
    for _ in range(gen.choices.pick((1, 1, 1, 0, 2))):
        seen = outer
        if gen.around and gen.has("deep") and gen.sometimes(2):
            gen.use("deep")
            seen = gen.around
        pairs = pairs_of_one_type(columns, seen)
        if pairs:
            a, b, _ = gen.choices.pick(pairs)
            operator = gen.choices.pick(("=", "=", "=", "=", "<=>", "<", ">=", "<>"))
            found.append(f"{a} {operator} {b}")
    return found


@contextmanager
def _around(gen: Generator, outer: Sequence[Typed]) -> Iterator[None]:
    """Let a subquery of a subquery see the columns two levels further out."""
    before, gen.around = gen.around, list(outer)
    try:
        yield
    finally:
        gen.around = before


def of_type(columns: Sequence[Typed], type_: str) -> list[str]:
    """Return the columns that have a type."""
    return [name for name, kind in columns if kind == type_]
