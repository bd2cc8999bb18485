"""Everything here needs Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtables.api import StreamTables
from tests.support.shop import Shop, open_shop


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "integration/spark" in str(item.path):
            item.add_marker(pytest.mark.spark)


@pytest.fixture
def shop(db: StreamTables, tmp_path: Path) -> Shop:
    return open_shop(db, tmp_path)
