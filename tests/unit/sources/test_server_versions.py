"""Which versions of PostgreSQL are captured; what stands in for a server says only its number."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from streamtables.errors import SourceUnusableError
from streamtables.sources.postgres.requirements import require_server
from streamtables.sources.postgres.server import NEWEST, OLDEST, Server

SERVER = Server("postgresql://me@db.example:6432/shop")
PAGE = Path(__file__).resolve().parents[3] / "docs" / "postgresql.md"


class Answering:
    """A connection to a server of some version, which is no standby."""

    def __init__(self, version: int) -> None:
        self.info = SimpleNamespace(server_version=version)
        self.asked: list[str] = []

    def execute(self, query: str) -> Any:
        self.asked.append(query)
        return SimpleNamespace(fetchone=lambda: (False,))


@pytest.mark.parametrize("number", [140_000, 140_023, 150_014, 160_001, 170_006, 180_000, 180_003])
def test_a_server_from_14_to_18_is_accepted(number: int) -> None:
    connection: Any = Answering(number)
    require_server(connection, SERVER)
    assert len(connection.asked) == 1


@pytest.mark.parametrize(
    ("number", "shown"), [(90_624, 9), (130_023, 13), (190_000, 19), (200_001, 20)]
)
def test_an_older_or_newer_server_is_refused_before_it_is_asked_anything(
    number: int, shown: int
) -> None:
    connection: Any = Answering(number)
    with pytest.raises(SourceUnusableError) as refused:
        require_server(connection, SERVER)
    where = "db.example:6432/shop"
    assert refused.value.message == f"the PostgreSQL server {where} has version {shown}"
    assert refused.value.detail == "Versions 14 to 18 can be captured."
    assert connection.asked == []


def test_the_page_names_the_versions_that_are_accepted() -> None:
    assert f"Servers from {OLDEST} to {NEWEST} are accepted" in PAGE.read_text(encoding="utf-8")
