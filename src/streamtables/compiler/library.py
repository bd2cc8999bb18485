"""What a query may use beside tables: views and functions.

A view is inlined as if it were a WITH query, a SQL function as the expression that it returns.  A
Python function stays a call, of which the compiler knows only the type.  Names are compared without
regard to case.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class View:
    """A query under a name."""

    name: str
    sql: str

    @property
    def kind(self) -> str:
        """What this is, for people."""
        return "view"

    @property
    def fingerprint(self) -> str:
        """Everything on which the rows of a reader depend."""
        return f"view {self.name.lower()}\n{self.sql.strip()}"


@dataclass(frozen=True)
class SqlFunction:
    """An expression over parameters, under a name."""

    name: str
    parameters: tuple[tuple[str, str], ...]
    returns: str
    body: str

    @property
    def kind(self) -> str:
        """What this is, for people."""
        return "function"

    @property
    def fingerprint(self) -> str:
        """Everything on which the rows of a reader depend."""
        parameters = ", ".join(f"{name} {type_}" for name, type_ in self.parameters)
        return f"function {self.name.lower()}({parameters}) {self.returns}\n{self.body.strip()}"


@dataclass(frozen=True)
class PythonFunction:
    """A function that a process brings along; its code is not known here."""

    name: str
    returns: str
    deterministic: bool = True
    aggregate: bool = False
    """Whether it turns many rows into one value."""

    @property
    def kind(self) -> str:
        """What this is, for people."""
        return "Python function"

    @property
    def fingerprint(self) -> str:
        """Everything on which the rows of a reader depend, as far as it is known."""
        what = "aggregate" if self.aggregate else "function"
        return f"python {what} {self.name.lower()} {self.returns}"


Function = SqlFunction | PythonFunction
Entry = View | SqlFunction | PythonFunction


@dataclass(frozen=True)
class Library:
    """All views and functions that a query may use, by their names in lower case."""

    views: Mapping[str, View] = field(default_factory=dict)
    functions: Mapping[str, Function] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Library:
        """Return a library of these views and functions."""
        known = list(entries)
        return cls(
            {entry.name.lower(): entry for entry in known if isinstance(entry, View)},
            {entry.name.lower(): entry for entry in known if not isinstance(entry, View)},
        )

    def view(self, name: str) -> View | None:
        """Return the view of this name, or None."""
        return self.views.get(name.lower())

    def function(self, name: str) -> Function | None:
        """Return the function of this name, or None."""
        return self.functions.get(name.lower())


NOTHING = Library()
