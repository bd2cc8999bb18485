"""Text compared by a collation: two spellings of a word are equal, and stay two values."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.expressions import Typed
from tests.support.generator.core import Generator, Makers
from tests.support.generator.subqueries import of_type


def collated(text: str) -> str:
    """Return text that is compared without regard to case."""
    return f"({text} COLLATE UTF8_LCASE)"


def comparison(gen: Generator, columns: Sequence[Typed]) -> str:
    """Return a comparison by a collation."""
    texts = of_type(columns, "string")
    text = collated(gen.choices.pick(texts) if texts else "'x'")
    options = [f"{text} {operator} 'X'" for operator in ("=", "<>", "<=>", "<", ">=")]
    options += [f"{text} IN ('X', 'y')", f"{text} BETWEEN 'X' AND 'Y'"]
    if texts:
        options += [f"{text} = {gen.choices.pick(texts)}"] * 3
    return gen.choices.pick(options)


def compared(gen: Generator, columns: Sequence[Typed]) -> Typed:
    """Return such a comparison as a column."""
    return comparison(gen, columns), "boolean"


MAKERS = Makers(conditions=(comparison,), values=(compared,))
