"""The items of a select list while it is being bound."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp


@dataclass(frozen=True)
class SelectItem:
    """One item of a select list, bound over FROM, and the name it is shown under.

    A hidden item is only there to order or to filter by.  `names` are the columns of a generator
    that makes several.
    """

    shown: str
    expression: exp.Expr
    hidden: bool = False
    names: tuple[str, ...] = ()

    def over(self, expression: exp.Expr) -> SelectItem:
        """Return the item with another expression."""
        return replace(self, expression=expression)

    def answers_to(self, name: exp.Column) -> bool:
        """Whether an unqualified name means this item."""
        return not name.table and name.name.lower() == self.shown.lower()


def aliases_of(items: list[SelectItem]) -> dict[str, exp.Expr]:
    """Return the items under the names that other clauses may use."""
    return {item.shown.lower(): item.expression for item in items}
