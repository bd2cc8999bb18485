"""A process that writes to the sources until it is told to end: `python -m tests.soak.writer`."""

from __future__ import annotations

import random
import signal
import sys
from pathlib import Path
from threading import Event

import pyarrow as pa
from deltalake import DeltaTable

from tests.soak.tables import ACCOUNTS, BANKS, family
from tests.support.delta_tables import merge_changes

PAUSE_SECONDS = (0.2, 1.5)


def move_money(folder: Path, chance: random.Random) -> None:
    """Move money between two accounts, and perhaps one of them to another bank, in one commit."""
    path = folder / "account"
    rows = {row["id"]: row for row in DeltaTable(str(path)).to_pyarrow_table().to_pylist()}
    giver, taker = (rows[key] for key in chance.sample(range(ACCOUNTS), 2))
    money = chance.randint(1, 9)
    giver["money"] -= money
    taker["money"] += money
    taker["bank"] = chance.choice([taker["bank"], chance.randrange(BANKS)])
    changed = [{**row, "gone": False} for row in (giver, taker)]
    schema = pa.schema([("id", pa.int64()), ("bank", pa.int64()), ("money", pa.int64())])
    schema = schema.append(pa.field("gone", pa.bool_()))
    merge_changes(path, pa.Table.from_pylist(changed, schema), ["id"])


def change_families(folder: Path, chance: random.Random, number: int) -> None:
    """Let one family come and another one go, in one commit."""
    path = folder / "member"
    known = DeltaTable(str(path)).to_pyarrow_table().to_pylist()
    going = chance.choice([row["id"] for row in known if row["parent"] is None])
    rows = [{"id": key, "parent": parent, "gone": False} for key, parent in family(number)]
    rows += [{**row, "gone": True} for row in known if going in (row["id"], row["parent"])]
    schema = pa.schema([("id", pa.int64()), ("parent", pa.int64()), ("gone", pa.bool_())])
    merge_changes(path, pa.Table.from_pylist(rows, schema), ["id"])


def main() -> int:
    """Write at random, a commit at a time."""
    folder, seed = Path(sys.argv[1]), int(sys.argv[2])
    chance, ended, number = random.Random(seed), Event(), 1_000
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    while not ended.wait(chance.uniform(*PAUSE_SECONDS)):
        if chance.random() < 0.6:
            move_money(folder, chance)
        else:
            number += 1
            change_families(folder, chance, number)
    return 0


if __name__ == "__main__":
    sys.exit(main())
