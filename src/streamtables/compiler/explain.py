"""A compiled plan as text for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamtables.compiler.plan import Plan


def explain_text(plan: Plan) -> str:
    """Return the plan of a query, operator by operator."""
    return plan.sql
