from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from streamtables.web.app import build_app
from streamtables.web.guard import Guard
from streamtables.web.shared import Shared
from tests.support.web_warehouse import WebWarehouse, open_web_warehouse

TOKEN = "a token of the tests"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebWarehouse]:
    """One warehouse for the tests of a file that only look."""
    opened = open_web_warehouse(tmp_path_factory.mktemp("web"))
    yield opened
    opened.db.close()


@pytest.fixture
def own_shop(tmp_path: Path) -> Iterator[WebWarehouse]:
    """A warehouse that a test may change."""
    opened = open_web_warehouse(tmp_path)
    yield opened
    opened.db.close()


def client_of(shop: WebWarehouse, **given: Any) -> TestClient:
    app = build_app(shop.db, token=TOKEN)
    return TestClient(app, base_url="http://localhost", raise_server_exceptions=True, **given)


def shared(client: TestClient) -> Shared:
    guard = client.app
    assert isinstance(guard, Guard)
    found = guard.app.state.shared  # type: ignore[attr-defined]  # it is our application
    assert isinstance(found, Shared)
    return found


@pytest.fixture(scope="module")
def client(shop: WebWarehouse) -> Iterator[TestClient]:
    with client_of(shop) as opened:
        yield opened


@pytest.fixture
def own_client(own_shop: WebWarehouse) -> Iterator[TestClient]:
    with client_of(own_shop) as opened:
        yield opened
