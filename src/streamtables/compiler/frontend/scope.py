"""Which names a part of a query can see, and what each of them means.

A visible column has the name the user knows and the name it has inside the plan, which is unique.
Names are compared without regard to case, as Spark does.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from streamtables.compiler.frontend.dialect import span_of
from streamtables.compiler.types import SqlType
from streamtables.errors import UnknownNameError


@dataclass(frozen=True)
class Visible:
    """A column that a query can name."""

    shown: str
    inner: str
    type: SqlType


Meaning = tuple[Visible, tuple[exp.Expr, ...]]
"""A column, and the struct fields that follow its name."""


@dataclass(frozen=True)
class Relation:
    """One item of a FROM clause: its alias (with a namespace where it has one) and its columns."""

    alias: tuple[str, ...]
    columns: tuple[Visible, ...]

    def answers_to(self, qualifier: tuple[str, ...]) -> bool:
        """Whether a column may be named with this qualifier."""
        lowered = tuple(part.lower() for part in self.alias)
        return lowered[-len(qualifier) :] == tuple(part.lower() for part in qualifier)


@dataclass(frozen=True)
class Scope:
    """The relations of one FROM clause, in order, and the columns that need no qualifier.

    `visible` is what `*` shows.  USING leaves one of two equal columns in it; the other one can
    still be named by its relation.
    """

    relations: tuple[Relation, ...]
    visible: tuple[Visible, ...]
    unlisted: tuple[Visible, ...] = ()
    """Columns that need no qualifier either, but are nothing that `*` shows."""

    @classmethod
    def of(cls, relation: Relation) -> Scope:
        """Return the scope of one relation."""
        return cls((relation,), relation.columns)

    def beside(self, other: Scope) -> Scope:
        """Return the scope of both FROM clauses together."""
        return Scope(self.relations + other.relations, self.visible + other.visible)

    def resolve(self, column: exp.Column, sql: str) -> Meaning:
        """Return the column that a reference means, and the struct fields that follow it."""
        found = self.find(column, sql)
        if found is None:
            raise self._unknown(column, sql)
        return found

    def find(self, column: exp.Column, sql: str) -> Meaning | None:
        """Return what a reference means; None where nothing here has that name."""
        parts = tuple(column.parts)
        for split in range(len(parts) - 1, 0, -1):
            qualifier = tuple(part.name for part in parts[:split])
            owned = [
                c for item in self.relations if item.answers_to(qualifier) for c in item.columns
            ]
            found = _named(parts[split].name, owned)
            if found:
                return _only(found, column, sql), parts[split + 1 :]
        found = _named(parts[0].name, (*self.visible, *self.unlisted))
        return (_only(found, column, sql), parts[1:]) if found else None

    def star(self, qualifier: tuple[str, ...] = ()) -> tuple[Visible, ...] | None:
        """Return what `*` or `alias.*` shows; None when no relation has that alias."""
        if not qualifier:
            return self.visible
        owner = next((item for item in self.relations if item.answers_to(qualifier)), None)
        if owner is None:
            return None
        # Spark puts what USING hid before the rest.
        hidden = [item for item in owner.columns if item not in self.visible]
        return (*hidden, *(item for item in self.visible if item in owner.columns))

    def has(self, name: str) -> bool:
        """Whether a column can be named so, without a qualifier."""
        return bool(_named(name, (*self.visible, *self.unlisted)))

    def _unknown(self, column: exp.Column, sql: str) -> UnknownNameError:
        names = sorted({item.shown for relation in self.relations for item in relation.columns})
        close = difflib.get_close_matches(column.name, names, n=1)
        text = ".".join(part.name for part in column.parts)
        hint = f'Did you mean "{close[0]}"?' if close else "Columns in reach: " + _listed(names)
        return UnknownNameError(
            f'no column "{text}" is in reach here', sql=sql, span=span_of(column), hint=hint
        )


def _named(name: str, columns: Iterable[Visible]) -> list[Visible]:
    wanted = name.lower()
    return [column for column in columns if column.shown.lower() == wanted]


def _only(found: list[Visible], column: exp.Column, sql: str) -> Visible:
    if len(found) > 1:
        raise _ambiguous(column, sql)
    return found[0]


def _ambiguous(column: exp.Column, sql: str) -> UnknownNameError:
    return UnknownNameError(
        f'column "{column.name}" is ambiguous',
        sql=sql,
        span=span_of(column),
        detail="More than one table in reach has a column of this name.",
        hint=f'Write the table before it, as in "t.{column.name}".',
    )


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:8])
    return (shown or "none") + (", …" if len(names) > 8 else "") + "."


@dataclass
class Namer:
    """Gives each column of a plan a name of its own, made from the one the user knows."""

    taken: set[str] = field(default_factory=set)

    def fresh(self, wanted: str) -> str:
        """Return a name that nothing in this plan has yet."""
        base = re.sub(r"\W+", "_", wanted.lower()).strip("_") or "column"
        if base.startswith("__st"):
            base = "c" + base
        name, number = base, 1
        while name in self.taken:
            number += 1
            name = f"{base}_{number}"
        self.taken.add(name)
        return name


def table_name(table: exp.Table) -> str:
    """Return the dotted name of a table reference."""
    return ".".join(part.name for part in table.parts)


def find_table(name: str, tables: Mapping[str, object]) -> str | None:
    """Return the spelling under which a table is registered, whatever the case used."""
    lowered = name.lower()
    return next((known for known in tables if known.lower() == lowered), None)
