"""What every test shares: Hypothesis profiles, the golden switch, and one Spark.

The profile comes from `--hypothesis-profile`; `dev` holds when none is named.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.faults.recording import pytest_runtest_makereport

if TYPE_CHECKING:
    from streamtables.api import StreamTables
    from streamtables.engine.session import SparkSessions

__all__ = ["pytest_runtest_makereport"]

# The rules are what most tests are about, so no refresh may compute the whole query instead.
os.environ["STREAMTABLES_CHOOSE_FROM_SECONDS"] = "86400"

# What tests compile stays out of the cache of whoever runs them.
_PLANS = tempfile.mkdtemp(prefix="streamtables-plans-")
atexit.register(shutil.rmtree, _PLANS, ignore_errors=True)
os.environ["STREAMTABLES_PLAN_CACHE_DIR"] = _PLANS

# A query on an engine takes long enough that a per-example deadline measures the machine's load.
_SHARED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("dev", _SHARED, max_examples=50)
# The same examples each time: what was tried is what lands, and luck decides nothing.
settings.register_profile("ci", _SHARED, max_examples=500, print_blob=True, derandomize=True)
settings.register_profile("nightly", _SHARED, max_examples=5_000, print_blob=True)
settings.load_profile("dev")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite the golden files with what the compiler gives now",
    )
    parser.addoption(
        "--spark",
        choices=("local", "connect", "cluster"),
        default="local",
        help="where Spark runs: in this process, behind a Connect server, or on two workers",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tell files of tests on the shared Spark from those that start their own."""
    shared = {item.path for item in items if "spark_sessions" in getattr(item, "fixturenames", ())}
    for item in items:
        if item.get_closest_marker("spark") is not None and item.path not in shared:
            item.add_marker(pytest.mark.apart)


@pytest.fixture(scope="session")
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are rewritten instead of compared."""
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(scope="session")
def spark_sessions(request: pytest.FixtureRequest) -> Iterator[SparkSessions]:
    """One Spark for all tests that need it, on two cores; it starts with the first of them."""
    from tests.support.small_spark import small_spark
    from tests.support.spark_servers import spark_at

    with spark_at(request.config.getoption("--spark")) as master:
        sessions = small_spark(master)
        yield sessions
        sessions.stop()


@pytest.fixture
def compiled_queries(spark_sessions: SparkSessions) -> Iterator[None]:
    """Have Spark compile queries to Java, as it does by default."""
    from tests.support.small_spark import compiled

    with compiled(spark_sessions.get()):
        yield


@pytest.fixture
def db(spark_sessions: SparkSessions, tmp_path: Path) -> Iterator[StreamTables]:
    """An empty warehouse on the shared Spark."""
    from streamtables.api import StreamTables
    from tests.support.catalogs import with_catalog

    warehouse = with_catalog(tmp_path / "warehouse")
    with StreamTables(warehouse, spark=spark_sessions.get()) as opened:
        yield opened
