"""A Spark for tests: rows are few and statements many."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from streamtables.engine.handles import Session
from streamtables.engine.session import SparkSessions
from streamtables.engine.spark_start import SparkSettings
from streamtables.settings import load_settings

# One task does as well as eight, and compiling Java for each query takes longer than running it.
_INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
_COMPILED = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
}
_FEW_TASKS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "1",
}


def small_spark(master: str = "local[2]") -> SparkSessions:
    """Return sessions on a Spark that interprets queries; it starts with the first use."""
    return SparkSessions(
        SparkSettings(
            jars_dir=load_settings().jars_dir,
            master=master,
            driver_memory="4g" if master.startswith("local") else "2g",
            shuffle_partitions_quick=2,
            extra={**_INTERPRETED, **_FEW_TASKS},
        )
    )


@contextmanager
def compiled(spark: Session) -> Iterator[None]:
    """Have Spark compile queries to Java, as it does by default; forks made inside do too."""
    for name, value in _COMPILED.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in _INTERPRETED.items():
            spark.conf.set(name, value)
