"""Stream tables in Airflow, for a process in its environment; it prints what came of each task."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from os import environ
from pathlib import Path

from airflow.sdk import DAG

from streamtables.orchestrate.airflow import RefreshStreamTables, StreamTableSensor
from tests.support.orchestrated import SmallShop


def dag_of(name: str, warehouse: str, table: str) -> DAG:
    """Return a day's work: refresh a table, and wait until the other has what was written."""
    with DAG(name, schedule=None) as dag:
        refresh = RefreshStreamTables(task_id="refresh", warehouse=warehouse, tables=[table])
        quick = {"poke_interval": 0.1, "timeout": 1, "warehouse": warehouse}
        fresh = StreamTableSensor(task_id="fresh", table=table, within="1 minute", **quick)
        here = StreamTableSensor(task_id="here", table=table, position={"orders": 0}, **quick)
        late = StreamTableSensor(
            task_id="late", table=table, position={"orders": 99}, soft_fail=True, **quick
        )
        unknown = StreamTableSensor(task_id="unknown", table="nosuch", within="1 minute", **quick)
        refresh >> [fresh, here, late, unknown]
    return dag


def main(folder: Path) -> None:
    """Run one day that goes well, twice, and one that does not."""
    shop = SmallShop(folder)
    tables = {"first": "shop.rich", "second": "shop.rich", "bad": "shop.broken"}
    _know({name: (name, shop.warehouse, table) for name, table in tables.items()})
    for name, table in tables.items():
        if name == "bad":
            shop.break_it()
        _tell(dag_of(name, shop.warehouse, table).test())
        shop.orders.append((len(name), "north", 9))


def _know(dags: Mapping[str, tuple[str, str, str]]) -> None:
    """Put DAGs where Airflow looks for them, and have it read them."""
    folder = Path(environ["AIRFLOW_HOME"], "dags")
    folder.mkdir(parents=True)
    lines = [f"{name} = dag_of(*{given!r})" for name, given in dags.items()]
    text = "\n".join(("from tests.support.airflow_life import dag_of", *lines))
    (folder / "days.py").write_text(text, encoding="utf-8")
    for command in (("db", "migrate"), ("dags", "reserialize")):
        subprocess.run([sys.executable, "-m", "airflow", *command], check=True, capture_output=True)


def _tell(run: object) -> None:
    for task in sorted(run.get_task_instances(), key=lambda task: task.task_id):  # type: ignore[attr-defined]
        said = task.xcom_pull(task_ids="refresh") if task.task_id == "refresh" else None
        shown = [(item["mode"], item["rows_inserted"]) for item in said or ()]
        print("|", task.task_id, task.state, task.try_number, shown, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
