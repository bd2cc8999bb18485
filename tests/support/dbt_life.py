"""A project of dbt with stream tables, for a process in dbt's environment; it prints what came.

`python -m tests.support.dbt_life PROJECT WAREHOUSE`; the project is a copy, and is changed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from dbt.adapters.streamtables.connections import WAREHOUSES
from dbt.cli.main import dbtRunner

from streamtables.api import connect

NEW_ORDER = "5,20,8\n"


class Project:
    """One folder of dbt, and what its commands say."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def does(self, command: str, *more: str) -> dict[str, str]:
        """Run a command; return what it says of each node."""
        places = ("--project-dir", str(self.folder), "--profiles-dir", str(self.folder))
        done = dbtRunner().invoke([*command.split(), *places, "--quiet", *more])
        if done.exception is not None:
            raise done.exception
        found = getattr(done.result, "results", None) or []
        return {item.node.name: f"{item.status}:{item.message}" for item in found}

    def says(self, command: str, *more: str) -> None:
        """Print what a command says, a line for each node in the order of their names."""
        for name, said in sorted(self.does(command, *more).items()):
            print(f"{name}|{said.splitlines()[0]}", flush=True)

    def write(self, name: str, text: str) -> None:
        """Put a file into the project."""
        (self.folder / name).write_text(text, encoding="utf-8")


def main(folder: Path, warehouse: str) -> None:
    """Fill, follow a change, test, document, and alter the columns in three ways."""
    project = Project(folder)
    project.does("seed")
    project.says("run")
    project.says("run")
    with (folder / "seeds" / "orders.csv").open("a", encoding="utf-8") as orders:
        orders.write(NEW_ORDER)
    project.does("seed", "--select", "orders")
    project.says("run")
    project.says("test")
    project.does("docs generate")
    nodes = json.loads((folder / "target" / "catalog.json").read_text())["nodes"]
    print(f"documented|{','.join(sorted(nodes['model.shop.revenue']['columns']))}", flush=True)
    revenue = (folder / "models" / "revenue.sql").read_text()
    wider = revenue.replace("count(*) as orders", "count(*) as orders, max(o.amount) as largest")
    for wanted in ("fail", "append_new_columns"):
        project.write("models/revenue.sql", f"{{{{ config(on_schema_change='{wanted}') }}}}{wider}")
        project.says("run", "--select", "revenue")
    project.write("models/revenue.sql", revenue)
    project.says("run")
    project.says("run", "--full-refresh", "--select", "rich_regions")
    WAREHOUSES.close()
    with connect(warehouse) as db:
        for table in sorted(db.stream_tables(), key=lambda table: table.name):
            found = "equal" if db.verify(table.name).equal else "different"
            print(f"{table.name}|{table.schedule}|{found}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
