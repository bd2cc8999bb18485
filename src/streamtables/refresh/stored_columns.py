"""Whether a stored table has the hidden columns that its plan counts on.

A release may keep other columns beside the rows of a query than an earlier one did.  A table that
was filled by the earlier one is right for its readers, but changes cannot be put to a state, or
found by a key, that is not there: it is filled once more, and the record says why.
"""

from __future__ import annotations

from collections.abc import Collection

from streamtables.compiler.maintenance import ORDINALS
from streamtables.compiler.plan_facts import PlanFacts


class OtherColumns(Exception):  # noqa: N818  a signal inside a refresh, never shown as an error
    """The stored rows lack hidden columns, or have other ones; nothing has been written."""

    def __init__(self, *, missing: Collection[str], other: Collection[str]) -> None:
        kept = []
        if missing:
            kept.append(f"no {', '.join(sorted(missing))}, which its rows are kept by now")
        if other:
            kept.append(f"{', '.join(sorted(other))}, which its rows are no longer kept by")
        self.reason = f"the table was filled by a release that kept {' and '.join(kept)}"
        super().__init__(self.reason)


def require_hidden(facts: PlanFacts, stored: Collection[str]) -> None:
    """Check that the stored columns are those that the plan counts on.

    Raises:
        OtherColumns: they are not.
    """
    ordinals = ORDINALS if facts.key is None else ()
    wanted = {*(facts.key or ()), *facts.hidden}
    missing = wanted.difference(stored)
    hidden = {name for name in stored if name.startswith("__st_")}
    other = hidden.difference(wanted, ordinals)
    if missing or other:
        raise OtherColumns(missing=missing, other=other)
