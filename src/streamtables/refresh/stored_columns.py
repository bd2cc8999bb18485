"""Whether a stored table has the hidden columns that its plan counts on.

A release may keep more beside the rows of a query than an earlier one did.  A table that was filled
by the earlier one is right for its readers, but changes cannot be put to a state that is not there:
it is filled once more, and the record says why.
"""

from __future__ import annotations

from collections.abc import Collection

from streamtables.compiler.plan_facts import PlanFacts


class OtherColumns(Exception):  # noqa: N818  a signal inside a refresh, never shown as an error
    """The stored rows lack columns; nothing has been written."""

    def __init__(self, missing: Collection[str]) -> None:
        self.reason = (
            f"the table was filled by a release that kept no {', '.join(sorted(missing))}, "
            "which its rows are kept by now"
        )
        super().__init__(self.reason)


def require_hidden(facts: PlanFacts, stored: Collection[str]) -> None:
    """Check that the hidden columns are stored that the plan counts on.

    Raises:
        OtherColumns: they are not.
    """
    if missing := set(facts.hidden).difference(stored):
        raise OtherColumns(missing)
