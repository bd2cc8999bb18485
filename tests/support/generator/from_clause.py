"""FROM: inner, outer, semi and anti joins by all kinds of conditions, and what hangs on a join."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.expressions import Typed
from tests.support.generator.collations import collated
from tests.support.generator.core import Generator
from tests.support.generator.lateral import lateral_join
from tests.support.generator.parts import Source, pairs_of_one_type
from tests.support.generator.table_functions import table_function_join
from tests.support.generator.using import using
from tests.support.generator.values import values_relation

OUTER = ("LEFT JOIN", "LEFT JOIN", "LEFT OUTER JOIN", "RIGHT JOIN", "FULL JOIN", "FULL OUTER JOIN")
SEMI = ("LEFT SEMI JOIN", "LEFT ANTI JOIN", "SEMI JOIN", "ANTI JOIN")


def from_clause(gen: Generator, depth: int) -> Source:
    """Return one to three relations, joined."""
    if gen.sometimes(8):
        return using(gen)
    text, columns = relation(gen, depth)
    source = Source(text, columns)
    for _ in range(gen.choices.pick((0, 0, 1, 1, 2))):
        source = joined(gen, source, depth)
    return source


def relation(gen: Generator, depth: int) -> tuple[str, list[Typed]]:
    """Return a table, a query in its place, or rows that stand in the text."""
    if gen.has("values") and gen.sometimes(8):
        return values_relation(gen)
    return gen.relation(depth)


def joined(gen: Generator, source: Source, depth: int) -> Source:
    """Return the source joined with one more relation."""
    if gen.has("lateral") and not source.needed and gen.sometimes(8):
        return lateral_join(gen, source)
    if gen.has("generate") and not source.needed and gen.sometimes(8):
        return table_function_join(gen, source)
    other, more = relation(gen, depth)
    condition = join_condition(gen, source.columns, more)
    both = source.columns + more
    if source.needed or gen.sometimes(8):
        # A comma binds weaker than JOIN, so from here on only commas follow.
        needed = " AND ".join(part for part in (source.needed, condition) if part)
        return Source(f"{source.text}, {other}", both, needed or "1 = 1")
    if condition is None:
        return Source(f"{source.text} CROSS JOIN {other}", both)
    word = _join_word(gen)
    kept = source.columns if word in SEMI else both
    return Source(f"{source.text} {word} {other} ON {condition}", kept)


def _join_word(gen: Generator) -> str:
    words = ["JOIN", "JOIN", "INNER JOIN"]
    if gen.has("outer"):
        words += OUTER
    if gen.has("semi"):
        words += SEMI
    word = gen.choices.pick(words)
    if word in OUTER:
        gen.use("outer")
    if word in SEMI:
        gen.use("semi")
    return word


def join_condition(gen: Generator, left: Sequence[Typed], right: Sequence[Typed]) -> str | None:
    """Return a condition over both sides; None where every row meets every other."""
    pairs = pairs_of_one_type(left, right)
    if not pairs or gen.sometimes(12):
        return None
    a, b, type_ = gen.choices.pick(pairs)
    equal = f"{a} = {b}"
    if gen.choices.number(0, 2) < 2:
        return equal
    options = [f"{a} <=> {b}", f"{a} < {b}", f"{b} <= {a}", f"{a} <> {b}"]
    options += [f"coalesce({a}, {gen.expressions.literal(type_)}) = {b}"]
    options += [f"{equal} AND {gen.expressions.condition(list(side))}" for side in (left, right)]
    options += [f"{equal} AND {gen.expressions.condition([*left, *right])}"]
    if type_ == "string" and gen.has("collate") and gen.sometimes(3):
        gen.use("collate")
        return f"{collated(a)} = {collated(b)}"
    c, d, _ = gen.choices.pick(pairs)
    options += [f"({equal} OR {c} = {d})", f"{equal} AND {c} <=> {d}", f"{equal} AND {c} < {d}"]
    options.append(f"({equal} AND {c} < {d} OR {equal} AND {c} IS NULL)")
    if type_ == "int":
        options += [f"{a} + 1 = {b}", f"{a} = {b} % 2", f"{a} BETWEEN {b} AND {b} + 1"]
    # A condition on one side only, and one that is never true, are where outer joins go wrong.
    options += [gen.expressions.condition(list(right)), f"{equal} AND 1 = 0"]
    return gen.choices.pick(options)
