"""What a refresh needs of a plan beside its programs: plain values, no trees.

With these facts and the programs as texts a query is refreshed without being compiled again.
"""

from __future__ import annotations

from dataclasses import dataclass

from streamtables.compiler.maintenance import Form, StateShape
from streamtables.compiler.maintenance.growth import only_grows
from streamtables.compiler.plan import Plan
from streamtables.compiler.rewrites.mark_unchanged import tables_below


@dataclass(frozen=True)
class PlanFacts:
    """The facts of one compiled query."""

    incremental: bool
    refusal: str | None
    """Why changes alone cannot keep the result, if they cannot."""
    reads_clock: bool
    inexact: bool
    python_functions: tuple[str, ...]
    form: Form | None
    """None where there is no plan, and Spark computes the query as it is written."""
    key: tuple[str, ...] | None
    key_pairs: tuple[tuple[str, str], ...]
    """Pairs of a group column, as the programs name it, and the stored column that holds it."""
    state: StateShape | None
    hidden: tuple[str, ...] = ()
    """The stored columns beside those of the query, a bag's ordinals excepted."""
    first: int | None = None
    """How many rows are stored at most, where they are the first of an order."""
    follows: tuple[str, ...] | None = None
    """Whose changes lead on, where groups are stored apart; None for all that is read."""
    only_grows: bool = False
    """Whether rows that come to the tables can never take a stored row away."""

    @classmethod
    def of(cls, plan: Plan) -> PlanFacts:
        """Take the facts from a plan."""
        kept = plan.maintenance if plan.root is not None else None
        return cls(
            incremental=plan.incremental,
            refusal=plan.refusals[0].reason if plan.refusals else None,
            reads_clock=plan.reads_clock,
            inexact=plan.inexact,
            python_functions=plan.python_functions,
            form=kept.form if kept is not None else None,
            key=kept.layout.key if kept is not None else None,
            key_pairs=kept.key_pairs if kept is not None else (),
            state=kept.state.shape if kept is not None and kept.state is not None else None,
            hidden=tuple(name for name, _ in kept.layout.hidden) if kept is not None else (),
            first=kept.first.limit if kept is not None and kept.first is not None else None,
            follows=tuple(sorted(tables_below(plan.followed))) if plan.apart else None,
            only_grows=kept is not None
            and kept.form == "signed-rows"
            and only_grows(kept.definition),
        )
