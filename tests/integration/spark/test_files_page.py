"""The Python of the page about folders of files runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.support.spark_oracle import assert_verified, stored_bag


def test_the_page_runs() -> None:
    page = Path(__file__).parents[3] / "docs" / "files.md"
    [program] = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {"__name__": "page"}
    exec(compile(program, str(page), "exec"), names)
    with names["db"] as db:
        assert stored_bag(db, "cities") == {("Oslo", 2, 15): 1, ("Bergen", 1, 3): 1}
        assert_verified(db, "cities")
