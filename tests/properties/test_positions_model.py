"""Two leaders, foreign writers, crashes and a forgetful catalog against the rules of positions.

The model has no Spark, no files and no SQL.  It keeps what the promise is about: a table's rows as
a bag of source changes, Delta logs with the ways both hands commit, and a catalog of standings.
A leader is a generator: it stops at each `yield`, where it may be paused for any time or killed.

    r ──▶ a ──▶ c ──▶ d        every table shows all rows of its inputs, once per input,
    r, s ──▶ b ──▶ c           but `a` leaves out hidden ones, so its delta may be empty

The rules under test come from `positions.py`.  `WRONG` breaks them one at a time, and the model
must notice each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from streamtables.positions import (
    Adopt,
    BaseFrontier,
    CommitFacts,
    CommitStamp,
    Frontier,
    InputId,
    Landed,
    NotWritten,
    Pins,
    RefreshId,
    Sequence,
    Standing,
    Superseded,
    Tampered,
    Version,
    classify_log,
    decide_current,
    judge_write,
    last_row_change,
    next_base_frontier,
    pins_at_least,
)

R, S, A, B, C, D = map(InputId, "rsabcd")
READS = {A: (R,), B: (R, S), C: (A, B), D: (C,)}
ROOTS_OF = {A: {R}, B: {R, S}, C: {R, S}, D: {R, S}}
NOW = datetime(2030, 1, 1, tzinfo=UTC)

Rows = Counter[str]
Round = Generator[None, None, None]


class ViolationError(AssertionError):
    """The promise is broken."""


def require(holds: bool, what: str) -> None:
    if not holds:
        raise ViolationError(what)


def plus(left: Rows, right: Rows, sign: int = 1) -> Rows:
    """Add with negative counts kept, which `Counter`'s own operators drop."""
    total = Rows(left)
    for row, weight in right.items():
        total[row] += sign * weight
        if not total[row]:
            del total[row]
    return total


@dataclass
class Root:
    """A Delta table that others write: its log, and its rows at each version."""

    log: list[CommitFacts] = field(default_factory=list)
    rows: list[Rows] = field(default_factory=lambda: [Rows()])

    def commit(self, rows: Rows, *, maintenance: bool = False) -> None:
        self.log.append(
            CommitFacts(Version(len(self.rows)), None, not maintenance, is_maintenance=maintenance)
        )
        self.rows.append(rows)


@dataclass
class Table:
    """A stream table's Delta log, its rows at each version, and which of them others spoilt."""

    log: list[CommitFacts] = field(default_factory=list)
    rows: list[Rows] = field(default_factory=list)
    spoilt: list[bool] = field(default_factory=list)

    @property
    def head(self) -> int:
        return len(self.log) - 1

    def after(self, standing: Standing | None) -> list[CommitFacts]:
        return self.log[standing.version + 1 :] if standing else list(self.log)

    def commit(
        self, rows: Rows, stamp: CommitStamp | None, *, maintenance: bool = False, spoilt: bool
    ) -> None:
        version = Version(len(self.log))
        self.log.append(CommitFacts(version, stamp, not maintenance, is_maintenance=maintenance))
        self.rows.append(rows)
        self.spoilt.append(spoilt)

    def last_sequence(self) -> int:
        return max((entry.stamp.sequence for entry in self.log if entry.stamp), default=0)

    def write(self, delta: Rows, stamp: CommitStamp, hand: str, opened_at: int) -> None:
        """Commit as the hand does: Spark skips a taken sequence, the small hand its conflicts.

        Neither says so here: the leader has to find out from the log.
        """
        skipped = self.last_sequence() >= stamp.sequence
        if skipped if hand == "spark" else self.head != opened_at:
            return
        stored = self.rows[-1] if self.rows else Rows()
        self.commit(plus(stored, delta), stamp, spoilt=bool(self.spoilt and self.spoilt[-1]))


@dataclass(frozen=True)
class Rules:
    """The rules a leader follows."""

    judge: Callable[..., Landed | Superseded | Tampered | NotWritten] = judge_write
    classify: Callable[..., object] = classify_log
    may_replace: Callable[[Standing, Standing | None], bool] = Standing.may_replace
    no_change_takes_a_sequence: bool = False
    reads_inputs_at_the_pins: bool = True


class World:
    """Roots, stream tables, the catalog, and the leaders' way to refresh."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.roots = {R: Root(), S: Root()}
        self.tables = {table: Table() for table in READS}
        self.catalog: dict[InputId, list[Standing]] = {table: [] for table in READS}
        self.tampered: set[InputId] = set()
        self.busy: InputId | None = None
        self.ids = count()

    def standing(self, table: InputId) -> Standing | None:
        return self.catalog[table][-1] if self.catalog[table] else None

    def rows_at(self, input_id: InputId, version: int) -> Rows:
        holder = self.roots.get(input_id) or self.tables[input_id]
        return holder.rows[version]

    def shown(self, table: InputId, rows: Iterable[Rows]) -> Rows:
        total = Rows()
        for part in rows:
            total = plus(total, part)
        return Rows({row: n for row, n in total.items() if table != A or "hidden" not in row})

    def query(self, table: InputId, base: BaseFrontier) -> Rows:
        """Return the rows of the whole query at one version of each root."""
        parts = [
            self.query(item, base) if item in READS else self.rows_at(item, base[item])
            for item in READS[table]
        ]
        return self.shown(table, parts)

    def at(self, table: InputId, frontier: Frontier) -> Rows:
        """Return the rows of the query over the direct inputs at `frontier`."""
        return self.shown(table, [self.rows_at(item, frontier[item]) for item in frontier])

    def record(self, table: InputId, standing: Standing) -> None:
        last = self.standing(table)
        if self.rules.may_replace(standing, last):
            require(last is None or standing.sequence >= last.sequence, "a standing went back")
            self.catalog[table].append(standing)

    def mark_tampered(self, table: InputId, found: Tampered) -> None:
        foreign = self.tables[table].log[found.version].stamp is None
        require(foreign, f"our own commit in {table} is taken for a foreign one")
        # A leader that slept through a repair finds what the repair has healed.
        last = self.standing(table)
        if last is None or last.version < found.version:
            self.tampered.add(table)

    def round(self, hand: str) -> Round:
        """Bring every table to one set of pins, as far as the other leader lets it."""
        heads = {root: last_row_change(self.roots[root].log, Version(0)) for root in self.roots}
        bases = [last.base_frontier for table in READS if (last := self.standing(table))]
        pins = pins_at_least(Frontier(heads), bases)
        yield
        at_pins: dict[InputId, Standing] = {}
        for table in READS:
            standing = yield from self.bring(table, pins, at_pins, hand)
            own = pins.restricted_to(frozenset(ROOTS_OF[table]))
            if standing and decide_current(own, standing.base_frontier) == "current":
                at_pins[table] = standing

    def recover(self, table: InputId) -> Standing | None:
        """Adopt what the log holds beyond the catalog; notice foreign hands."""
        last = self.standing(table)
        recorded = (last.sequence, last.refresh_id) if last else (Sequence(0), None)
        found = self.rules.classify(self.tables[table].after(last), table, *recorded)
        if isinstance(found, Tampered):
            self.mark_tampered(table, found)
        elif isinstance(found, Adopt):
            last = Standing.from_stamp(found.stamp, found.version, NOW)
            self.record(table, last)
        return last

    def bring(
        self, table: InputId, pins: Pins, at_pins: dict[InputId, Standing], hand: str
    ) -> Generator[None, None, Standing | None]:
        """Refresh one table; return where this leader knows it to stand, None if it must wait."""
        self.busy = table
        last = self.recover(table)
        opened_at = self.tables[table].head
        if table in self.tampered:
            return None
        own = pins.restricted_to(frozenset(ROOTS_OF[table]))
        if last and decide_current(own, last.base_frontier) != "behind":
            return last
        attempt = self.attempt(table, last, pins, at_pins)
        if attempt is None:
            return None
        before = self.at(table, last.frontier) if last else Rows()
        delta = plus(self.at(table, attempt.frontier), before, sign=-1)
        yield
        if last and not delta:
            standing = self.without_commit(last, attempt)
        else:
            self.tables[table].write(delta, attempt, hand, opened_at)
            yield
            landed = self.landed(table, last, attempt)
            if landed is None:
                return self.standing(table)
            standing = landed
        yield
        self.record(table, standing)
        return standing

    def attempt(
        self,
        table: InputId,
        last: Standing | None,
        pins: Pins,
        at_pins: dict[InputId, Standing],
    ) -> CommitStamp | None:
        inputs = [item for item in READS[table] if item in READS]
        if not self.rules.reads_inputs_at_the_pins:
            at_pins = {item: known for item in inputs if (known := self.standing(item))}
        if not all(item in at_pins for item in inputs):
            return None
        direct = pins.restricted_to(frozenset(READS[table]))
        base: BaseFrontier | None = direct
        if self.rules.reads_inputs_at_the_pins:
            base = next_base_frontier([at_pins[item].base_frontier for item in inputs], direct)
            require(base is not None, "inputs that are current at the same pins disagree")
        else:
            base = pins_at_least(direct, [at_pins[item].base_frontier for item in inputs])
        assert base is not None
        frontier = Frontier({**direct, **{item: at_pins[item].version for item in inputs}})
        sequence = Sequence((last.sequence if last else 0) + 1)
        refresh_id = RefreshId(f"refresh-{next(self.ids)}")
        return CommitStamp(table, sequence, refresh_id, frontier, base, "differential", "hash")

    def without_commit(self, last: Standing, attempt: CommitStamp) -> Standing:
        taken = 1 if self.rules.no_change_takes_a_sequence else 0
        return replace(
            last,
            sequence=Sequence(last.sequence + taken),
            frontier=attempt.frontier,
            base_frontier=attempt.base_frontier,
        )

    def landed(
        self, table: InputId, last: Standing | None, attempt: CommitStamp
    ) -> Standing | None:
        """Return the new standing if the write is ours; else leave the catalog true."""
        outcome = self.rules.judge(self.tables[table].after(last), last, attempt)
        match outcome:
            case Landed(version):
                return Standing.from_stamp(attempt, version, NOW)
            case Superseded(stamp, version):
                self.record(table, Standing.from_stamp(stamp, version, NOW))
            case Tampered():
                self.mark_tampered(table, outcome)
        return None

    def check(self) -> None:
        """Require what must hold at every moment."""
        for name, table in self.tables.items():
            for entry in table.log:
                if entry.stamp and not entry.is_maintenance and not table.spoilt[entry.version]:
                    expected = self.query(name, entry.stamp.base_frontier)
                    require(table.rows[entry.version] == expected, f"{name}: not its query")
            if last := self.standing(name):
                self.check_standing(name, table, last)

    def check_standing(self, name: InputId, table: Table, last: Standing) -> None:
        require(not table.spoilt[last.version], f"{name} stands on foreign rows")
        stamp = table.log[last.version].stamp
        require(stamp is not None, f"{name} stands on a commit that is not ours")
        assert stamp is not None
        require(stamp.refresh_id == last.refresh_id, f"{name} stands on another's commit")
        rows = table.rows[last.version]
        require(rows == self.query(name, last.base_frontier), f"{name}: wrong base frontier")
        require(rows == self.at(name, last.frontier), f"{name}: wrong frontier")

    def settle(self) -> None:
        """Run one undisturbed round, after which everything that can be current is."""
        for _ in self.round("spark"):
            self.check()
        self.check()
        heads = {root: last_row_change(self.roots[root].log, Version(0)) for root in self.roots}
        held_up: set[InputId] = set()
        for name, table in self.tables.items():
            last = self.standing(name)
            if any(table.spoilt[last.version + 1 :] if last else table.spoilt):
                require(name in self.tampered, f"nobody noticed the foreign hand in {name}")
            if name in self.tampered or held_up & set(READS[name]):
                held_up.add(name)
                continue
            own = Frontier(heads).restricted_to(frozenset(ROOTS_OF[name]))
            require(last is not None, f"{name} is not filled")
            assert last is not None
            require(decide_current(own, last.base_frontier) == "current", f"{name} is stuck")


LEADERS = st.sampled_from([0, 1])
TABLES = st.sampled_from(list(READS))
KINDS = st.sampled_from(["insert", "hidden", "delete", "compact"])


class Positions(RuleBasedStateMachine):
    """What can happen, in any order."""

    followed = Rules()

    def __init__(self) -> None:
        super().__init__()
        self.world = World(self.followed)
        self.running: dict[int, Round] = {}

    @rule(root=st.sampled_from([R, R, S]), kind=KINDS)
    def someone_changes_a_root(self, root: InputId, kind: str) -> None:
        holder = self.world.roots[root]
        rows = holder.rows[-1]
        if kind == "compact":
            holder.commit(rows, maintenance=True)
        elif kind != "delete":
            holder.commit(plus(rows, Rows([f"{root}{next(self.world.ids)} {kind}"])))
        elif rows:
            holder.commit(plus(rows, Rows([max(rows)]), sign=-1))

    @rule(leader=LEADERS, hand=st.sampled_from(["spark", "small"]), steps=st.integers(1, 16))
    def a_leader_goes_on(self, leader: int, hand: str, steps: int) -> None:
        """Go on with the round, or start one; stopping anywhere is being paused there."""
        if leader not in self.running:
            self.running[leader] = self.world.round(hand)
        for _ in range(steps):
            try:
                next(self.running[leader])
            except StopIteration:
                del self.running[leader]
                return
            self.world.check()

    @precondition(lambda self: self.running)
    @rule(leader=LEADERS)
    def a_leader_is_killed(self, leader: int) -> None:
        self.running.pop(leader, None)

    @rule(table=TABLES)
    def we_compact_a_table(self, table: InputId) -> None:
        stored, last = self.world.tables[table], self.world.standing(table)
        # Maintenance restates what it stands on, and keeps off a table that is ahead of it.
        if last and last.sequence == stored.last_sequence() and not stored.spoilt[-1]:
            stamp = stored.log[last.version].stamp
            assert stamp is not None
            restated = replace(stamp, frontier=last.frontier, base_frontier=last.base_frontier)
            stored.commit(stored.rows[-1], restated, maintenance=True, spoilt=False)

    @precondition(lambda self: self.world.busy)
    @rule(rarely=st.integers(0, 2))
    def someone_writes_to_a_stream_table(self, rarely: int) -> None:
        """Spoil the table at which a leader is, where it is hardest to notice."""
        assert self.world.busy is not None
        stored = self.world.tables[self.world.busy]
        if stored.log and rarely == 0:
            alien = Rows([f"alien {next(self.world.ids)}"])
            stored.commit(plus(stored.rows[-1], alien), None, spoilt=True)

    @precondition(lambda self: self.world.tampered)
    @rule()
    def somebody_repairs(self) -> None:
        """Write the rows of a frontier that is known again, over whatever is there."""
        for table in sorted(self.world.tampered):
            stored = self.world.tables[table]
            stamps = [entry.stamp for entry in stored.log if entry.stamp]
            known = self.world.standing(table) or stamps[-1]
            stamp = replace(
                stamps[-1],
                sequence=Sequence(stored.last_sequence() + 1),
                refresh_id=RefreshId(f"repair-{next(self.world.ids)}"),
                frontier=known.frontier,
                base_frontier=known.base_frontier,
                mode="full",
            )
            stored.commit(self.world.query(table, known.base_frontier), stamp, spoilt=False)
            self.world.record(table, Standing.from_stamp(stamp, Version(stored.head), NOW))
        self.world.tampered.clear()

    @rule(table=TABLES)
    def the_catalog_loses_its_last_record(self, table: InputId) -> None:
        if self.world.catalog[table]:
            self.world.catalog[table].pop()

    @invariant()
    def everything_is_true(self) -> None:
        self.world.check()

    def teardown(self) -> None:
        self.world.settle()


TestPositions = Positions.TestCase


def believes_the_writer(
    entries: list[CommitFacts], standing: Standing | None, attempt: CommitStamp
) -> Landed | NotWritten:
    """Take the commit with our sequence for ours, whoever made it."""
    for entry in entries:
        if entry.stamp and entry.stamp.sequence == attempt.sequence:
            return Landed(entry.version)
    return NotWritten()


def ignores_foreign_hands(
    entries: list[CommitFacts], standing: Standing | None, attempt: CommitStamp
) -> Landed | Superseded | Tampered | NotWritten:
    return judge_write([entry for entry in entries if entry.stamp], standing, attempt)


def adopts_over_foreign_hands(entries: list[CommitFacts], *recorded: object) -> object:
    return classify_log([entry for entry in entries if entry.stamp], *recorded)  # type: ignore[arg-type]


WRONG = {
    "a write that returns is taken for a success": Rules(judge=believes_the_writer),
    "foreign commits below our own are not seen": Rules(judge=ignores_foreign_hands),
    "foreign commits are adopted over": Rules(classify=adopts_over_foreign_hands),
    "a standing may go back": Rules(may_replace=lambda new, last: True),
    "a refresh without a commit takes a sequence": Rules(no_change_takes_a_sequence=True),
    "inputs are read where they are, not at the pins": Rules(reads_inputs_at_the_pins=False),
}


@pytest.mark.slow
@pytest.mark.parametrize("broken", WRONG, ids=str)
def test_the_model_notices_a_wrong_rule(broken: str):
    class Broken(Positions):
        followed = WRONG[broken]

    # The first counterexample is enough: nobody reads it, so it is not made smaller.
    search = settings(max_examples=2_000, derandomize=True, database=None, phases=[Phase.generate])
    with pytest.raises(ViolationError):
        run_state_machine_as_test(Broken, settings=search)
