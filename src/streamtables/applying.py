"""Folders of definitions: all that a folder changes is compiled together and stored together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from streamtables.altering import Altering
from streamtables.apply_folder import ApplyItem, ApplyPlan, chosen, folder_steps
from streamtables.audit import Auditing
from streamtables.catalog.models import Function, View
from streamtables.catalog.names import check_name
from streamtables.choices import checked_choices
from streamtables.compiler.library_statements import CreateFunction, CreateView
from streamtables.compiler.statements import CreateStreamTable
from streamtables.refresh.altering.staging import AlterPlan, Staging
from streamtables.refresh.define import Choices
from streamtables.views_and_functions import function_entry, sql_parts, view_entry


class Applying(Altering, Auditing):
    """The methods of an open warehouse that make it equal to a folder."""

    def plan_apply(self, folder: str | Path, *, prune: bool = False) -> ApplyPlan:
        """Compare a folder of SQL files with the catalog; nothing changes.

        Raises:
            InUseError: a table, view or function that stays would no longer compile.
        """
        there = self._catalog.snapshot().definitions
        return self.plan_steps(folder_steps(there, Path(folder), prune=prune))

    def plan_steps(self, steps: tuple[ApplyItem, ...]) -> ApplyPlan:
        """Say what steps do to rows and readers; nothing changes."""
        work = self._staging(self._catalog.snapshot())
        plan = self._staged(work, steps)
        # What is to go may be read by what stays.
        work.result()
        return plan

    def apply(self, plan: ApplyPlan) -> ApplyPlan:
        """Do what a plan says, all of it or nothing."""
        if all(step.action == "unchanged" for step in plan.steps):
            return plan
        self._stored_together(lambda work: self._staged(work, plan.steps))
        for step in plan.steps:
            if step.action != "unchanged":
                self.record_change(_ACTIONS.get(type(step.statement), step.action), step.name)
        return plan

    def _staged(self, work: Staging, steps: tuple[ApplyItem, ...]) -> ApplyPlan:
        work.spare(step.name for step in steps if step.action in ("alter", "drop"))
        return ApplyPlan(tuple(self._stage(work, step) for step in steps))

    def _stage(self, work: Staging, step: ApplyItem) -> ApplyItem:
        """Stage a step, and return it with what it does."""
        match step.action, step.statement:
            case "create", CreateStreamTable() as statement:
                check_name(step.name)
                location = self._new_location(step.name)
                work.create(step.name, statement.query, _choices(statement), location=location)
            case "alter", CreateStreamTable() as statement:
                answer = work.alter(step.name, _choices(statement), query=statement.query)
                return replace(step, details=_details(step, answer))
            case "create" | "alter", CreateView() | CreateFunction() as statement:
                moved = work.put(_entry(work, statement, replaces=step.action == "alter"))
                if step.action == "alter":
                    does = f"rebuilds {', '.join(moved)}" if moved else "no row is touched"
                    return replace(step, details=f"{step.details}: {does}")
            case "drop", _ if work.definitions.named(step.name) is not None:
                work.drop(step.name)
        return step


_ACTIONS = {CreateView: "add_view", CreateFunction: "add_function"}
"""Under which name a step is kept in the list of who changed what."""


def _details(step: ApplyItem, answer: AlterPlan) -> str:
    """Say what an altered table gets: choices, rows and readers."""
    said = [step.details] if step.details else []
    if step.queried:
        said.insert(0, f"query: {answer.effect.text}")
    return "; ".join([*said, *answer.carried])


def _choices(statement: CreateStreamTable) -> Choices:
    # What the file does not say is taken back, as the folder is the truth.
    return checked_choices(**chosen(statement), options=statement.options)


def _entry(
    work: Staging, statement: CreateView | CreateFunction, *, replaces: bool
) -> View | Function:
    if isinstance(statement, CreateView):
        check_name(statement.name)
        return view_entry(
            work.definitions, statement.name, statement.text, work.at, replace=replaces
        )
    parts = sql_parts(statement.parameter_types, statement.returns, statement.body)
    return function_entry(work.definitions, statement.name, "sql", parts, work.at, replace=replaces)
