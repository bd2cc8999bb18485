"""The role of the documentation, made for the database of a test."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.resources import files
from typing import Any

import psycopg
from psycopg import sql


def make_role(
    shop: psycopg.Connection[Any], owner: str, role: str, password: str, tables: Iterable[str]
) -> None:
    """Give some tables an owner, and make a role that may capture them."""
    text = files("streamtables.sources.postgres").joinpath("role.sql").read_text("utf-8")
    shop.execute(sql.SQL("CREATE ROLE {}").format(sql.Identifier(owner)))
    names = {"shop_owner": owner, "DATABASE shop": f"DATABASE {shop.info.dbname}"}
    for name, ours in {**names, "streamtables": role, "…": password}.items():
        assert name in text
        text = text.replace(name, ours)
    shop.execute(text.encode())
    for table in tables:
        shop.execute(
            sql.SQL("ALTER TABLE {} OWNER TO {}").format(
                sql.Identifier(table), sql.Identifier(owner)
            )
        )
