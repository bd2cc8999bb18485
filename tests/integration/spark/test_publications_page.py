"""The Python of the page about publications runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path


def test_the_page_runs() -> None:
    page = Path(__file__).parents[3] / "docs" / "publications.md"
    [program] = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, object] = {"__name__": "page"}
    exec(compile(program, str(page), "exec"), names)
    assert names["copy"]
