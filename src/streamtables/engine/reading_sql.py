"""Whether Spark can read a query that our own parser cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streamtables.engine.binding import bind
from streamtables.engine.session import SparkSessions
from streamtables.engine.spark_errors import spark_border
from streamtables.engine.sql_text import identifier
from streamtables.errors import StreamTablesError

Columns = Sequence[tuple[str, str]]


def spark_reads(sql: str, views: Mapping[str, Columns], sessions: SparkSessions) -> bool:
    """Whether a query is one for Spark, over views with these columns; nothing is computed.

    A Spark that cannot be asked reads nothing: what is wrong with the text is then our word alone.
    """
    try:
        with sessions.lease("quick") as spark, spark_border():
            for name, columns in views.items():
                # Not one row is read: only names and types decide.
                items = [f"CAST(NULL AS {type_}) AS {identifier(item)}" for item, type_ in columns]
                bind(spark, name, spark.sql(f"SELECT {', '.join(items)} WHERE false"))
            return len(spark.sql(sql).columns) > 0
    except StreamTablesError:
        return False
