"""Which way one refresh goes: facts gathered, every open way predicted, one chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from time import perf_counter

import pyarrow as pa

from streamtables.catalog.models import CHOICE, Step
from streamtables.engine.outcomes import Applied
from streamtables.errors import FullForbiddenError
from streamtables.refresh.cost_model import WAYS, Prediction, Sample, Way, Work
from streamtables.refresh.costs import choice_facts
from streamtables.refresh.decide import Decision, Facts, decide
from streamtables.refresh.looked_up import reaches_far
from streamtables.refresh.past_book import REMEMBERED
from streamtables.refresh.surroundings import Surroundings
from streamtables.refresh.task import Task
from streamtables.refresh.work import Works
from streamtables.sources.changes import SharedChanges

Changes = dict[str, pa.Table]

SILENT = timedelta(seconds=60)
"""For how long after its creation nothing is predicted of a table: it is still being filled."""


@dataclass(frozen=True)
class Choice:
    """The way that was chosen, and what was known when it was."""

    decision: Decision
    work: Work
    predictions: Mapping[Way, Prediction]
    seconds: float
    cold: bool = False
    """Whether this process takes the way for the first time."""

    def step(self, result: Applied, own_share: float) -> Step:
        """Return the step of the record that later predictions are made from."""
        work = self.work
        if result.strategy == "overwrite":
            # Only now is it known how many rows the query gives.
            work = replace(work, stored_rows=result.rows_inserted or 0)
        facts = choice_facts(
            self.decision.way, work, self.predictions, cold=self.cold, own_share=own_share
        )
        return Step(CHOICE, self.seconds, facts)


@dataclass(frozen=True)
class Choosing:
    """Chooses the way of one task."""

    task: Task
    changes: SharedChanges
    around: Surroundings

    def choose(self, small: Changes | None, *, query_changed: bool) -> Choice:
        """Choose from what is known; `small` are the changes, where they fit the driver."""
        began = perf_counter()
        facts = self._facts(small, query_changed=query_changed)
        works: Mapping[Way, Work] = {}
        if decide(facts).mode != "full":
            facts, works = self._predicted(facts, small)
        decision = decide(facts)
        self._check_policy(decision)
        work = works.get(decision.way) or self._work_of(decision, facts)
        cold = self.around.costs.is_first(self.task.table.id, decision.way)
        return Choice(decision, work, facts.predicted, round(perf_counter() - began, 6), cold)

    def _facts(self, small: Changes | None, *, query_changed: bool) -> Facts:
        task, settings = self.task, self.around.settings
        return Facts(
            table_mode=task.table.mode,
            filled=task.standing is not None,
            forced_full=task.full,
            query_changed=query_changed,
            refusal=task.plan.facts.refusal,
            rebuild=task.rebuild,
            full_allowed=task.table.full_policy != "forbid",
            changed_rows=None if small is None else rows_of(small),
            source_rows=_source_rows(task),
            full_threshold=settings.full_threshold,
            small=small is not None,
            reaches_far=small is not None and reaches_far(task.plan, small),
            choose_from_seconds=settings.choose_from_seconds,
            explore_after=settings.cost_explore_after,
        )

    def _predicted(self, facts: Facts, small: Changes | None) -> tuple[Facts, Mapping[Way, Work]]:
        """Add what each open way would take."""
        task = self.task
        if small is None:
            windows = (task.window(item) for item in task.changed)
            facts = replace(facts, changed_rows=self.changes.estimate(windows))
        works = Works(task, self.around).open_ways(small, facts.changed_rows)
        if self.around.clock() - task.table.created_at < SILENT:
            return facts, works
        catalog, costs = self.around.catalog, self.around.costs
        past = costs.past(task.table.id, lambda: catalog.history(task.table.id, REMEMBERED))
        predicted = {way: costs.predict(way, work, past) for way, work in works.items()}
        return replace(facts, predicted=predicted, untried=_untried(past)), works

    def _work_of(self, decision: Decision, facts: Facts) -> Work:
        """Return the work of a way that was not a matter of choice."""
        if decision.way == "full":
            return Works(self.task, self.around).full()
        return Work(changed_rows=facts.changed_rows or 0)

    def _check_policy(self, decision: Decision) -> None:
        forbidden = self.task.table.full_policy == "forbid" and not self.task.full
        if decision.mode == "full" and forbidden and decision.reason.code != "first-fill":
            raise FullForbiddenError(
                f'stream table "{self.task.table.name}" would need a full refresh',
                detail=f"Reason: {decision.reason.text}.",
                hint="Alter it with full='allow', or ask for one with full=True.",
            )


def rows_of(changes: Changes) -> int:
    """Return how many rows some changes have."""
    return sum(int(rows.num_rows) for rows in changes.values())


def _source_rows(task: Task) -> int | None:
    known = [item.rows for item in task.changed]
    return None if any(rows is None for rows in known) else sum(rows or 0 for rows in known)


def _untried(past: tuple[Sample, ...]) -> dict[Way, int]:
    """Return how many refreshes came after the last one of each way; a way never taken: of all."""
    last: dict[Way, int] = {}
    for age, sample in enumerate(past):
        last.setdefault(sample.way, age)
    return {way: last.get(way, len(past)) for way in WAYS}
