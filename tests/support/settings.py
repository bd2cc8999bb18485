"""Settings of tests: those of the test run, and what one test wants otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from streamtables.settings import Settings, load_settings


def settings_with(**changes: Any) -> Settings:
    """Return the run's settings with some changed.

    A bare `Settings(...)` would leave out what the run asks for: that no refresh takes another way
    because the machine is slow, and that no plan is written to the cache of whoever runs the tests.
    """
    return replace(load_settings(), **changes)
