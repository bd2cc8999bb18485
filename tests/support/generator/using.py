"""USING and NATURAL, which make one column of two."""

from __future__ import annotations

from tests.support.expressions import Typed
from tests.support.generator.core import Generator
from tests.support.generator.parts import Source, qualified
from tests.support.histories import TABLES

PAIRS = (("r", "u"), ("t", "u"), ("u", "u"), ("r", "v"), ("r", "t"), ("u", "pair"), ("kv", "r"))
"""Tables that share the column `a`."""


def using(gen: Generator) -> Source:
    """Return two tables joined by the columns they share."""
    left, right = gen.name("q"), gen.name("q")
    tables = gen.choices.pick(PAIRS)
    shared = [name for name in TABLES[tables[0]] if name in TABLES[tables[1]]]
    word = _word(gen)
    if gen.has("using") and gen.sometimes(3):
        gen.use("using")
        join, named = f"NATURAL {word}", shared
        condition = ""
    else:
        named = ["a", "b"] if "b" in shared and gen.sometimes(3) else ["a"]
        join, condition = word, f" USING ({', '.join(named)})"
    columns: list[Typed] = [(name, TABLES[tables[0]][name]) for name in named]
    sides = (left,) if "SEMI" in word or "ANTI" in word else (left, right)
    for alias, table in zip(sides, tables, strict=False):
        columns += qualified(alias, list(TABLES[table].items()))
    text = f"{tables[0]} AS {left} {join} {tables[1]} AS {right}{condition}"
    if gen.has("using") and named == ["a"] and gen.sometimes(3):
        gen.use("using")
        third, table, again = gen.name("q"), gen.choices.pick(("kv", "v", "t")), _word(gen)
        text += f" {again} {table} AS {third} USING (a)"
        if "SEMI" not in again and "ANTI" not in again:
            columns += qualified(third, list(TABLES[table].items()))
    return Source(text, columns)


def _word(gen: Generator) -> str:
    words = ["JOIN"]
    if gen.has("using") and gen.has("outer"):
        words += ["LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]
    if gen.has("using") and gen.has("semi"):
        words += ["LEFT SEMI JOIN", "LEFT ANTI JOIN"]
    word = gen.choices.pick(words)
    if word != "JOIN":
        gen.use("using")
        gen.use("semi" if "SEMI" in word or "ANTI" in word else "outer")
    return word
