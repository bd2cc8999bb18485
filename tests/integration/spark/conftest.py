"""Everything here needs Spark."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "integration/spark" in str(item.path):
            item.add_marker(pytest.mark.spark)
