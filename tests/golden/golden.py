"""A golden file: a query and everything the compiler makes of it, to be read from top to bottom.

    -- title: what it shows
    -- sources: orders(id int, cust int) key id; customers(cust_id int, name string)
    SELECT …
    ---- plan
    …

`make golden` rewrites the sections below the query.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import sqlglot

from streamtables.compiler.backend.statement import KeyValues, Lookup, Program
from streamtables.compiler.explain import form_reason, plan_tree
from streamtables.compiler.frontend.dialect import VerbatimSpark
from streamtables.compiler.plan import Plan, compile_sql

_SOURCE = re.compile(r"(\w+)\(([^;]*)\)(?:\s+key\s+([\w, ]+))?")


@dataclass(frozen=True)
class Golden:
    """The part of a golden file that people write."""

    path: Path
    head: str
    sql: str
    tables: dict[str, dict[str, str]]
    keys: dict[str, list[str]]

    @classmethod
    def read(cls, path: Path) -> Golden:
        """Read the title, the sources and the query of a file."""
        head = path.read_text(encoding="utf-8").partition("\n---- ")[0].rstrip()
        lines = head.splitlines()
        sources = next(line for line in lines if line.startswith("-- sources:"))
        tables: dict[str, dict[str, str]] = {}
        keys: dict[str, list[str]] = {}
        for name, columns, key in _SOURCE.findall(sources.removeprefix("-- sources:")):
            parts = re.split(r",(?![^(]*\))", columns)
            tables[name] = dict(part.strip().split(maxsplit=1) for part in parts)
            if key:
                keys[name] = re.split(r"[,\s]+", key.strip())
        sql = "\n".join(line for line in lines if not line.startswith("-- "))
        return cls(path, head, sql, tables, keys)

    def plan(self) -> Plan:
        """Compile the query."""
        return compile_sql(self.sql, self.tables, self.keys)

    def text(self) -> str:
        """Return the whole file as the compiler would have it now."""
        plan = self.plan()
        sections = {
            "plan": plan_tree(plan.definition),
            "delta plan": plan_tree(plan.delta),
            "delta sql (spark)": plan.delta_sql("spark"),
            "maintenance": _maintenance(plan),
        }
        body = "\n".join(f"---- {name}\n{text}" for name, text in sections.items())
        return f"{self.head}\n{body}\n"


def _maintenance(plan: Plan) -> str:
    kept = plan.maintenance
    programs = kept.restricted_to(frozenset(plan.tables), small=True)
    stored = ", ".join(
        f"{name} {type_}" for name, type_ in kept.layout.visible + kept.layout.hidden
    )
    reason = f"-- {kept.form}: {form_reason(kept)}"
    text = f"{reason}\n-- stored: {stored}\n{_program_text(programs.answer)}"
    text += _lookups_text(replace(programs, found=True).answer)
    if kept.state is None or not kept.state.may_lose:
        return text
    return f"{text}\n-- lost groups\n{_program_text(programs.lost_groups)}"


def _lookups_text(program: Program) -> str:
    """Return which rows of which tables are found first, where that is another program."""
    lines = [f"-- found: {_lookup_text(lookup)}" for lookup in program.lookups]
    return "".join(f"\n{line}" for line in lines)


def _lookup_text(lookup: Lookup) -> str:
    wanted = " or ".join(
        " and ".join(f"{item.column} in ({_held_text(item)})" for item in one)
        for one in lookup.any_of
    )
    return f"{lookup.view}({', '.join(lookup.columns)}) where {wanted}"


def _held_text(item: KeyValues) -> str:
    held = [f"{view}.{column}" for view, column in item.held]
    return ", ".join([*held, "NULL"] if item.null else held)


def _program_text(program: Program) -> str:
    steps = [f"-- step {step.name}\n{_pretty(step.sql)}" for step in program.steps]
    return "\n".join([*steps, f"-- answer\n{_pretty(program.sql)}"])


def _pretty(sql: str) -> str:
    tree = sqlglot.parse_one(sql, read=VerbatimSpark)
    return tree.sql(VerbatimSpark, pretty=True, normalize_functions=False)
