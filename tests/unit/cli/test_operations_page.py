"""The operations page has a runbook for what happens; `tests/e2e/docs` runs its commands."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "operations.md").read_text("utf-8")


def test_every_runbook_is_there():
    titles = re.findall(r"^## (.*)$", PAGE, flags=re.MULTILINE)
    for word in ("Backup", "Restore", "slot", "suspended", "damaged", "disk", "Upgrade", "stop"):
        assert any(word in title for title in titles), word
    assert PAGE.count("\nstreamtables ") >= 20
