"""An adapter for dbt: all of dbt-spark, and the materialization `stream_table`."""

from dbt.adapters.base import AdapterPlugin
from dbt.adapters.streamtables.connections import (
    StreamTablesConnectionManager,
    StreamTablesCredentials,
)
from dbt.adapters.streamtables.impl import StreamTablesAdapter
from dbt.include.streamtables import PACKAGE_PATH

__all__ = ["Plugin", "StreamTablesConnectionManager"]

Plugin = AdapterPlugin(
    adapter=StreamTablesAdapter,
    credentials=StreamTablesCredentials,
    include_path=PACKAGE_PATH,
    dependencies=["spark"],
)
