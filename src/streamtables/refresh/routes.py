"""The writes of the past that tell how the next one is written, as records keep them."""

from __future__ import annotations

from typing import cast

from streamtables.catalog.models import JsonValue, RefreshRecord
from streamtables.refresh.routing import HANDS, Hand, Route, Write, Written

APPLY = "apply"
"""The step of a record that wrote."""


def route_facts(route: Route) -> dict[str, JsonValue]:
    """Return what a record keeps of a choice between the hands."""
    write = route.write
    expected = {f"expected_{hand}": round(route.expected[hand], 3) for hand in HANDS}
    touched = {"rows": write.rows, "touched_files": write.files, "touched_bytes": write.size}
    return {"routed": route.hand, **touched, **expected}


def written_by(record: RefreshRecord) -> Written | None:
    """Return the write of a refresh, if it was one that either hand could have done."""
    step = next((item for item in record.steps if item.name == APPLY), None)
    if step is None or record.state != "applied" or "routed" not in step.facts:
        return None
    rows, files, size = (
        int(cast("int", step.facts[name])) for name in ("rows", "touched_files", "touched_bytes")
    )
    seconds = step.seconds * record.own_share
    return Written(cast("Hand", step.facts["routed"]), Write(rows, files, size), seconds)
