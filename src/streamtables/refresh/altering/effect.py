"""What a new query does to the stored rows: a pure answer from two compiled queries.

    nothing       both mean the same: the text is kept, no row is looked at
    difference    the same columns: computed anew, and only rows that differ are written
    rebuild       other columns: all rows are written beside the old ones and take their place

The last two are one commit each, made by the next refresh.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from streamtables.compiler import Plan
from streamtables.compiler.meaning import Columns, meaning_of
from streamtables.compiler.types import UNKNOWN

Kind = Literal["nothing", "difference", "rebuild"]


@dataclass(frozen=True)
class Effect:
    """What becomes of the rows of one table, and which of its columns differ."""

    kind: Kind
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    retyped: tuple[tuple[str, str, str], ...] = ()
    moved: bool = False
    """Whether columns that stay stand in another order."""
    known: bool = True
    """Whether the columns are known before Spark has computed the query."""
    filled: bool = True
    """Whether the table has rows."""

    @property
    def text(self) -> str:
        """Say it in one line."""
        if self.kind == "nothing":
            return "the same meaning: no row is touched"
        if not self.filled:
            return _listed([*self._columns, "no rows yet: the first refresh fills it"])
        if not self.known:
            return "rebuilt aside, then swapped in by one commit; Spark alone can tell its columns"
        if self.kind == "difference":
            return "the same columns: computed anew, rows that differ are written by one commit"
        return _listed([*self._columns, "rebuilt aside, then swapped in by one commit"])

    @property
    def _columns(self) -> list[str]:
        parts = [f"adds column {name}" for name in self.added]
        parts += [f"removes column {name}" for name in self.removed]
        parts += [_retyped(*item) for item in self.retyped]
        parts += ["orders its columns anew"] if self.moved else []
        return parts


def effect_of(old: Plan | None, new: Plan, *, filled: bool) -> Effect:
    """Compare what is defined with what is to be; `old` is None where it no longer compiles."""
    if old is None:
        return Effect("rebuild", known=new.root is not None, filled=filled)
    before, after = meaning_of(old), meaning_of(new)
    if before == after:
        return Effect("nothing", filled=filled)
    if old.root is None or new.root is None:
        return Effect("rebuild", known=new.root is not None, filled=filled)
    kind: Kind = "difference" if before.stored == after.stored else "rebuild"
    return _compared(kind, before.visible, after.visible, filled=filled)


def _compared(kind: Kind, before: Columns, after: Columns, *, filled: bool) -> Effect:
    was = {name.lower(): str(type_) for name, type_ in before}
    now = {name.lower() for name, _ in after}
    typed = [(name, was[name.lower()], str(new)) for name, new in after if name.lower() in was]
    stayed = [name.lower() for name, _ in before if name.lower() in now]
    return Effect(
        kind,
        added=tuple(name for name, _ in after if name.lower() not in was),
        removed=tuple(name for name, _ in before if name.lower() not in now),
        retyped=tuple(item for item in typed if item[1] != item[2]),
        moved=[name.lower() for name, _, _ in typed] != stayed,
        filled=filled,
    )


def _retyped(name: str, old: str, new: str) -> str:
    if UNKNOWN in (old, new):
        return f"column {name} may change its type"
    return f"column {name} becomes {new} (was {old})"


def _listed(parts: list[str]) -> str:
    return ", ".join(parts)
