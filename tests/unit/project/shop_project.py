"""A small project on a small Delta table; no Spark."""

from __future__ import annotations

from pathlib import Path

from streamtables.project.definitions import ProjectDefinitions, load_definitions
from streamtables.project_file import project_in
from tests.support.delta_tables import DeltaTableFile

PROJECT = """\
name = "shop"
default_environment = "dev"

[environments.dev]
warehouse = "warehouse/dev"

[environments.prod]
warehouse = "warehouse/prod"
"""


def write(folder: Path, **files: str) -> None:
    """Write files; a name is a path with __ for / and _dot_ for the last dot."""
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def shop(folder: Path, **files: str) -> DeltaTableFile:
    """Make a project with one source and, unless files say otherwise, one table."""
    orders = DeltaTableFile(
        folder / "data" / "orders",
        {"id": "bigint", "city": "string", "amount": "bigint"},
        [(1, "Bern", 10), (2, "Oslo", 20)],
    )
    default = {
        "streamtables_dot_toml": PROJECT,
        "sources__orders_dot_toml": 'path = "data/orders"\nkey = ["id"]\n',
        "tables__revenue_dot_sql": "SELECT city, sum(amount) AS total FROM orders GROUP BY city\n",
    }
    write(folder, **{**default, **files})
    return orders


def definitions(folder: Path, environment: str | None = None) -> ProjectDefinitions:
    """Read a project."""
    project = project_in(folder)
    assert project is not None
    return load_definitions(project, project.environment(environment))
