"""Tables by their name in Spark's catalog."""

from __future__ import annotations

from streamtables.engine.handles import Session
from streamtables.engine.spark_errors import spark_border
from streamtables.engine.sql_text import identifier
from streamtables.errors import SourceUnusableError


def location_of(spark: Session, name: str) -> str:
    """Return where the Delta table of this name keeps its files."""
    quoted = ".".join(identifier(part) for part in name.split("."))
    with spark_border():
        detail = spark.sql(f"DESCRIBE DETAIL {quoted}").collect()[0]
    if detail["format"] != "delta":
        raise SourceUnusableError(
            f'the table "{name}" is not a Delta table',
            detail=f"Its format is {detail['format']}.",
        )
    return str(detail["location"])
