"""One base size: a warehouse that follows it, full twins, and copies for the bare MERGE."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import streamtables
from benchmarks.base import QUERIES, Base
from benchmarks.counters import Counters, Measured
from benchmarks.floor import Copy, result_change, session
from streamtables.catalog.models import StreamTable
from streamtables.engine.delta_log import DeltaLog

KINDS = ("differential", "merge default", "merge tuned", "full")


@dataclass(frozen=True)
class Subject:
    """One query: its stream table, and the copies into which the same rows are merged."""

    name: str
    table: StreamTable
    default: Copy
    tuned: Copy


class Lab:
    """Everything that is measured on one base table."""

    def __init__(
        self, folder: Path, rows: int, shapes: tuple[str, ...], *, spark: streamtables.StreamTables
    ) -> None:
        self.folder = folder
        self.base = Base(folder, rows)
        self._owner = spark
        self._stack = ExitStack()
        self._shapes = shapes
        self.last_steps: dict[str, float] = {}
        """Where the last differential refresh spent its seconds."""

    def __enter__(self) -> Self:
        spark = self._owner.spark
        self.base.make(spark)
        self.db = self._connect("warehouse")
        self.twins = self._connect("twins")
        for shape in self._shapes:
            self.db.create(_name(shape), QUERIES[shape])
            self.twins.create(_name(shape), QUERIES[shape], mode="full")
        _require_success(self.db)
        _require_success(self.twins)
        self.subjects = [self._subject(shape) for shape in self._shapes]
        self.counters = Counters(spark, self.folder)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    def measure(self, subject: Subject, *, full_first: bool) -> dict[str, Measured]:
        """Follow the last change in all four ways; which comes first alternates."""
        found = {}
        if full_first:
            found["full"] = self._full(subject)
        log = DeltaLog(subject.table.location)
        since = log.head()
        found["differential"] = self.counters.measure(lambda: self._differential(subject))
        upto = log.head()
        assert since is not None
        assert upto is not None
        copies = [("merge default", subject.default), ("merge tuned", subject.tuned)]
        columns = list(subject.default.columns)
        rows = result_change(subject.table.location, since, upto, columns, subject.default.key)
        for name, copy in reversed(copies) if full_first else copies:
            copy.hold(rows)
            found[name] = self.counters.measure(copy.merge)
        if not full_first:
            found["full"] = self._full(subject)
        return found

    def differences(self) -> list[str]:
        """Verify every stream table, and every copy against it; return what differs."""
        wrong = [s.name for s in self.subjects if not self.db.verify(s.table.name).equal]
        for subject in self.subjects:
            for copy in (subject.default, subject.tuned):
                if not self._is_same(subject, copy):
                    wrong.append(f"copy of {subject.name}")
        return wrong

    def _is_same(self, subject: Subject, copy: Copy) -> bool:
        spark = self._owner.spark
        ours = spark.read.format("delta").load(subject.table.location)
        theirs = spark.read.format("delta").load(copy.location)
        columns = list(copy.columns)
        return (
            ours.select(columns).exceptAll(theirs.select(columns)).isEmpty()
            and theirs.select(columns).exceptAll(ours.select(columns)).isEmpty()
        )

    def _differential(self, subject: Subject) -> None:
        done = self.db.refresh(subject.table.name)
        if done.mode != "differential" or done.outcome != "applied":
            raise RuntimeError(f"{subject.name} went by {done.mode}: {done.reason.text}")
        self.last_steps = dict(done.steps)

    def _full(self, subject: Subject) -> Measured:
        return self.counters.measure(lambda: self.twins.refresh(subject.table.name))

    def _connect(self, name: str) -> streamtables.StreamTables:
        db = streamtables.connect(self.folder / name, spark=self._owner.spark)
        self._stack.enter_context(db)
        db.add_source("orders", path=self.base.orders, key=["id"])
        db.add_source("customers", path=self.base.customers, key=["customer_id"])
        return db

    def _subject(self, shape: str) -> Subject:
        table = next(t for t in self.db.stream_tables() if t.name == _name(shape))
        spark = self._owner.spark
        columns = tuple(spark.read.format("delta").load(table.location).columns)
        copies = []
        for tuned in (False, True):
            location = self.folder / "copies" / f"{table.name}-{'tuned' if tuned else 'default'}"
            copy = Copy(
                session(spark, tuned=tuned), str(location), columns, table.key_columns or ()
            )
            copy.make(table.location)
            copies.append(copy)
        return Subject(shape, table, *copies)


def _name(shape: str) -> str:
    return shape.replace("-", "_")


def _require_success(db: streamtables.StreamTables) -> None:
    for done in db.refresh_all():
        if done.error is not None:
            raise done.error
