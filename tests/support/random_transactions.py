"""Transactions of PostgreSQL at random; a seed gives the same ones each time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Literal, get_args

TABLES = (
    "CREATE TABLE accounts (id int PRIMARY KEY, owner text, balance numeric(12,2) NOT NULL)",
    "CREATE TABLE entries (account int, amount numeric(12,2), note text)",
    "ALTER TABLE entries REPLICA IDENTITY FULL",
)

End = Literal["commit", "rollback", "prepare"]


@dataclass(frozen=True)
class Transaction:
    """Some statements, and how they end; each may be a few of them with a semicolon between."""

    statements: tuple[str, ...]
    end: End
    lasts: bool = True
    """Whether it may stay open: one that truncates keeps readers of the table out."""


def transactions(seed: int) -> Iterator[Transaction]:
    """Yield transactions without end; nothing that happens to one changes the next."""
    random = Random(seed)
    while True:
        end = random.choices(get_args(End), (70, 20, 10))[0]
        statements = tuple(_statement(random) for _ in range(random.randint(1, 4)))
        if random.random() < 0.04:
            place = random.randint(0, len(statements))
            yield Transaction((*statements[:place], _TRUNCATE, *statements[place:]), end, False)
        else:
            yield Transaction(statements, end)


def _statement(random: Random) -> str:
    change = random.choice(CHANGES)(random)
    kept = random.random()
    if kept < 0.8:
        return change
    back = "ROLLBACK TO SAVEPOINT before" if kept < 0.92 else "RELEASE SAVEPOINT before"
    return f"SAVEPOINT before; {change}; {back}"


_TRUNCATE = "TRUNCATE entries"


def _new_accounts(random: Random) -> str:
    first = random.randint(1, 40)
    owner = random.choice(("'ann'", "'bob'", "'cleo'", "NULL"))
    known = random.choice(("DO NOTHING", "(id) DO UPDATE SET balance = accounts.balance + 1"))
    return (
        f"INSERT INTO accounts SELECT i, {owner}, i % 7 FROM generate_series({first}, {first + 3})"
        f" AS i ON CONFLICT {known}"
    )


def _balances(random: Random) -> str:
    many, one = random.randint(2, 9), random.randint(0, 8)
    return f"UPDATE accounts SET balance = balance + {one} - 3 WHERE id % {many} = {one % many}"


def _owners(random: Random) -> str:
    owner, first = random.choice(("'ann'", "'dan'", "NULL", "''")), random.randint(1, 40)
    return f"UPDATE accounts SET owner = {owner} WHERE id BETWEEN {first} AND {first + 2}"


def _other_key(random: Random) -> str:
    return f"UPDATE accounts SET id = {random.randint(1, 60)} WHERE id = {random.randint(1, 60)}"


def _swapped_keys(random: Random) -> str:
    one, other = random.sample(range(1, 41), 2)
    return (
        f"UPDATE accounts SET id = -{one} WHERE id = {one};"
        f" UPDATE accounts SET id = {one} WHERE id = {other};"
        f" UPDATE accounts SET id = {other} WHERE id = -{one}"
    )


def _fewer_accounts(random: Random) -> str:
    return f"DELETE FROM accounts WHERE id % 11 = {random.randint(0, 10)}"


def _new_entries(random: Random) -> str:
    note = random.choice(("'x'", "'y'", "NULL", "''"))
    account = random.choice((str(random.randint(1, 40)), "NULL", "i"))
    count = random.randint(1, 6)
    return f"INSERT INTO entries SELECT {account}, i, {note} FROM generate_series(1, {count}) AS i"


def _amounts(random: Random) -> str:
    return f"UPDATE entries SET amount = amount + 1 WHERE account % 5 = {random.randint(0, 4)}"


def _same_entries(random: Random) -> str:
    return f"UPDATE entries SET note = note WHERE amount = {random.randint(1, 6)}"


def _fewer_entries(random: Random) -> str:
    count = random.randint(1, 5)
    return f"DELETE FROM entries WHERE ctid IN (SELECT ctid FROM entries LIMIT {count})"


CHANGES: tuple[Callable[[Random], str], ...] = (
    _new_accounts,
    _balances,
    _owners,
    _other_key,
    _swapped_keys,
    _fewer_accounts,
    _new_entries,
    _new_entries,
    _amounts,
    _same_entries,
    _fewer_entries,
)
