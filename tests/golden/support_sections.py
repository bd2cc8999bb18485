"""Two sections of the page of supported SQL: each construct with its limits, and what is computed whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from streamtables.compiler.algebra import OPERATORS, Node, kind_of
from streamtables.compiler.explaining.complexity import computed_whole as operator_computed_whole
from streamtables.compiler.explaining.complexity import cost_of_change
from streamtables.compiler.plan import Plan, compile_sql
from streamtables.compiler.rewrites.rebuild import in_order
from streamtables.sql_support import sql_support
from tests.cases.reader import Case, Refresh, View
from tests.golden.constructs import CONSTRUCTS
from tests.support.histories import KEYS, TABLES

_CONSTRUCTS = """## Constructs

How each construct is kept, and what a change of one table alone costs, as
[explain](explain.md) says it: with *state* a change is added to what is stored; *linear* and
*multilinear* operators compute with the changed rows alone; *keyed* ones compute what the changed
rows touch again; *whole* ones compute with whole tables (the next section says which, and why). The
tables are those of the random histories on which every query of this table is followed.

| construct | query | kept | cost of a change |
|---|---|---|---|"""

_LIMITS = """### Limits

The rest of each construct is refused: ST-1201 by nature, ST-1203 because this version has no rule.

| construct | query | code | reason |
|---|---|---|---|"""

_WHOLE = """## Computed whole

Where a change makes an operator compute with whole tables, the refresh is exact and still commits
only rows that differ, but it takes about as long as the query itself. Mode `auto` then chooses by the
predicted time.

| operator | when, and why | for instance | executed cases |
|---|---|---|---|"""

_UNTRACED = """Other operators are computed whole where rows are looked up in them by columns that are not those of
their groups, or not of their left side: the look-up cannot be carried down to the tables. Groups of
columns of the padded side of an outer join, whose aggregates have no stored state, are one; the values by
which a correlated subquery without an equality is computed are another.

| operator | for instance | executed cases |
|---|---|---|"""


def in_cell(sql: str) -> str:
    """Return a query on one line, as a cell of a table can hold it."""
    return " ".join(sql.split()).replace("|", "\\|")


def constructs() -> str:
    """Return how each construct is kept, and what of it is refused."""
    kept, limits = [_CONSTRUCTS], [_LIMITS]
    for construct in CONSTRUCTS:
        name = construct.name
        for sql in construct.kept:
            plan = compile_sql(sql, TABLES, KEYS)
            kept.append(f"| {name} | `{in_cell(sql)}` | {_kept(plan)} | {_costs(plan)} |")
        for sql in construct.refused:
            refusal = compile_sql(sql, TABLES, KEYS).refusals[0]
            limits.append(f"| {name} | `{in_cell(sql)}` | {refusal.code} | {refusal.reason} |")
    return "\n".join([*kept, "", *limits])


def _kept(plan: Plan) -> str:
    """Return each operator that does more than pass rows on, with its kind."""
    found: dict[str, None] = {}
    chain = plan.maintenance.chain
    kept = plan.maintenance.state or plan.maintenance.first
    stored = chain.keyed if chain is not None and kept is not None else None
    for node in reversed(in_order(plan.definition)):
        name = type(node).__name__
        if isinstance(node, OPERATORS) and name not in ("Scan", "Project", "Filter"):
            found[f"{name} {kind_of(node)}"] = None
    kinds = ", ".join(found)
    if stored is not None:
        top = f"{type(stored).__name__} {kind_of(stored)}"
        kinds = kinds.replace(top, f"{type(stored).__name__} state", 1)
    return kinds or "linear"


def _costs(plan: Plan) -> str:
    costs = {table: cost_of_change(plan.maintenance, table).cost for table in plan.tables}
    if len(set(costs.values())) == 1:
        return next(iter(costs.values()))
    return "; ".join(f"{table}: {cost}" for table, cost in costs.items())


def computed_whole(cases: Sequence[Case]) -> str:
    """Return which operators are computed from whole tables, why, and where that is executed."""
    by_nature: dict[str, list[str]] = {}
    untraced: dict[str, list[str]] = {}
    executed: dict[tuple[bool, str], int] = {}
    for construct in CONSTRUCTS:
        for sql in construct.kept:
            for node in _whole_operators(compile_sql(sql, TABLES, KEYS)):
                group = by_nature if kind_of(node) == "whole" else untraced
                group.setdefault(type(node).__name__, []).append(sql)
    for case in cases:
        for place in {
            (kind_of(node) == "whole", type(node).__name__)
            for plan in _plans(case)
            for node in _whole_operators(plan)
        }:
            executed[place] = executed.get(place, 0) + 1
    lines = [_WHOLE]
    for operator in sql_support().operators:
        if operator.whole_because:
            examples = _examples(by_nature.get(operator.name, []))
            count = executed.get((True, operator.name), 0)
            lines.append(f"| {operator.name} | {operator.whole_because} | {examples} | {count} |")
    lines += ["", _UNTRACED]
    for name, queries in untraced.items():
        lines.append(f"| {name} | {_examples(queries)} | {executed.get((False, name), 0)} |")
    return "\n".join(lines)


def _examples(queries: Sequence[str]) -> str:
    return "<br>".join(f"`{in_cell(sql)}`" for sql in dict.fromkeys(queries))


def _plans(case: Case) -> Iterator[Plan]:
    refreshed = {step.view for step in case.steps if isinstance(step, Refresh)}
    for step in case.steps:
        if isinstance(step, View) and step.name in refreshed:
            plan = compile_sql(step.sql, case.columns, case.keys)
            if plan.incremental:
                yield plan


def _whole_operators(plan: Plan) -> list[Node]:
    """Return the operators that a change of one of the tables computes from whole tables."""
    found = (operator_computed_whole(plan.maintenance, table) for table in plan.tables)
    return [node for node in found if node is not None and isinstance(node, OPERATORS)]
