"""What explain says of each pattern, as text and as data."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from streamtables.compiler.explain import explain_data, explain_text
from streamtables.compiler.explaining.report import report_of
from streamtables.compiler.maintenance import Limits
from streamtables.compiler.plan import compile_sql
from streamtables.settings import Settings
from tests.golden.golden import Golden

PATHS = sorted((Path(__file__).parent / "explain").glob("*.sql"))
_LIMITS = re.compile(r"^-- limits: (\d+) join inputs, (\d+) scans$", re.MULTILINE)


def _limits(head: str) -> Limits:
    """Return the limits that a file names, else those that hold by default."""
    named = _LIMITS.search(head)
    if named is not None:
        return Limits(int(named[1]), int(named[2]))
    defaults = Settings()
    return Limits(defaults.deep_join_l0_scan_threshold, defaults.part3_max_scan_count)


def _explained(golden: Golden) -> str:
    """Return the file as it should be; other goldens have the delta SQL."""
    plan = golden.plan()
    report = report_of(plan, _limits(golden.head))
    text = explain_text(plan, report).partition("\n\ndelta SQL\n")[0]
    data = explain_data(plan, report)
    data.pop("delta_sql", None)
    data.pop("query")
    shown = "\n".join(line for name, value in data.items() for line in _lines(name, value))
    return f"{golden.head}\n---- text\n{text}\n---- data\n{shown}\n"


def _lines(name: str, value: object) -> list[str]:
    """Return a value on one line, and a list of values on one line each."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [f"{name}:", *(f"  {json.dumps(item, ensure_ascii=False)}" for item in value)]
    return [f"{name}: {json.dumps(value, ensure_ascii=False)}"]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_explain_says_what_the_golden_file_says(path: Path, update_golden: bool):
    text = _explained(Golden.read(path))
    if update_golden:
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, "run `make golden` and review the difference"


def test_the_example_of_the_page_is_what_explain_says():
    """All of it but the last refresh, whose seconds are those of one machine."""
    page = (Path(__file__).parents[2] / "docs" / "explain.md").read_text(encoding="utf-8")
    query = page.partition("```sql\n")[2].partition("\n```")[0]
    shown = page.partition("```text\n")[2].partition("\n\nlast refresh\n")[0]
    types = {"id": "bigint", "customer": "bigint", "amount": "decimal(12,2)"}
    tables = {"orders": types, "customers": {"id": "bigint", "region": "string"}}
    plan = compile_sql(query, tables, {"orders": ["id"], "customers": ["id"]})
    text = explain_text(plan, report_of(plan, _limits(""))).partition("\n\ndelta SQL\n")[0]
    assert shown == f"stream table sales  mode auto  full allow\n{text}"
