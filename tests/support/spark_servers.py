"""Spark as others run it: a Connect server, and a standalone cluster, each on this machine.

Their Java processes come from the pyspark package; `with` starts them and ends them.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

from streamtables.engine import jars
from streamtables.settings import load_settings

ROOT = Path(__file__).parents[2]
_HOME = Path(pyspark.__file__).parent
_SECONDS_MAX = 120
_DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "4",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.ui.enabled": "false",
}


@contextmanager
def spark_at(place: str) -> Iterator[str]:
    """Give the master of a Spark: on this process's own cores, or of servers that are started."""
    if place == "local":
        yield "local[2]"
        return
    with connect_server() if place == "connect" else standalone_cluster() as address:
        yield address


@contextmanager
def connect_server(
    *, port: int | None = None, master: str = "local[2]", memory: str = "3g"
) -> Iterator[str]:
    """Start a Spark Connect server with Delta, and give its address."""
    port = port or free_port()
    folder = Path(tempfile.mkdtemp(prefix="streamtables-connect-"))
    settings = {
        **_DELTA,
        "spark.driver.memory": memory,
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.jars": ",".join(map(str, jars.usable(load_settings().jars_dir))),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    command = [
        str(_HOME / "bin" / "spark-submit"),
        *("--master", master),
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer"),
        *(word for name, value in settings.items() for word in ("--conf", f"{name}={value}")),
        "spark-internal",
    ]
    with _running(command, folder):
        await_port(port, folder)
        yield f"sc://127.0.0.1:{port}"


@contextmanager
def standalone_cluster(workers: int = 2) -> Iterator[str]:
    """Start a master and workers of one core each, and give the master's address."""
    folder = Path(tempfile.mkdtemp(prefix="streamtables-cluster-"))
    port = free_port()
    address = f"spark://127.0.0.1:{port}"
    starter = str(_HOME / "bin" / "spark-class")
    package = "org.apache.spark.deploy"
    here = ("--host", "127.0.0.1", "--webui-port", "0")
    with ExitStack() as stack:
        master = [starter, f"{package}.master.Master", *here, "--port", str(port)]
        stack.enter_context(_running(master, folder))
        await_port(port, folder)
        for number in range(workers):
            own = ("--cores", "1", "--memory", "2g", "--work-dir", str(folder / f"w{number}"))
            worker = [starter, f"{package}.worker.Worker", *here, *own, address]
            stack.enter_context(_running(worker, folder))
        yield address


def output_of(arguments: Sequence[str], *, more: Mapping[str, str] | None = None) -> list[str]:
    """Run Python in a process apart, and return the words that it printed."""
    return _words([sys.executable, *arguments], more or {})


def submitted(master: str, script: Path, *arguments: str) -> list[str]:
    """Run a script by `spark-submit`, as people with a cluster do, and return its words."""
    settings = {
        **_DELTA,
        "spark.jars": ",".join(map(str, jars.usable(load_settings().jars_dir))),
        "spark.driver.memory": "1g",
        "spark.executor.memory": "1g",
    }
    confs = [word for pair in settings.items() for word in ("--conf", "=".join(pair))]
    submit = str(_HOME / "bin" / "spark-submit")
    more = {"PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(_HOME)}
    return _words([submit, "--master", master, *confs, str(script), *arguments], more)


def _words(command: Sequence[str], more: Mapping[str, str]) -> list[str]:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", **more}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr[-4_000:]
    return done.stdout.split()


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        number: int = door.getsockname()[1]
        return number


def await_port(port: int, folder: Path) -> None:
    """Wait until someone listens, and say what was logged where nobody comes."""
    ends = time.monotonic() + _SECONDS_MAX
    while time.monotonic() < ends:
        with socket.socket() as door:
            if door.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    logs = "\n".join(log.read_text(errors="replace")[-2_000:] for log in folder.glob("*.log"))
    raise TimeoutError(f"nobody listens on port {port}:\n{logs}")


@contextmanager
def _running(command: Sequence[str], folder: Path) -> Iterator[None]:
    environment = {
        **os.environ,
        "SPARK_HOME": str(_HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "512m",
    }
    number = len(list(folder.glob("*.log")))
    with (folder / f"{number}.log").open("wb") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, env=environment, cwd=folder
        )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
