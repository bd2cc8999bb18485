"""Two drains at a time, late commits, crashes and a forgetful catalog against the rules of drains.

The model has no server and no files.  A database is a list of transactions that write to two
tables, open for as long as they like; a mirror is a log of commits that are compare-and-set.  What
is captured waits in a buffer (`one`) and in a log with a slot (`two`): both ways at once.  A leader
is a generator: it stops at each `yield`, where it may be paused for any time or killed.

`WRONG` breaks the rules one at a time, and the model must notice each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count

import numpy as np
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
    CommitFacts,
    CommitStamp,
    Drain,
    Frontier,
    InputId,
    MirrorStanding,
    PgPosition,
    RefreshId,
    Sequence,
    Version,
    judge_mirror,
)
from streamtables.sources.postgres.look import log_is_quiet
from streamtables.sources.postgres.snapshot import Snapshot
from streamtables.sources.postgres.wal import confirmable

ONE, TWO = InputId("one"), InputId("two")
TABLES = (ONE, TWO)
NOW = datetime(2030, 1, 1, tzinfo=UTC)

Rows = Counter[str]
Steps = Generator[None, None, None]


class ViolationError(AssertionError):
    """The promise is broken."""


def require(holds: bool, what: str) -> None:
    if not holds:
        raise ViolationError(what)


def sees(snapshot: str, xid: int) -> bool:
    return bool(Snapshot.parse(snapshot).sees(np.array([xid]))[0])


@dataclass
class Transaction:
    """What a transaction wrote: which rows of which table came."""

    xid: int
    rows: list[tuple[InputId, str]] = field(default_factory=list)
    ended: bool = False
    committed: bool = False


@dataclass
class Server:
    """A database: transactions by number, the order of commits, a buffer and a slot."""

    transactions: list[Transaction] = field(default_factory=list)
    commits: list[Transaction] = field(default_factory=list)
    buffer: list[tuple[int, str]] = field(default_factory=list)
    confirmed: int = 0

    def snapshot(self) -> str:
        open_ = [t.xid for t in self.transactions if not t.ended]
        top = len(self.transactions) + 1
        return f"{min(open_, default=top)}:{top}:{','.join(map(str, open_))}"

    def rows(self, table: InputId, snapshot: str) -> Rows:
        return Rows(
            row
            for transaction in self.commits
            if sees(snapshot, transaction.xid)
            for where, row in transaction.rows
            if where == table
        )

    def place(self) -> str:
        """Return where the log ends now."""
        return f"0/{10 * len(self.commits) + 9:X}"


@dataclass
class Mirror:
    """A Delta table: its log, and its rows at each version."""

    log: list[CommitFacts] = field(default_factory=list)
    rows: list[Rows] = field(default_factory=list)


def resumed_at_the_record(
    entries: list[CommitFacts], source_id: InputId, recorded: MirrorStanding | None
) -> MirrorStanding:
    """Believe the catalog, although the mirror is ahead of it."""
    found = judge_mirror(entries, source_id, recorded)
    assert isinstance(found, MirrorStanding)
    if recorded is None:
        return found
    return MirrorStanding(found.version, found.sequence, found.refresh_id, recorded.position)


def below_the_horizon(snapshot: str, xid: int) -> bool:
    """Take what is older than every open transaction, and nothing else."""
    return xid < Snapshot.parse(snapshot).xmin


def quiet_by_the_snapshot(now: PgPosition, last: PgPosition) -> bool:
    return log_is_quiet(now, last, last)


def quiet_by_the_log(now: PgPosition, last: PgPosition) -> bool:
    """Believe that nothing happened because the log has not grown."""
    return now.lsn == last.lsn


def quiet_by_the_horizon(now: PgPosition, last: PgPosition) -> bool:
    """Look at the newest transaction alone, and forget those that were open."""
    return Snapshot.parse(now.snapshot).xmax == Snapshot.parse(last.snapshot).xmax


@dataclass(frozen=True)
class Rules:
    """The rules as a drain follows them."""

    quiet: Callable[[PgPosition, PgPosition], bool] = quiet_by_the_snapshot

    judge: Callable[..., object] = judge_mirror
    sees: Callable[[str, int], bool] = sees
    trims_before_the_record: bool = False
    records_before_all_commits: bool = False
    holds_nothing_back: bool = False
    checks_the_version: bool = True


class World:
    """The server, the mirrors and the catalog."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.server = Server()
        self.mirrors = {table: Mirror() for table in TABLES}
        self.drains: list[Drain] = []
        self.ids = count()
        position = PgPosition(self.server.snapshot(), self.server.place())
        for table in TABLES:
            self.commit(table, Rows(), Sequence(0), position, "copy", at=-1)
        self.record(position, {table: Version(0) for table in TABLES}, 1)

    def commit(
        self,
        table: InputId,
        rows: Rows,
        last: Sequence,
        position: PgPosition,
        mode: str,
        *,
        at: int,
    ) -> Version | None:
        """Write the next version, if the one that was read is still the last."""
        mirror = self.mirrors[table]
        if self.rules.checks_the_version and at != len(mirror.log) - 1:
            return None
        stamp = CommitStamp(
            table,
            Sequence(last + 1),
            RefreshId(f"drain-{next(self.ids)}"),
            Frontier.EMPTY,
            Frontier.EMPTY,
            mode,
            "",
            position,
        )
        version = Version(len(mirror.log))
        mirror.log.append(CommitFacts(version, stamp, changes_rows=True))
        mirror.rows.append(rows)
        return version

    def record(self, position: PgPosition, versions: dict[InputId, Version], number: int) -> bool:
        if number != (self.drains[-1].number if self.drains else 0) + 1:
            return False
        self.drains.append(Drain("db", number, position, Frontier(versions), NOW))
        return True

    def standing(self, table: InputId, last: Drain) -> tuple[MirrorStanding, int]:
        log = self.mirrors[table].log
        version = last.versions[table]
        stamp = log[version].stamp
        assert stamp is not None
        recorded = MirrorStanding(version, stamp.sequence, stamp.refresh_id, last.position)
        found = self.rules.judge(log[version + 1 :], table, recorded)
        require(isinstance(found, MirrorStanding), "our own commits are taken for foreign ones")
        assert isinstance(found, MirrorStanding)
        return found, len(log) - 1

    def drain(self) -> Steps:
        last = self.drains[-1]
        if self.rules.quiet(PgPosition(self.server.snapshot(), self.server.place()), last.position):
            return
        yield
        standings = {table: self.standing(table, last) for table in TABLES}
        yield
        snapshot = self.server.snapshot()
        # Transactions may commit between the two, and are in the log without being visible.
        yield
        position = PgPosition(snapshot, self.server.place())
        found, held_back = self.read(position, {t: s.position for t, (s, _) in standings.items()})
        yield
        if self.rules.trims_before_the_record:
            self.let_go(position, held_back)
        versions = {table: standing.version for table, (standing, _) in standings.items()}
        for table, rows in found.items():
            if self.rules.records_before_all_commits and table == TWO:
                self.record(position, versions, last.number + 1)
                yield
            if rows:
                standing, head = standings[table]
                after = self.mirrors[table].rows[head] + rows
                done = self.commit(table, after, standing.sequence, position, "drain", at=head)
                if done is None:
                    return
                versions[table] = done
            yield
        if not any(found.values()) and Frontier(versions) == last.versions:
            return
        if not self.record(position, versions, last.number + 1):
            return
        yield
        self.let_go(position, held_back)

    def read(
        self, position: PgPosition, since: dict[InputId, PgPosition]
    ) -> tuple[dict[InputId, Rows], int | None]:
        """Return what came since each mirror's position, and what the log holds back."""
        taken = self.rules.sees
        one = Rows(
            row
            for xid, row in self.server.buffer
            if self.visible(xid)
            and taken(position.snapshot, xid)
            and not taken(since[ONE].snapshot, xid)
        )
        two, held_back = Rows(), None
        for place, transaction in enumerate(self.server.commits):
            lsn = 10 * (place + 1)
            # A commit is sent again until the slot stands past the start of its record.
            if lsn < self.server.confirmed:
                continue
            if not taken(position.snapshot, transaction.xid):
                held_back = lsn if held_back is None else held_back
            elif not taken(since[TWO].snapshot, transaction.xid):
                two += Rows(row for where, row in transaction.rows if where == TWO)
        return {ONE: one, TWO: two}, held_back

    def visible(self, xid: int) -> bool:
        return self.server.transactions[xid - 1].committed

    def let_go(self, position: PgPosition, held_back: int | None) -> None:
        self.server.buffer = [
            (xid, row)
            for xid, row in self.server.buffer
            if not (self.visible(xid) and self.rules.sees(position.snapshot, xid))
        ]
        upto = confirmable(position.lsn, None if self.rules.holds_nothing_back else held_back)
        self.server.confirmed = max(self.server.confirmed, int(upto.split("/")[1], 16))

    def check(self) -> None:
        """Every recorded drain shows one moment of the database, in both mirrors."""
        for drain in self.drains:
            for table, version in drain.versions.items():
                expected = self.server.rows(table, drain.position.snapshot)
                require(self.mirrors[table].rows[version] == expected, f"{table}: not its table")

    def settle(self) -> None:
        """Run drains that nothing disturbs, after which the mirrors are the tables."""
        for _ in range(2):
            for _ in self.drain():
                pass
        self.check()
        now = self.server.snapshot()
        for table in TABLES:
            rows = self.mirrors[table].rows[self.drains[-1].versions[table]]
            require(rows == self.server.rows(table, now), f"{table}: changes are lost")


LEADERS = st.sampled_from([0, 1])


class Drains(RuleBasedStateMachine):
    """What can happen, in any order."""

    followed = Rules()

    def __init__(self) -> None:
        super().__init__()
        self.world = World(self.followed)
        self.running: dict[int, Steps] = {}

    @rule(table=st.sampled_from(TABLES), number=st.integers(0, 2))
    def someone_writes(self, table: InputId, number: int) -> None:
        """Write in one of the transactions that are open, or in a new one."""
        server = self.world.server
        open_ = [t for t in server.transactions if not t.ended]
        if number >= len(open_):
            open_.append(Transaction(len(server.transactions) + 1))
            server.transactions.append(open_[-1])
        transaction = open_[min(number, len(open_) - 1)]
        row = f"{table} {next(self.world.ids)}"
        transaction.rows.append((table, row))
        if table == ONE:
            server.buffer.append((transaction.xid, row))

    @rule(number=st.integers(0, 2), commits=st.sampled_from([True, True, True, False]))
    def a_transaction_ends(self, number: int, commits: bool) -> None:
        open_ = [t for t in self.world.server.transactions if not t.ended]
        if number < len(open_):
            open_[number].ended = True
            open_[number].committed = commits
            if commits:
                self.world.server.commits.append(open_[number])

    @rule(leader=LEADERS, steps=st.integers(1, 8))
    def a_leader_goes_on(self, leader: int, steps: int) -> None:
        if leader not in self.running:
            self.running[leader] = self.world.drain()
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

    @invariant()
    def everything_is_true(self) -> None:
        self.world.check()

    def teardown(self) -> None:
        self.world.settle()


TestDrains = Drains.TestCase

WRONG = {
    "a mirror ahead of the record goes on from the record": Rules(judge=resumed_at_the_record),
    "only what is below the horizon is taken": Rules(sees=below_the_horizon),
    "buffers are trimmed before the record": Rules(trims_before_the_record=True),
    "a drain is recorded before all mirrors have it": Rules(records_before_all_commits=True),
    "the slot moves past what was held back": Rules(holds_nothing_back=True),
    "a log that has not grown is quiet": Rules(quiet=quiet_by_the_log),
    "transactions that were open are not looked at": Rules(quiet=quiet_by_the_horizon),
    "a commit does not look at the version that was read": Rules(checks_the_version=False),
}


@pytest.mark.slow
@pytest.mark.parametrize("broken", WRONG, ids=str)
def test_the_model_notices_a_wrong_rule(broken: str):
    class Broken(Drains):
        followed = WRONG[broken]

    # The first counterexample is enough: nobody reads it, so it is not made smaller.
    search = settings(max_examples=2_000, derandomize=True, database=None, phases=[Phase.generate])
    with pytest.raises(ViolationError):
        run_state_machine_as_test(Broken, settings=search)
