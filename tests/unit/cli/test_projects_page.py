"""The files of the page about projects make a project that plans."""

from __future__ import annotations

import re
from pathlib import Path

from streamtables.api import StreamTables
from streamtables.project.definitions import load_definitions
from streamtables.project_file import project_in
from tests.support.delta_tables import DeltaTableFile

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "projects.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(toml|sql|python)\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


def files() -> dict[str, str]:
    """Return the files that the page shows, by the path in their first lines."""
    found = {}
    for kind, text in BLOCKS:
        path = re.search(r"^# ([a-z_/]+\.\w+)$", text, flags=re.MULTILINE)
        name = re.search(r"^-- name: (\w+)$", text, flags=re.MULTILINE)
        assert path or name, text
        found[path[1] if path else f"tables/{name[1]}.sql"] = text  # type: ignore[index]
        assert kind in ("toml", "sql", "python")
    return found


def test_the_files_of_the_page_are_a_project(tmp_path: Path):
    for path, text in files().items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    DeltaTableFile(
        tmp_path / "data" / "orders",
        {"order_id": "bigint", "city": "string", "amount": "bigint"},
        [(1, "Bern", 1)],
    )
    project = project_in(tmp_path)
    assert project is not None
    for name, schedule in (("dev", "1 minute"), ("prod", "30 seconds")):
        definitions = load_definitions(project, project.environment(name))
        chosen = {item.name: getattr(item, "schedule", None) for item in definitions.statements}
        assert chosen == {
            "revenue": schedule,
            "large_cities": "on change",
            "busy_cities": "on change",
        }
    with StreamTables(tmp_path / "warehouse" / "dev") as db:
        plan = db.plan_project(load_definitions(project, project.environment()))
    assert [(action, name) for action, name, _ in plan.items] == [
        ("create", "customers"),
        ("create", "orders"),
        ("create", "revenue"),
        ("create", "busy_cities"),
        ("create", "large_cities"),
    ]


def test_every_action_and_verdict_is_explained():
    for word in ("create", "alter", "drop", "later", "blocked", "unchanged"):
        assert f"| `{word}` |" in PAGE
    for word in ("incremental", "full", "view", "unchecked", "refused"):
        assert f"| `{word}` |" in PAGE
