"""Random scalar expressions that mean the same in Spark and in DuckDB.

Every column and expression has a type from this list: int, bigint, string, decimal(10,2), boolean,
date, timestamp, double, number (of a type that only matters to the engine).
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.support.choices import Choices

Typed = tuple[str, str]
"""SQL text and its type."""

_LITERALS: dict[str, tuple[str, ...]] = {
    "string": ("'x'", "'y'", "''"),
    "date": ("DATE '2024-01-01'", "DATE '2024-02-29'"),
    "timestamp": ("TIMESTAMP '2024-02-29 00:00:00'", "TIMESTAMP '2024-02-28 12:00:00'"),
    "boolean": ("true", "false"),
    "double": ("0.5D", "1.0D"),
}
_NUMBERS = ("1", "2", "0")
_PATTERNS = ("x%", "%x", "%x%", "x", "%")
_PLAIN = ("int", "bigint", "string", "date", "decimal(10,2)")
_SUMMED = ("int", "bigint", "decimal(10,2)", "double")


@dataclass(frozen=True)
class Expressions:
    """Makes conditions, values and aggregate calls over given columns."""

    choices: Choices

    def literal(self, type_: str) -> str:
        """Return a constant of a type."""
        return self.choices.pick(_LITERALS.get(type_, _NUMBERS))

    def condition(self, columns: list[Typed], depth: int = 1) -> str:
        """Return a predicate over some of the columns."""
        name, type_ = self.choices.pick(columns)
        operator = self.choices.pick(("=", ">", "<=", "<>", "<=>"))
        simple = f"{name} {operator} {self.literal(type_)}"
        options = [
            simple,
            f"{name} IS NOT NULL",
            f"{name} IS NULL",
            f"NOT ({simple})",
            f"coalesce({simple}, false)",
            f"{name} BETWEEN {self.literal(type_)} AND {self.literal(type_)}",
            f"{name} IN ({self.literal(type_)}, {self.literal(type_)})",
            f"{name} NOT IN ({self.literal(type_)}, NULL)",
            f"{name} IS DISTINCT FROM {self.literal(type_)}",
        ]
        if type_ == "boolean":
            options += [name, f"NOT {name}", f"{name} IS TRUE"]
        if type_ == "string":
            options += [f"{name} LIKE '{self.choices.pick(_PATTERNS)}'", f"length({name}) > 0"]
        if partners := [other for other, kind in columns if kind == type_ and other != name]:
            other = self.choices.pick(partners)
            options += [f"{name} = {other}", f"{name} IS NOT DISTINCT FROM {other}"]
        if depth > 0:
            more = self.condition(columns, depth - 1)
            options += [f"({simple} OR {more})", f"({simple} AND {more})"]
        return self.choices.pick(options)

    def plain_condition(self, columns: list[Typed]) -> str:
        """Return a comparison with constants that most rows meet, of a plain type if there is one.

        Whoever fetches rows can judge it, so it takes other ways through the compiler.
        """
        plain = [item for item in columns if item[1] in _PLAIN]
        name, type_ = self.choices.pick(plain or columns)
        one, other = self.literal(type_), self.literal(type_)
        options = [f"{name} >= {one}", f"{name} <= {one}", f"{one} < {name}"]
        options += [f"{name} IN ({one}, {other})", f"{name} BETWEEN {one} AND {other}"]
        if type_ == "string":
            options += [f"{name} LIKE '%'", f"{name} LIKE '{self.choices.pick(_PATTERNS)}'"]
        return self.choices.pick(options)

    def value(self, columns: list[Typed]) -> Typed:
        """Return a column, or an expression over one."""
        name, type_ = self.choices.pick(columns)
        if self.choices.number(0, 2) < 2:
            return name, type_
        return self.choices.pick(self._over(name, type_, columns))

    def _over(self, name: str, type_: str, columns: list[Typed]) -> list[Typed]:
        condition = self.condition(columns, 0)
        found: list[Typed] = [
            (f"coalesce({name}, {self.literal(type_)})", type_),
            (f"CASE WHEN {condition} THEN {name} END", type_),
            (f"nullif({name}, {self.literal(type_)})", type_),
            (condition, "boolean"),
            (f"named_struct('p', {name}, 'q', 1).p", type_),
        ]
        match type_:
            case "int":
                found += [(f"{name} + 1", "int"), (f"{name} * 2", "int"), (f"- {name}", "int")]
                found += [(f"{name} % 2", "int"), (f"abs({name})", "int")]
                found += [(f"CAST({name} AS BIGINT)", "bigint"), (f"greatest({name}, 1)", "int")]
                found += [(f"CASE {name} WHEN 1 THEN 2 ELSE {name} END", "int")]
                found += [(f"CAST({name} AS STRING)", "string")]
            case "string":
                found += [(f"upper({name})", "string"), (f"{name} || 'z'", "string")]
                found += [(f"length({name})", "int"), (f"substring({name}, 1, 1)", "string")]
            case "decimal(10,2)":
                found += [(f"abs({name})", type_), (f"{name} + 1", "number")]
                found += [(f"CAST({name} * 2 AS DECIMAL(10,2))", type_)]
            case "date":
                found += [(f"date_add({name}, 1)", "date"), (f"year({name})", "int")]
                found += [(f"month({name})", "int")]
            case "boolean":
                found += [(f"NOT {name}", "boolean"), (f"CAST({name} AS STRING)", "string")]
        return found

    def aggregate(self, columns: list[Typed]) -> Typed:
        """Return one aggregate call."""
        name, type_ = self.choices.pick(columns)
        condition = self.condition(columns, 0)
        calls: list[Typed] = [
            ("count(*)", "bigint"),
            (f"count({name})", "bigint"),
            (f"min({name})", type_),
            (f"max({name})", type_),
            (f"count(DISTINCT {name})", "bigint"),
            (f"count(CASE WHEN {condition} THEN 1 END)", "bigint"),
        ]
        if type_ in _SUMMED:
            exact = "double" if type_ == "double" else "number"
            calls += [(f"sum({name})", exact), (f"avg({name})", exact)]
            calls += [(f"sum(CASE WHEN {condition} THEN {name} END)", exact)]
            calls += [(f"sum({name}) + count(*)", exact)]
        if type_ in ("int", "decimal(10,2)"):
            calls += [(f"sum(DISTINCT {name})", "number")]
        call, result = self.choices.pick(calls)
        if self.choices.number(0, 4) == 4 and call.endswith(")"):
            call += f" FILTER (WHERE {self.condition(columns, 0)})"
        return call, result
