"""One Spark for all tests that need it; it starts with the first of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from streamtables.engine.session import SparkSessions
from streamtables.engine.spark_start import SparkSettings
from streamtables.settings import load_settings


@pytest.fixture(scope="session")
def spark_sessions() -> Iterator[SparkSessions]:
    """Sessions on two cores; the jars come from the folder that the settings name."""
    settings = SparkSettings(
        jars_dir=load_settings().jars_dir, master="local[2]", driver_memory="4g"
    )
    sessions = SparkSessions(settings)
    yield sessions
    sessions.stop()
