from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.published import Shelf, open_shelf


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    opened = open_shelf(tmp_path, publication_lag_warn=2)
    opened.fill("t", (1, "a"), (2, "b"))
    yield opened
    opened.db.close()
