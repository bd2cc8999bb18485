"""The last look of the soak: every epoch is judged, each claim once, and a wrong one is named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from streamtables.api import StreamTables
from streamtables.catalog.scheduler_models import EpochMove
from streamtables.positions import Frontier, Version
from tests.soak.every_epoch import EveryEpoch
from tests.support.delta_tables import DeltaTableFile
from tests.support.moment_judge import MomentJudge, by_epoch

COUNTS = (1, 2, 3)
"""How many rows the source has at each of its versions."""


@dataclass
class World:
    """A source of three versions, and two tables of which the second reads the first."""

    db: StreamTables
    every: EveryEpoch

    def move(self, name: str, version: int, source: int, epoch: int) -> EpochMove:
        """Return what a refresh would have recorded."""
        definitions = self.every.judge.definitions
        stands_for = Frontier({definitions.source("t").id: Version(source)})
        return EpochMove(
            self.db._catalog.stream_table(name).id, Version(version), stands_for, epoch
        )

    def moves(self) -> list[EpochMove]:
        """Return the moves of three epochs, newest first, as the catalog does."""
        return [self.move(name, n, n, n + 1) for n in (2, 1, 0) for name in ("counted", "doubled")]

    def store(self, name: str, numbers: tuple[int, ...]) -> None:
        """Write a version of a table for each number."""
        location = self.db._catalog.stream_table(name).location
        for number in numbers:
            write_deltalake(location, pa.table({"n": pa.array([number])}), mode="overwrite")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    source = DeltaTableFile(tmp_path / "t", {"id": "bigint"}, [(1,)])
    with StreamTables(tmp_path / "w") as db:
        db.add_source("t", path=source.path)
        db.create("counted", "SELECT count(*) AS n FROM t")
        db.create("doubled", "SELECT n * 2 AS n FROM counted")
        source.append((2,))
        source.append((3,))
        made = World(db, EveryEpoch(MomentJudge(db)))
        made.store("counted", COUNTS)
        yield made


def test_epochs_whose_tables_are_their_queries_are_judged_without_a_difference(
    world: World,
) -> None:
    world.store("doubled", tuple(2 * n for n in COUNTS))
    moves = world.moves()
    world.every.look(moves)
    assert world.every.differences == []
    assert world.every.epochs_judged(by_epoch(moves, 3)) == 3
    assert world.every.versions_judged == 6


def test_one_wrong_version_is_named_and_the_others_are_judged_all_the_same(world: World) -> None:
    world.store("doubled", (2, 5, 6))
    world.every.look(world.moves())
    [told] = world.every.differences
    assert told.startswith("doubled is not its query: version 1 at ")
    assert world.every.versions_judged == 6


def test_a_version_is_judged_for_all_that_it_stands_for(world: World) -> None:
    world.store("doubled", (2, 4, 6))
    later = world.move("doubled", 0, 1, 4)
    world.every.look([later, *world.moves()])
    [told] = world.every.differences
    assert told.startswith("doubled is not its query: version 0 at ")
    assert world.every.versions_judged == 6


def test_an_epoch_with_a_table_that_was_not_looked_at_counts_as_not_judged(world: World) -> None:
    world.store("doubled", (2, 4, 6))
    moves = world.moves()
    world.every.look(moves[1:])
    assert world.every.epochs_judged(by_epoch(moves, 3)) == 2
    world.every.look(moves)
    assert world.every.epochs_judged(by_epoch(moves, 3)) == 3
