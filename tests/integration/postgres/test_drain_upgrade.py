"""A drain meets a change buffer of another release: older ones are upgraded, newer ones left."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from streamtables.errors import SourceUnusableError
from streamtables.sources.postgres import triggers
from streamtables.sources.postgres.buffer_layout import LAYOUT, read_layout
from streamtables.sources.postgres.server import SCHEMA
from tests.integration.postgres.wide_buffer import CREATE_ITEMS, wide_capture
from tests.support.postgres_chain import Chain, rows_of

pytestmark = pytest.mark.postgres


@pytest.fixture
def shop(database: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(database, autocommit=True) as connection:
        for statement in CREATE_ITEMS:
            connection.execute(statement)
        connection.execute("CREATE TABLE other (id int PRIMARY KEY, a text)")
        yield connection


@pytest.fixture
def chain(tmp_path: Path, database: str, shop: psycopg.Connection) -> Iterator[Chain]:
    with Chain(tmp_path / "w", database) as opened:
        opened.add("items", "other")
        yield opened


def tag_of(chain: Chain) -> str:
    return chain.catalog.captures()[chain.catalog.source("items").id].tag


def make_wide(chain: Chain, shop: psycopg.Connection) -> None:
    triggers.remove(shop, tag_of(chain))
    shop.execute(wide_capture(tag_of(chain)))


def say_layout(chain: Chain, shop: psycopg.Connection, layout: int) -> None:
    """Have the buffer say that it is of some layout, whatever its columns."""
    found = read_layout(shop, tag_of(chain))
    assert found is not None
    said = sql.Literal(json.dumps(asdict(replace(found, layout=layout))))
    buffer = sql.Identifier(SCHEMA, f"changes_{tag_of(chain)}")
    shop.execute(sql.SQL("COMMENT ON TABLE {} IS {}").format(buffer, said))


def buffered(chain: Chain, shop: psycopg.Connection) -> int:
    buffer = sql.Identifier(SCHEMA, f"changes_{tag_of(chain)}")
    row = shop.execute(sql.SQL("SELECT count(*) FROM {}").format(buffer)).fetchone()
    assert row is not None
    return int(row[0])


def test_nothing_is_lost_when_a_drain_meets_an_older_buffer(
    chain: Chain, shop: psycopg.Connection, database: str
) -> None:
    make_wide(chain, shop)
    with psycopg.connect(database) as late:
        late.execute("UPDATE items SET mood = 'happy' WHERE id = 9")
        shop.execute("INSERT INTO items VALUES (10, NULL, NULL)")
        shop.execute("UPDATE items SET mood = 'happy' WHERE id < 4")
        shop.execute("DELETE FROM items WHERE id = 3")
        late.commit()
    assert chain.drain() == {}
    assert chain.mirror("items") == rows_of(shop, "items")
    kind, reason = chain.reasons("items")[0]
    assert kind == "buffer upgraded"
    assert reason == "its change buffer had layout 1, and has 2 now"
    assert "copied" not in [kind for kind, _ in chain.reasons("items")]
    shop.execute("UPDATE items SET mood = NULL WHERE id = 5")
    assert chain.drain() == {}
    assert chain.mirror("items") == rows_of(shop, "items")
    assert buffered(chain, shop) == 0
    assert [kind for kind, _ in chain.reasons("items")].count("buffer upgraded") == 1


def test_an_older_buffer_that_lacks_a_column_leads_to_a_copy(
    chain: Chain, shop: psycopg.Connection
) -> None:
    make_wide(chain, shop)
    buffer = sql.Identifier(SCHEMA, f"changes_{tag_of(chain)}")
    shop.execute("DELETE FROM items WHERE id = 1")
    shop.execute(sql.SQL("ALTER TABLE {} DROP COLUMN new_mood").format(buffer))
    assert chain.drain() == {}
    assert chain.mirror("items") == rows_of(shop, "items")
    kind, reason = chain.reasons("items")[0]
    assert kind == "copied"
    assert "new_mood" in reason


def test_an_older_buffer_that_missed_changes_leads_to_a_copy(
    chain: Chain, shop: psycopg.Connection
) -> None:
    make_wide(chain, shop)
    shop.execute("ALTER TABLE items DISABLE TRIGGER ALL")
    shop.execute("DELETE FROM items WHERE id = 1")
    assert chain.drain() == {}
    assert chain.mirror("items") == rows_of(shop, "items")
    kind, reason = chain.reasons("items")[0]
    assert kind == "copied"
    assert "trigger" in reason


@pytest.mark.fault(
    "postgres",
    "somebody dropped a change buffer",
    step="drain",
    seen="the event with its reason",
    recovery="by itself: the table is copied",
)
def test_a_buffer_that_is_gone_leads_to_a_copy(chain: Chain, shop: psycopg.Connection) -> None:
    buffer = sql.Identifier(SCHEMA, f"changes_{tag_of(chain)}")
    shop.execute(sql.SQL("DROP TABLE {}").format(buffer))
    assert chain.drain() == {}
    shop.execute("DELETE FROM items WHERE id = 1")
    assert chain.drain() == {}
    assert chain.mirror("items") == rows_of(shop, "items")
    assert chain.reasons("items")[0] == ("copied", "its change buffer is gone")


def test_a_newer_buffer_stops_its_source_alone_and_loses_nothing(
    chain: Chain, shop: psycopg.Connection
) -> None:
    shop.execute("DELETE FROM items WHERE id = 1")
    say_layout(chain, shop, LAYOUT + 1)
    for number in range(2):
        shop.execute("INSERT INTO other VALUES (%s, 'x')", (number,))
        shop.execute("DELETE FROM items WHERE id = %s", (number + 2,))
        errors = chain.drain()
        assert list(errors) == ["items"]
        assert isinstance(errors["items"], SourceUnusableError)
        assert "newer release" in errors["items"].message
        assert chain.mirror("other") == rows_of(shop, "other")
    assert buffered(chain, shop) == 3
    say_layout(chain, shop, LAYOUT)
    assert chain.drain() == {}
    assert chain.mirror("items") == rows_of(shop, "items")
    assert "copied" not in [kind for kind, _ in chain.reasons("items")]
