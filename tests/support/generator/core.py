"""What all families share: names, room, tables, conditions and values, and which families are on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tests.support.choices import Choices
from tests.support.expressions import Expressions, Typed
from tests.support.generator.families import ALL, CORE
from tests.support.generator.parts import Item, Query, qualified
from tests.support.histories import TABLES

QueryMaker = Callable[["Generator", int], Query]
ConditionMaker = Callable[["Generator", Sequence[Typed]], str]
ValueMaker = Callable[["Generator", Sequence[Typed]], Typed]


QUOTED = ("c", "n", "e", "q")
"""What names of columns and relations begin with; some of them are written in quotes."""


@dataclass(frozen=True)
class Makers:
    """What a family can make: whole queries (flat ones too), conditions and values."""

    flat: Sequence[QueryMaker] = ()
    nested: Sequence[QueryMaker] = ()
    conditions: Sequence[ConditionMaker] = ()
    values: Sequence[ValueMaker] = ()
    aggregates: Sequence[ValueMaker] = ()


@dataclass
class Generator:
    """Makes queries; one generator gives each derived table and column its own name."""

    choices: Choices
    makers: Mapping[str, Makers]
    families: Sequence[str] = ALL
    ties: bool = False
    expressions: Expressions = field(init=False)
    used: set[str] = field(default_factory=set)
    deterministic: bool = True
    # How many nested queries the text may hold; without it a deep text grows without bound.
    room: int = 0
    # The columns that the query around the present subquery can see, for correlation over two levels.
    around: list[Typed] = field(default_factory=list)
    _counter: int = 0

    def __post_init__(self) -> None:
        self.expressions = Expressions(self.choices)

    # Choosing

    def name(self, stem: str) -> str:
        """Return a name that nothing else in the text has."""
        self._counter += 1
        plain = f"{stem}{self._counter}"
        if stem in QUOTED and self.has("quoted") and self.sometimes(6):
            self.use("quoted")
            return (
                f"`{self.choices.pick((f'{stem} {self._counter}', f'Group{plain}', f'ü{plain}'))}`"
            )
        return plain

    def sometimes(self, one_in: int) -> bool:
        """Return true once in so many times."""
        return self.choices.number(0, one_in - 1) == one_in - 1

    def has(self, family: str) -> bool:
        """Whether the family is switched on."""
        return family in CORE or family in self.families

    def _on(self) -> list[tuple[str, Makers]]:
        return [(family, found) for family, found in self.makers.items() if self.has(family)]

    def use(self, family: str) -> None:
        """Note that the text contains something of the family."""
        self.used.add(family)

    def tied(self) -> bool:
        """Choose whether to leave the order of some rows open, and note it."""
        if self.ties and self.sometimes(4):
            self.deterministic = False
            return True
        return False

    # Queries

    def root(self, depth: int) -> Query:
        """Return a query with what is known about its whole text."""
        self.room = 2 + 2 * depth
        query = self.query(depth)
        return replace(query, families=frozenset(self.used), deterministic=self.deterministic)

    def query(self, depth: int) -> Query:
        """Return a query nested at most `depth` levels."""
        self.room -= 1
        options: list[tuple[str, QueryMaker]] = []
        for family, makers in self._on():
            options += [(family, maker) for maker in makers.flat]
            if depth > 0 and self.room > 0:
                options += [(family, maker) for maker in makers.nested]
        family, maker = self.choices.pick(options)
        self.use(family)
        # A relation in FROM sees nothing of the query around it.
        around, self.around = self.around, []
        made = maker(self, depth)
        self.around = around
        return made

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables that may be read; times belong to the clock."""
        return tuple(name for name in TABLES if name != "ev" or self.has("clock"))

    def table(self) -> tuple[str, list[Typed]]:
        """Return a table under a new alias, and its qualified columns."""
        alias, table = self.name("q"), self.choices.pick(self.tables)
        return f"{table} AS {alias}", qualified(alias, list(TABLES[table].items()))

    def relation(self, depth: int) -> tuple[str, list[Typed]]:
        """Return a table, or a query in its place."""
        if depth <= 0 or self.room <= 0 or self.choices.number(0, 2) < 2:
            return self.table()
        inner, alias = self.query(depth - 1), self.name("q")
        return f"({inner.sql}) AS {alias}", qualified(alias, inner.columns)

    # Expressions

    def condition(self, columns: Sequence[Typed]) -> str:
        """Return a predicate, perhaps with a subquery in it."""
        plain = self.expressions.condition(list(columns))
        makers = [(name, maker) for name, found in self._on() for maker in found.conditions]
        if not makers or self.room <= 0 or not self.sometimes(3):
            return plain
        family, maker = self.choices.pick(makers)
        self.use(family)
        self.room -= 1
        with_subquery = maker(self, columns)
        # Where IN cannot be told Spark says false and DuckDB NULL, so NULL is made false.
        otherwise = "false" if " IN (SELECT" in with_subquery else plain
        return self.choices.pick(
            (
                with_subquery,
                f"NOT ({with_subquery})",
                f"({with_subquery} OR {plain})",
                f"({plain} AND {with_subquery})",
                f"coalesce({with_subquery}, {otherwise})",
            )
        )

    def value(self, columns: Sequence[Typed]) -> Typed:
        """Return a value, perhaps that of a subquery."""
        makers = [(name, maker) for name, found in self._on() for maker in found.values]
        if not makers or self.room <= 0 or not self.sometimes(6):
            return self.expressions.value(list(columns))
        family, maker = self.choices.pick(makers)
        self.use(family)
        self.room -= 1
        return maker(self, columns)

    def items(self, columns: Sequence[Typed], count: int) -> list[Item]:
        """Return a select list of values."""
        values = [self.value(columns) for _ in range(count)]
        return [(text, self.name("c"), type_) for text, type_ in values]

    def plain_items(self, columns: Sequence[Typed], count: int) -> list[Item]:
        """Return a select list without subqueries."""
        values = [self.expressions.value(list(columns)) for _ in range(count)]
        return [(text, self.name("c"), type_) for text, type_ in values]

    def aggregates(self, columns: Sequence[Typed]) -> list[Item]:
        """Return one to three aggregate calls."""
        calls = [self.aggregate(columns) for _ in range(self.choices.number(1, 3))]
        return [(text, self.name("n"), type_) for text, type_ in calls]

    def aggregate(self, columns: Sequence[Typed]) -> Typed:
        """Return one aggregate call."""
        makers = [(name, maker) for name, found in self._on() for maker in found.aggregates]
        if not makers or not self.sometimes(3):
            return self.expressions.aggregate(list(columns))
        family, maker = self.choices.pick(makers)
        self.use(family)
        return maker(self, columns)

    def where(self, columns: Sequence[Typed], needed: str = "") -> str:
        """Return a WHERE clause, or nothing."""
        found = [needed] if needed else []
        if self.choices.number(0, 1):
            found.append(self.condition(columns))
        if self.sometimes(3):
            found.append(self.expressions.plain_condition(list(columns)))
        return f" WHERE {' AND '.join(found)}" if found else ""

    def order(self, columns: Sequence[Typed], first: int = 1) -> str:
        """Return sort keys over all of the columns, so that only equal rows are tied.

        Where ties are wanted, only some columns take part.
        """
        names = [name for name, _ in columns]
        lead = [self.choices.pick(names) for _ in range(first)]
        rest = [] if self.tied() else [name for name in names if name not in lead]
        return ", ".join(f"{name}{self.direction()}" for name in [*dict.fromkeys(lead), *rest])

    def direction(self) -> str:
        """Return how a sort key is sorted; mostly as the dialect has it."""
        return self.choices.pick(
            ("", "", "", " DESC", " DESC", " ASC NULLS LAST", " DESC NULLS FIRST")
        )
