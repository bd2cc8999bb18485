"""The views and functions of one compilation: each is read once, and what is used is noted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from streamtables.compiler.library import NOTHING, Entry, Function, Library, View
from streamtables.errors import SqlError

if TYPE_CHECKING:
    from streamtables.compiler.frontend.binding import Bound


@dataclass
class Inlining:
    """What has been read of a library so far; it lives as long as one compilation."""

    library: Library = NOTHING
    queries: dict[str, exp.Query] = field(default_factory=dict)
    """The parsed views, by name in lower case."""
    bodies: dict[str, exp.Expr] = field(default_factory=dict)
    """The bound bodies of SQL functions, by name in lower case."""
    calling: list[str] = field(default_factory=list)
    """The SQL functions whose bodies are being bound, each called by the one before it."""
    bound: dict[str, Bound] = field(default_factory=dict)
    """The bound views, by name in lower case."""
    _used: dict[Entry, None] = field(default_factory=dict)

    @property
    def used(self) -> tuple[Entry, ...]:
        """Everything that the query reaches, directly or through others, in one order."""
        return tuple(sorted(self._used, key=lambda entry: (entry.kind, entry.name.lower())))

    def view(self, name: str) -> View | None:
        """Return the view of this name and note its use; None where there is none."""
        found = self.library.view(name)
        if found is not None:
            self._used[found] = None
        return found

    def function(self, name: str) -> Function | None:
        """Return the function of this name and note its use; None where there is none."""
        found = self.library.function(name)
        if found is not None:
            self._used[found] = None
        return found


@contextmanager
def inside_of(entry: Entry, text: str) -> Iterator[None]:
    """Let errors in the text of a view or function say where they stand."""
    try:
        yield
    except SqlError as error:
        if error.sql == text:
            place = f'This stands in the {entry.kind} "{entry.name}".'
            if place not in error.detail:
                error.detail = f"{error.detail} {place}".strip()
        raise
