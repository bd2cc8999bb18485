"""Random graphs, ticks and failures against the rules by which tables stand for one moment.

There is no Spark, no file and no SQL.  A version of a table is what its rows really come from: for
each root the versions that were read, through whatever lies between.  The rules under test say what
it *stands for*; the two must be the same, and one version per root.

    d            a Delta table
    m, n         mirrors of one database, moved by drains that name a version of both

A tick takes the real way: holds, ancestors, pins, the order on several hands, the next moment of
each table, epochs.  `WRONG` breaks the rules one at a time, and the model must notice each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import product

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from streamtables.catalog.definitions import CatalogSnapshot, Definitions
from streamtables.catalog.models import Input, StreamTable
from streamtables.catalog.scheduler_models import EpochMove, Rules
from streamtables.positions import Frontier, InputId, Pins, Version, pins_at_least
from streamtables.refresh.agreement import agree, last_agreed, next_moment
from streamtables.refresh.round import with_ancestors
from streamtables.scheduler.dispatch import Hands, run_graph
from streamtables.scheduler.holds import Standstill, held_back
from streamtables.scheduler.options import TableOptions
from tests.unit.catalog.builders import START, source, stream_table

D, M, N = map(InputId, "dmn")
MIRRORS = frozenset({M, N})
SOURCES = {
    key: source(key, id=key, kind="postgres" if key in MIRRORS else "delta") for key in "dmn"
}

Content = Mapping[InputId, frozenset[Version]]


class ViolationError(AssertionError):
    """The promise is broken."""


def require(holds: bool, what: object) -> None:
    if not holds:
        raise ViolationError(what)


@dataclass(frozen=True)
class Followed:
    """The rules that a tick and a reader follow."""

    next_moment: Callable[..., Frontier | None] = next_moment
    pins_at_least: Callable[[Pins, Iterable[Frontier]], Pins] = pins_at_least
    agree: Callable[..., bool] = agree
    waits_for_inputs: bool = True


@dataclass(frozen=True)
class Tick:
    """What happens before and in one tick."""

    moved: frozenset[InputId]
    """The roots that are written to; a drain follows if one of them is a mirror."""
    due: frozenset[int]
    failing: frozenset[int]
    alone: bool
    """Whether one due table is refreshed without what it stands on."""
    sees_late: bool
    """Whether the look at the Delta table misses its last version."""
    order: int
    readers: frozenset[int]
    """The tables that somebody reads together afterwards."""


@dataclass(frozen=True)
class History:
    """Tables, each reading some roots and some tables before it, and ticks."""

    inputs: tuple[tuple[InputId, ...], ...]
    ticks: tuple[Tick, ...]


@st.composite
def histories(draw: st.DrawFn) -> History:
    count = draw(st.integers(1, 8))
    inputs = []
    for number in range(count):
        choice = [*SOURCES, *map(str, range(number))]
        some = st.lists(st.sampled_from(choice), min_size=1, max_size=3, unique=True)
        inputs.append(tuple(map(InputId, draw(some))))
    tables = st.frozensets(st.integers(0, count - 1))
    tick = st.builds(
        Tick,
        moved=st.frozensets(st.sampled_from([D, M, N])),
        due=tables,
        failing=st.one_of(st.just(frozenset()), tables),
        alone=st.booleans(),
        sees_late=st.booleans(),
        order=st.integers(0, 5),
        readers=tables,
    )
    return History(tuple(inputs), tuple(draw(st.lists(tick, min_size=1, max_size=8))))


def at_once(task: Callable[[], object]) -> Future:
    """Do a task now, as a pool of threads would later."""
    done: Future = Future()
    done.set_result(task())
    return done


@dataclass
class World:
    """Roots and their drains, the versions of every table, epochs, and who waits."""

    history: History
    followed: Followed
    now: datetime = START
    heads: dict[InputId, Version] = field(
        default_factory=lambda: dict.fromkeys((D, M, N), Version(0))
    )
    drains: list[Frontier] = field(
        default_factory=lambda: [Frontier({M: Version(0), N: Version(0)})]
    )
    versions: dict[InputId, list[Content]] = field(default_factory=dict)
    stands_for: dict[InputId, Frontier] = field(default_factory=dict)
    moves: list[EpochMove] = field(default_factory=list)
    not_before: dict[InputId, datetime] = field(default_factory=dict)

    def __post_init__(self) -> None:
        tables = {}
        for number, inputs in enumerate(self.history.inputs):
            read = tuple(
                Input(key, "source" if key in SOURCES else "stream-table", ("id",))
                for key in inputs
            )
            key = InputId(str(number))
            tables[key] = stream_table(f"t{number}", id=key, inputs=read)
        self.definitions = Definitions(1, {InputId(k): v for k, v in SOURCES.items()}, tables)

    def play(self) -> None:
        for tick in self.history.ticks:
            self.now += timedelta(seconds=1)
            self.write(tick.moved)
            before = dict(self.stands_for)
            tables, pins, failed = self.round(tick)
            self.keep_epoch(before)
            self.check(before)
            self.check_reached(tables, pins, failed, before, alone=tick.alone)
            self.check_read([InputId(str(number)) for number in sorted(tick.readers)])

    def write(self, moved: frozenset[InputId]) -> None:
        for key in moved:
            self.heads[key] = Version(self.heads[key] + 1)
        if moved & MIRRORS:
            self.drains.append(Frontier(self.heads).restricted_to(MIRRORS))

    def round(self, tick: Tick) -> tuple[list[InputId], Pins, set[InputId]]:
        """Bring what is due and not held back to one set of pins."""
        due = [InputId(str(number)) for number in sorted(tick.due)]
        chosen = [key for key in due if self.held(key) is None][: 1 if tick.alone else None]
        tables = self.definitions.stream_tables
        snapshot = CatalogSnapshot(self.definitions, {})
        taking_part = (
            chosen
            if tick.alone
            else [table.id for table in with_ancestors(snapshot, [tables[key] for key in chosen])]
        )
        pins = self.pins(taking_part, tick)
        unmoved: set[InputId] = set()
        done: list[InputId] = []

        def work(key: InputId) -> None:
            read_later = set(self.definitions.edges[key]) & (set(taking_part) - set(done))
            require(not read_later, f"{key} runs before {read_later}")
            if not self.refreshed(tables[key], pins, unmoved, failing=int(key) in tick.failing):
                unmoved.add(key)
            done.append(key)

        hands = Hands(3, at_once, lambda ready, _: ready[tick.order % len(ready)])
        run_graph(taking_part, self.definitions.edges, work=work, hands=hands)
        return taking_part, pins, unmoved

    def held(self, key: InputId) -> object:
        own = self.not_before.get(key, self.now)
        facts = Standstill(
            self.definitions.stream_tables[key],
            TableOptions(),
            self.definitions.roots(key),
            self.definitions.ancestors(key),
            self.not_before,
        )
        return own > self.now or held_back(facts, Rules(), {}, dict, self.now)

    def pins(self, tables: list[InputId], tick: Tick) -> Pins:
        seen = {**self.drains[-1], D: Version(max(0, self.heads[D] - tick.sees_late))}
        roots = frozenset(root for key in tables for root in self.definitions.roots(key))
        consumed = [self.stands_for[key] for key in tables if key in self.stands_for]
        return self.followed.pins_at_least(Frontier(seen).restricted_to(roots), consumed)

    def refreshed(
        self, table: StreamTable, pins: Pins, unmoved: set[InputId], *, failing: bool
    ) -> bool:
        """Move one table to the pins; False where it stays."""
        inputs = [item.id for item in table.inputs]
        above = [key for key in inputs if key not in SOURCES]
        if self.followed.waits_for_inputs and unmoved.intersection(above):
            return False
        if any(key not in self.stands_for for key in above):
            return False
        direct = frozenset(key for key in inputs if key in SOURCES)
        known = self.stands_for.get(table.id)
        upstream = [self.stands_for[key] for key in above]
        if not self.followed.waits_for_inputs:
            upstream = [pins.restricted_to(self.definitions.roots(key)) for key in above]
        moment = self.followed.next_moment(
            upstream, pins, direct=direct, mirrors=MIRRORS, now=known
        )
        if moment is None:
            return False
        if failing:
            self.not_before[table.id] = self.now + timedelta(seconds=2)
            return False
        if moment != known:
            parts = [self.versions[key][-1] for key in above]
            parts.append({key: frozenset({pins[key]}) for key in direct})
            self.versions.setdefault(table.id, []).append(_united(parts))
            self.stands_for[table.id] = moment
        return True

    def keep_epoch(self, before: Mapping[InputId, Frontier]) -> None:
        moved = [key for key, base in self.stands_for.items() if before.get(key) != base]
        number = self.moves[0].epoch + 1 if self.moves else 1
        self.moves[:0] = [
            EpochMove(key, Version(len(self.versions[key]) - 1), self.stands_for[key], number)
            for key in moved
        ]

    def check(self, before: Mapping[InputId, Frontier]) -> None:
        """Every version comes from one moment, which is what it stands for; none goes back."""
        for key, base in self.stands_for.items():
            content = self.versions[key][-1]
            really = {root: {*versions} for root, versions in content.items()}
            require(really == {root: {at} for root, at in base.items()}, (key, really, base))
            require(self.has_pins([base]), f"{key} mixes drains: {base}")
            require(base.covers(before.get(key, Frontier.EMPTY)), f"{key} went back")

    def check_reached(
        self,
        tables: list[InputId],
        pins: Pins,
        unmoved: set[InputId],
        before: Mapping[InputId, Frontier],
        *,
        alone: bool,
    ) -> None:
        """What failed stays with all that stands on it; all others of a round reach its pins."""
        for key in self.definitions.stream_tables:
            if key not in tables or key in unmoved:
                require(self.stands_for.get(key) == before.get(key), f"{key} moved all the same")
            elif not alone:
                wanted = pins.restricted_to(self.definitions.roots(key))
                require(self.stands_for[key] == wanted, f"{key} did not go on")
            above = {table.id for table in self.definitions.ancestors(key)}
            if key in tables and key not in unmoved and not alone:
                require(not above & unmoved, f"{key} moved without {above & unmoved}")

    def check_read(self, tables: list[InputId]) -> None:
        """A reader gets the last epoch for which pins exist, by looking at all of them."""
        moves = [move for move in self.moves if move.stream_table_id in tables]
        found = last_agreed(
            moves, tables, lambda bases: self.followed.agree(bases, MIRRORS, self.is_one_drain)
        )
        expected = None
        for number in sorted({move.epoch for move in moves}, reverse=True):
            at = {m.stream_table_id: m for m in reversed(moves) if m.epoch <= number}
            if len(at) == len(tables) and self.has_pins(m.base_frontier for m in at.values()):
                expected = (number, at)
                break
        require(found == expected, (found, expected))

    def is_one_drain(self, versions: Frontier) -> bool:
        return any(drain.agrees_with(versions) for drain in self.drains)

    def has_pins(self, bases: Iterable[Frontier]) -> bool:
        """Whether pins exist at which all are current: every version and every drain is tried."""
        known = list(bases)
        every = product(range(self.heads[D] + 1), self.drains)
        candidates = (Frontier({**drain, D: Version(at)}) for at, drain in every)
        return any(all(pins.agrees_with(base) for base in known) for pins in candidates)


def _united(parts: Iterable[Content]) -> Content:
    total: dict[InputId, frozenset[Version]] = {}
    for part in parts:
        for root, versions in part.items():
            total[root] = total.get(root, frozenset()) | versions
    return total


@given(history=histories())
def test_every_version_and_every_epoch_is_one_moment(history: History) -> None:
    World(history, Followed()).play()


def _without_drains(upstream, pins, *, direct, mirrors, now):
    return next_moment(upstream, pins, direct=direct, mirrors=frozenset(), now=now)


WRONG = {
    "mirrors of different drains are mixed": Followed(next_moment=_without_drains),
    "a reader does not ask for drains": Followed(agree=lambda b, _, d: agree(b, frozenset(), d)),
    "a reader takes whatever is there": Followed(agree=lambda *_: True),
    "pins go back": Followed(pins_at_least=lambda pins, _: pins),
    "what failed is read as if it had not": replace(Followed(), waits_for_inputs=False),
}


@pytest.mark.slow
@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_the_model_notices(wrong: Followed) -> None:
    @settings(max_examples=2_000, phases=[Phase.generate], database=None, derandomize=True)
    @given(history=histories())
    def play(history: History) -> None:
        World(history, wrong).play()

    with pytest.raises(ViolationError):
        play()
