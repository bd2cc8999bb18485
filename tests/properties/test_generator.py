"""The generator itself: its queries are valid, of the families asked for, and as settled as it says."""

from __future__ import annotations

import re

import pytest

from streamtables.compiler.backend.duckdb import spark_to_duckdb
from tests.properties.made_constructs import MADE
from tests.support.bags import Bag, bag_of
from tests.support.choices import Seeded
from tests.support.duckdb_oracle import Database
from tests.support.generator.families import CORE, EVERY, NEEDED, parse_families
from tests.support.histories import KEYS, TABLES, Row, random_history
from tests.support.queries import Query, random_query

SEEDS = range(8)


def _query(seed: int, family: str) -> Query:
    return random_query(Seeded(seed), (family,), deepest=2)


def _answer(query: Query, rows: dict[str, list[Row]]) -> Bag:
    database = Database(TABLES)
    try:
        for table, found in rows.items():
            database.fill(table, found)
        return bag_of(database.query(spark_to_duckdb(query.sql)))
    finally:
        database.close()


@pytest.mark.parametrize("family", EVERY)
def test_queries_of_a_family_are_valid_and_have_one_answer_where_they_say_so(family: str):
    for seed in SEEDS:
        query = _query(seed, family)
        rows = random_history(Seeded(seed)).start
        answer = _answer(query, {table: list(found) for table, found in rows.items()})
        if query.deterministic:
            backwards = {table: found[::-1] for table, found in rows.items()}
            assert _answer(query, backwards) == answer, query.sql


@pytest.mark.parametrize("family", EVERY)
def test_queries_contain_what_was_asked_for_and_little_else(family: str):
    for seed in SEEDS:
        query = _query(seed, family)
        assert family in query.families, query.sql
        assert query.families <= {*CORE, family, *NEEDED.get(family, ())}, query.sql


def test_every_construct_is_made():
    texts = [_query(seed, family).sql for family in EVERY for seed in range(100)]
    missing = [part for part in MADE if not any(re.search(part, text) for text in texts)]
    assert not missing


def test_a_seed_gives_the_same_query_again():
    assert random_query(Seeded(7), EVERY) == random_query(Seeded(7), EVERY)


def test_without_ties_every_text_has_one_answer():
    queries = [random_query(Seeded(seed), EVERY, ties=False) for seed in range(100)]
    assert all(query.deterministic for query in queries)


def test_a_history_keeps_every_key_unique():
    for seed in range(50):
        history = random_history(Seeded(seed))
        for table, key in KEYS.items():
            places = [list(TABLES[table]).index(name) for name in key]
            rows = list(history.start[table])
            for batch in history.batches:
                for change in batch[table]:
                    rows.append(change.row) if change.weight > 0 else rows.remove(change.row)
                keys = [tuple(row[place] for place in places) for row in rows]
                assert len(set(keys)) == len(keys)


def test_an_unknown_family_is_an_error():
    with pytest.raises(ValueError, match="no such families"):
        parse_families("outer,inner")
