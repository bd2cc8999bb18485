"""Tests that need a newer server than the one they are tried on."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest


def needs_server(where: str | psycopg.Connection[Any], version: int) -> None:
    """Skip the test on a server that is older."""
    if isinstance(where, str):
        with psycopg.connect(where) as connection:
            return needs_server(connection, version)
    if where.info.server_version < version * 10_000:
        pytest.skip(f"needs PostgreSQL {version}")
    return None
