"""Transactions at random: the same ones for the same seed."""

from __future__ import annotations

from itertools import islice

from tests.support.random_transactions import transactions


def test_a_seed_gives_the_same_transactions_each_time() -> None:
    first, again, other = (list(islice(transactions(seed), 50)) for seed in (7, 7, 8))
    assert first == again
    assert first != other
