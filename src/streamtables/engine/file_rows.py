"""The rows of files that somebody else wrote, read by Spark.

A row that does not fit the columns fails the read, and no file is left out: what Spark would pass
over in silence by its defaults, or by the settings of a cluster, is an error here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamtables.engine.column_types import Column, columns_of
from streamtables.engine.spark_errors import spark_border
from streamtables.engine.sql_text import identifier

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_STRICT = {"ignoreCorruptFiles": "false", "ignoreMissingFiles": "false"}
_DEFAULTS = {
    # A header is compared with the columns, file by file: by place alone they could be mixed up.
    "csv": {"mode": "FAILFAST", "header": "true", "enforceSchema": "false"},
    "json": {"mode": "FAILFAST"},
    "parquet": {},
    "orc": {},
}
_INFERENCE = {
    "csv": {"inferSchema": "true"},
    "parquet": {"mergeSchema": "true"},
    "orc": {"mergeSchema": "true"},
}
FORMATS = tuple(_DEFAULTS)
_PATTERN = re.compile(r"([\\*?\[\]{}])")


@dataclass(frozen=True)
class FileSet:
    """Some files of a folder, and how they are read."""

    folder: str
    paths: Sequence[str]
    """Inside the folder."""
    format: str
    options: Mapping[str, str]


def columns_in(spark: SparkSession, files: FileSet) -> tuple[Column, ...]:
    """Return the columns that files have, and the folders that stand for values."""
    with spark_border():
        reader = spark.read.format(files.format)
        rows = reader.options(**_INFERENCE.get(files.format, {})).options(**_options(files))
        return columns_of(json.loads(rows.load(_places(files)).schema.json()))


def columns_of_text(spark: SparkSession, schema: str) -> tuple[Column, ...]:
    """Return the columns that a text such as "id BIGINT, city STRING" declares."""
    with spark_border():
        return columns_of(json.loads(spark.createDataFrame([], schema).schema.json()))


def read_files(
    spark: SparkSession, files: FileSet, columns: Sequence[tuple[str, str]]
) -> DataFrame:
    """Return the rows of files in columns of these names and types.

    A column that a file lacks is NULL where its format allows it.
    """
    schema = ", ".join(f"{identifier(name)} {type_}" for name, type_ in columns)
    with spark_border():
        if not files.paths:
            return spark.createDataFrame([], schema)
        reader = spark.read.format(files.format).schema(schema).options(**_options(files))
        rows = reader.load(_places(files))
        return rows.select(*(identifier(name) for name, _ in columns))


def _options(files: FileSet) -> dict[str, str]:
    # Folders such as day=3 are columns only below the folder of the source.
    given = {**_DEFAULTS[files.format], **files.options}
    return {**given, **_STRICT, "basePath": files.folder}


def _places(files: FileSet) -> list[str]:
    # Spark takes paths for patterns; what looks like one in a name stands for itself.
    folder = files.folder.rstrip("/")
    return [_PATTERN.sub(r"\\\1", f"{folder}/{path}") for path in files.paths]
