"""Views of Spark's catalog, permanent and temporary: the text that they were made from."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from streamtables.engine.catalog_names import location_of
from streamtables.engine.handles import Session
from streamtables.engine.spark_errors import spark_border
from streamtables.engine.sql_text import identifier
from streamtables.errors import SourceUnusableError

_VIEWS = ("VIEW", "TEMPORARY")


@dataclass(frozen=True)
class SparkView:
    """A view as Spark keeps it: its query, its columns, and where its names are looked up."""

    text: str
    columns: tuple[str, ...]
    query_columns: tuple[str, ...]
    namespace: str
    temporary: bool

    @property
    def renames(self) -> bool:
        """Whether the view shows its columns under other names than its query does."""
        return self.columns != self.query_columns


def find_view(spark: Session, name: str) -> SparkView | None:
    """Return the view of this name; None where the name means a table."""
    if not _is_view(spark, _quoted(name)):
        return None
    with spark_border():
        rows = spark.sql(f"DESCRIBE TABLE EXTENDED {_quoted(name)} AS JSON").collect()
    facts = json.loads(rows[0]["json_metadata"])
    if "view_text" not in facts:
        raise SourceUnusableError(
            f'the temporary view "{name}" has no text',
            detail="It was made from a DataFrame, of which Spark keeps no query.",
            hint=f'Give its query in SQL: add_view("{name}", "SELECT …").',
        )
    columns = tuple(column["name"] for column in facts["columns"])
    return SparkView(
        text=facts["view_text"],
        columns=columns,
        query_columns=tuple(facts.get("view_query_output_columns", columns)),
        namespace=facts.get("view_catalog_and_namespace", ""),
        temporary=facts.get("catalog_name") == "system",
    )


@dataclass(frozen=True)
class Referred:
    """What a name in a view's text means to Spark."""

    kind: Literal["table", "view", "temporary"]
    location: str = ""


def referred(spark: Session, view: SparkView, name: str) -> Referred:
    """Look up a name that a view reads, where Spark would look it up."""
    if name.lower().startswith("delta."):
        return Referred("table", name.split(".", 1)[1])
    parts = name.split(".")
    # A permanent view never reads a temporary one.
    if view.temporary and len(parts) == 1 and _is_temporary(spark, _quoted(name)):
        return Referred("temporary")
    known = view.namespace.split(".") if view.namespace else []
    full = ".".join([*known[: max(0, 3 - len(parts))], *parts])
    if _is_view(spark, _quoted(full)):
        return Referred("view")
    return Referred("table", location_of(spark, full))


def _is_view(spark: Session, quoted: str) -> bool:
    with spark_border():
        return spark.catalog.getTable(quoted).tableType in _VIEWS


def _is_temporary(spark: Session, quoted: str) -> bool:
    with spark_border():
        exists = spark.catalog.tableExists(quoted)
        return exists and spark.catalog.getTable(quoted).isTemporary


def _quoted(name: str) -> str:
    return ".".join(identifier(part) for part in name.split("."))
