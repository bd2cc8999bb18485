"""Starting a Spark of our own, quietly.

The Java process writes to the stderr it inherits, for its whole life.  Its launch script reads
`spark-env.sh` from the configuration folder, so a folder of our own sends that stream, and Spark's
log, to a file; nothing in this process is redirected.
"""

from __future__ import annotations

import logging
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from streamtables.engine import jars
from streamtables.errors import EnvironmentFaultError
from streamtables.settings import resolve_secret

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FAIR_POOL = Path(__file__).with_name("fair_pool.xml")
_CONNECT_PORT = 15_002
_CONNECT_SECONDS = 10
_CONNECT_HINT = 'It needs the extra "connect", and a process without a Spark of its own.'
_JAVA_HINT = "Install Java 17 or newer, and set JAVA_HOME if it is not on the PATH."
_LOG_SETTINGS = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yyyy-MM-dd HH:mm:ss} %p %c{1}: %m%n%ex
"""


# Spark's and Delta's defaults (200 and 50 tasks) are for clusters; on one machine the tasks
# themselves would be most of the work.  So would the memory: each sort and each hash table of each
# task starts with a page, by default of 32 or 64 MB, however few its rows are.
_ONE_MACHINE = {
    "spark.buffer.pageSize": "2m",
    "spark.sql.shuffle.partitions": "8",
    "spark.databricks.delta.snapshotPartitions": "2",
}

# What Spark remembers of past work for its page, which is off, and Delta of tables it once opened.
# Each plan or log takes megabytes, and the usual thousands of them more memory than a driver has.
_SHORT_MEMORY = {
    "spark.sql.ui.retainedExecutions": "10",
    "spark.ui.retainedJobs": "50",
    "spark.ui.retainedStages": "50",
    "spark.ui.retainedTasks": "500",
    "spark.databricks.delta.delta.log.cacheSize": "100",
}


# Each stage of each statement becomes a compiled class.  Spark keeps a hundred of them, which is a
# dozen tables; past that every refresh would compile anew what the last one had compiled.
_MANY_TABLES = {"spark.sql.codegen.cache.maxEntries": "2000"}


@dataclass(frozen=True)
class SparkSettings:
    """How to start Spark where no session is given."""

    jars_dir: Path
    master: str = "local[*]"
    driver_memory: str = "2g"
    shuffle_partitions_quick: int = 4
    extra: Mapping[str, str] = field(default_factory=dict)


def spark_settings_in(text: str) -> dict[str, str]:
    """Return the settings of a text like `spark.a=1; spark.b=2`; secrets stay references."""
    pairs = (part.partition("=") for part in text.split(";") if part.strip())
    return {name.strip(): value.strip() for name, _, value in pairs}


def start_spark(settings: SparkSettings) -> SparkSession:
    """Start Spark, or connect to one when the master is a Spark Connect address."""
    from pyspark.sql import SparkSession

    _tell_once()
    if settings.master.startswith("sc://"):
        return _connected(settings)
    _require_java()
    builder = SparkSession.builder.appName("streamtables")
    for name, value in _start_settings(settings).items():
        builder = builder.config(name, value)
    with (
        _quiet_launch(),
        _same_python(settings.master),
        _told("Spark cannot be started", _JAVA_HINT),
    ):
        return builder.master(settings.master).getOrCreate()


def _tell_once() -> None:
    """Keep PySpark from printing queries that fail: whoever asked gets the error itself."""
    from pyspark.logger import PySparkLogger

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL)


def _connected(settings: SparkSettings) -> SparkSession:
    from pyspark.sql import SparkSession

    _require_listening(settings.master)
    with _told("the Spark Connect server cannot be used", _CONNECT_HINT):
        builder = SparkSession.builder.appName("streamtables").remote(settings.master)
        for name, value in _resolved(settings.extra).items():
            builder = builder.config(name, value)
        # Not the default session: that may be one of before, whose server is gone.
        return builder.create()


def _require_listening(master: str) -> None:
    """Say at once that nobody is there; Spark's client would try for ten minutes."""
    address = urlsplit(master)
    try:
        place = (address.hostname or "", address.port or _CONNECT_PORT)
        with socket.create_connection(place, timeout=_CONNECT_SECONDS):
            return
    except (OSError, ValueError) as error:
        raise EnvironmentFaultError(
            f"no Spark Connect server answers at {address.hostname}",
            detail=f"{error}.",
            hint="Start it, or correct spark_master: sc://host:port.",
        ) from error


@contextmanager
def _told(message: str, hint: str) -> Iterator[None]:
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # it ships no types
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError, ImportError, OSError) as error:
        first = next(iter(str(error).splitlines()), type(error).__name__)
        raise EnvironmentFaultError(message, detail=first[:300], hint=hint) from error


def _resolved(extra: Mapping[str, str]) -> dict[str, str]:
    """Return settings with secrets in their places; only now, as most commands need no Spark."""
    return {name: resolve_secret(value) for name, value in extra.items()}


def _s3_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what has Hadoop find a store where deltalake and pyarrow find it.

    Keys are read from the environment by all three; here they would show.
    """
    endpoint = environment.get("AWS_ENDPOINT_URL_S3") or environment.get("AWS_ENDPOINT_URL")
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    found = {"spark.hadoop.fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem"}
    if endpoint:
        found["spark.hadoop.fs.s3a.endpoint"] = endpoint
        found["spark.hadoop.fs.s3a.path.style.access"] = "true"
    if region:
        found["spark.hadoop.fs.s3a.endpoint.region"] = region
    return found


def _start_settings(settings: SparkSettings) -> dict[str, str]:
    s3 = jars.present(jars.s3_folder(settings.jars_dir), jars.S3) or ()
    scratch = Path(tempfile.gettempdir()) / f"streamtables-spark-{os.getpid()}"
    return {
        "spark.jars": ",".join(map(str, (*jars.usable(settings.jars_dir), *s3))),
        **(_s3_settings(os.environ) if s3 else {}),
        "spark.driver.memory": settings.driver_memory,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **_SHORT_MEMORY,
        **_MANY_TABLES,
        "spark.scheduler.mode": "FAIR",
        "spark.scheduler.allocation.file": _FAIR_POOL.as_uri(),
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # Spark makes this folder where it runs, unless told otherwise.
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        **(_ONE_MACHINE if settings.master.startswith("local") else {}),
        **_resolved(settings.extra),
    }


def _require_java() -> None:
    home = os.environ.get("JAVA_HOME")
    found = (Path(home) / "bin" / "java").exists() if home else shutil.which("java") is not None
    if not found:
        raise EnvironmentFaultError("Java is not installed, and Spark needs it", hint=_JAVA_HINT)


@contextmanager
def _same_python(master: str) -> Iterator[None]:
    """Have the workers of one machine run this Python, which has the functions' packages.

    Spark would start the `python3` of the PATH, which need not be the environment we run in.
    """
    if not master.startswith("local") or "PYSPARK_PYTHON" in os.environ:
        yield
        return
    os.environ["PYSPARK_PYTHON"] = sys.executable
    try:
        yield
    finally:
        os.environ.pop("PYSPARK_PYTHON", None)


@contextmanager
def _quiet_launch() -> Iterator[None]:
    """Have the Java process start with our configuration folder, unless the machine has one."""
    if os.name == "nt" or "SPARK_CONF_DIR" in os.environ or "SPARK_HOME" in os.environ:
        yield
        return
    folder = Path(tempfile.mkdtemp(prefix="streamtables-spark-conf-"))
    (folder / "log4j2.properties").write_text(_LOG_SETTINGS, encoding="utf-8")
    (folder / "spark-env.sh").write_text(f'exec 2>>"{folder}/spark.log"\n', encoding="utf-8")
    os.environ["SPARK_CONF_DIR"] = str(folder)
    try:
        yield
    finally:
        os.environ.pop("SPARK_CONF_DIR", None)
