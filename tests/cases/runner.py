"""Runs a case on an engine: a session of DuckDB here, one of Spark and Delta elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

import pytest

from streamtables.compiler.plan import Plan, compile_sql
from streamtables.errors import SqlError
from tests.cases.reader import Case, Change, Moment, Refresh, Rejection, View, typed
from tests.support.bags import Bag, bag_of


class CaseEngine(Protocol):
    """What a case needs of an engine."""

    def define(self, view: str, sql: str) -> None:
        """Create a stream table without filling it."""

    def change(self, change: Change) -> None:
        """Change a table."""

    def set_clock(self, moment: datetime) -> None:
        """Have the clock say another moment."""

    def refresh(self, view: str) -> tuple[str, Bag]:
        """Refresh a stream table; return the mode that was used and all visible rows."""

    def verify(self) -> None:
        """Have the product judge what it stored, where it can."""

    def close(self) -> None:
        """Give back what was opened."""


def run_case(case: Case, open_engine: Callable[[Case], CaseEngine]) -> None:
    """Run all steps of a case; a silent full refresh fails it."""
    engine = open_engine(case)
    plans: dict[str, Plan] = {}
    try:
        for step in case.steps:
            match step:
                case View():
                    plans[step.name] = compile_sql(step.sql, case.columns, case.keys)
                    engine.define(step.name, step.sql)
                case Change():
                    engine.change(step)
                case Moment():
                    engine.set_clock(step.at)
                case Refresh():
                    mode, rows = engine.refresh(step.view)
                    assert mode == step.mode, f"{plans[step.view].refusals}"
                    expected = _expected(step, plans[step.view])
                    assert rows == expected, f"{step.view} has {rows}, not {expected}"
                case Rejection():
                    check_rejection(step, case)
        engine.verify()
    finally:
        engine.close()


def check_rejection(step: Rejection, case: Case) -> None:
    """A refusal is a value with a place; an error is raised."""
    if step.kind == "error":
        with pytest.raises(SqlError) as caught:
            compile_sql(step.sql, case.columns, case.keys)
        code, texts = caught.value.code, (caught.value.message, caught.value.detail)
    else:
        plan = compile_sql(step.sql, case.columns, case.keys)
        assert plan.refusals, f"not refused: {step.sql}"
        refusal = plan.refusals[0]
        assert "^" in refusal.place, f"no place: {step.sql}"
        assert refusal.hint
        code, texts = refusal.code, (refusal.message, refusal.reason)
    assert code == step.code
    assert any(step.text in text for text in texts), texts


def _expected(step: Refresh, plan: Plan) -> Bag:
    if plan.root is None:
        return bag_of(step.rows)
    types = [str(type_) for _, type_ in plan.output]
    return bag_of(typed(words, types) for words in step.rows)
