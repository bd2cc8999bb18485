"""How a query is maintained, for people and for programs."""

from __future__ import annotations

from dataclasses import dataclass, field

from streamtables.catalog.models import StreamTable
from streamtables.compiler import Plan
from streamtables.compiler.explain import explain_data


@dataclass(frozen=True)
class Explanation:
    """The same facts as text and as data that JSON can hold."""

    text: str
    data: dict[str, object] = field(default_factory=dict, hash=False)


def explain_plan(plan: Plan, table: StreamTable | None) -> Explanation:
    """Explain a plan, and the choices of the table that it belongs to."""
    data: dict[str, object] = dict(explain_data(plan))
    lines = []
    if table is not None:
        data |= {"table": table.name, "mode": table.mode, "full": table.full_policy}
        lines.append(f"stream table {table.name}  mode {table.mode}  full {table.full_policy}")
    return Explanation("\n".join([*lines, plan.explain()]), data)
