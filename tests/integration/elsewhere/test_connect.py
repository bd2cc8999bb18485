"""Spark Connect: a table follows its source through a server, and goes on with the next one.

A process has either a Spark of its own or a remote one, so the scripts run in processes apart.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.spark_servers import output_of

RESTART = """
import os
import sys
from pathlib import Path

from streamtables.errors import SparkGoneError
from tests.support.spark_servers import connect_server, free_port
from tests.support.table_life import Life

port = free_port()
with connect_server(port=port) as address:
    life = Life(Path(sys.argv[1]), spark_master=address)
    print(life.goes_on(12, 3))
with connect_server(port=port):
    try:
        life.goes_on(16, 3)
    except SparkGoneError as error:
        print(error.code)
    print(life.goes_on(20, 4), flush=True)
    life.db.close()
# At its end Spark's client tries for minutes to tell a server that is gone what it needs no more.
os._exit(0)
"""


@pytest.mark.spark
@pytest.mark.long
def test_a_table_outlives_the_server_that_it_was_made_with(tmp_path: Path) -> None:
    said = output_of(["-c", RESTART, str(tmp_path)])
    assert said == ["differential/replace-keys", "ST-3005", "differential/replace-keys"]
