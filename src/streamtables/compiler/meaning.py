"""What a query means for its stored rows, as a value that two spellings of one query share.

Names of tables and subqueries inside a query, blanks and comments are gone once it is compiled, so
the program that computes all stored rows is the same text for both.  A query without a plan runs as
it is written, and only blanks and comments tell nothing there.
"""

from __future__ import annotations

from dataclasses import dataclass

from streamtables.compiler.backend.statement import Program
from streamtables.compiler.frontend.dialect import tokens_of
from streamtables.compiler.plan import Plan
from streamtables.compiler.types import SqlType

Columns = tuple[tuple[str, SqlType], ...]


@dataclass(frozen=True)
class Meaning:
    """The stored rows of a query: their columns, their identity, and how they are computed."""

    visible: Columns
    hidden: Columns
    key: tuple[str, ...] | None
    rows: Program | tuple[tuple[str, str], ...]
    functions: tuple[str, ...] = ()
    """What is known of the functions in Python that it calls."""

    @property
    def stored(self) -> tuple[Columns, bool]:
        """What decides whether rows of one query can stand among those of another."""
        return (*self.visible, *self.hidden), self.key is None


def meaning_of(plan: Plan) -> Meaning:
    """Return what the stored rows of a compiled query are."""
    called = [e.fingerprint for e in plan.used if e.name in plan.python_functions]
    if plan.root is None:
        tokens = tokens_of(plan.query_program().sql)
        # With their kinds: 'a' and a are the same letters.
        words = tuple((token.token_type.name, token.text) for token in tokens)
        return Meaning((), (), None, words, tuple(called))
    layout = plan.maintenance.layout
    rows = plan.maintenance.full()
    return Meaning(layout.visible, layout.hidden, layout.key, rows, tuple(called))
