"""What every test shares: Hypothesis profiles and the switch that rewrites golden files.

The profile comes from `--hypothesis-profile`; `dev` holds when none is named.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

# A query on an engine takes long enough that a per-example deadline measures the machine's load.
_SHARED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("dev", _SHARED, max_examples=50)
settings.register_profile("ci", _SHARED, max_examples=500, print_blob=True)
settings.register_profile("nightly", _SHARED, max_examples=5_000, print_blob=True)
settings.load_profile("dev")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite the golden files with what the compiler gives now",
    )


@pytest.fixture(scope="session")
def update_golden(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are rewritten instead of compared."""
    return bool(request.config.getoption("--update-golden"))
