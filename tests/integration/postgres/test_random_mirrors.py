"""Random writers, and the mirrors of what they write: equal to PostgreSQL at every moment.

No Spark runs here, so there is time for more moments than in the test of the whole chain.
"""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from tests.support.postgres_chain import Chain, rows_of
from tests.support.random_transactions import TABLES
from tests.support.random_writers import WAYS, Gate, writers_of, writing

pytestmark = pytest.mark.postgres

MOMENTS = 8
STEPS = 40
NAMES = ("accounts", "entries")
SEEDS = [(way, 1) for way in WAYS]
MORE_SEEDS = [(way, seed) for way in WAYS for seed in range(2, 12)]


@pytest.mark.parametrize(
    ("way", "seed"),
    [*SEEDS, *(pytest.param(*more, marks=pytest.mark.long) for more in MORE_SEEDS)],
)
def test_mirrors_are_what_random_writers_left_and_nothing_is_copied_twice(
    database: str, tmp_path: Path, way: str, seed: int
) -> None:
    gate = Gate()
    with (
        psycopg.connect(database, autocommit=True) as asked,
        Chain(tmp_path / "w", database) as chain,
    ):
        for statement in TABLES:
            asked.execute(statement)
        with writing(database, writers_of(seed), gate):
            for name, capture in zip(NAMES, WAYS[way], strict=True):
                chain.add(name, capture=capture)
            for _ in range(MOMENTS):
                gate.let_pass(STEPS)
                assert chain.drain() == {}
                with gate.all_held():
                    assert chain.drain() == {}
                    assert chain.mirrors(NAMES) == {name: rows_of(asked, name) for name in NAMES}
        kinds = {kind for name in NAMES for kind, _ in chain.reasons(name)}
        assert kinds <= {"added", "moving to wal", "moved to wal"}
        # A database that has a slot cannot be dropped.
        for name in NAMES:
            chain.capture.drop(chain.catalog.source(name))
