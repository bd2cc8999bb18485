"""A stand-in for the API: it records what it was asked and gives what it was told to give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TextIO

from streamtables.catalog.scheduler_models import Event
from streamtables.catalog.snapshot_models import KeptSnapshot, KeptVersion
from streamtables.engine.spark_progress import TasksDone
from streamtables.errors import NotFoundError, StreamTablesError, TableDamagedError
from streamtables.positions import Frontier, InputId, Version
from streamtables.refresh.health import HealthFinding
from streamtables.refresh.manifest import Manifest
from streamtables.refresh.plan_cache import CacheLevel
from streamtables.refresh.plans import ClearedCaches
from streamtables.refresh.upkeep import Kept
from streamtables.sources.postgres.copy_progress import CopyProgress


@dataclass(frozen=True)
class Named:
    name: str


@dataclass(frozen=True)
class Source:
    name: str
    kind: str = "delta"
    location: str = "data/orders"
    columns: tuple[tuple[str, str], ...] = (("id", "bigint"),)
    key_columns: tuple[str, ...] = ("id",)


@dataclass(frozen=True)
class Reason:
    code: str
    text: str


@dataclass(frozen=True)
class Refresh:
    table: str
    mode: str = "differential"
    outcome: str = "applied"
    reason: Reason = Reason("small-change", "3 of 1000 rows changed")
    rows_inserted: int = 2
    rows_deleted: int = 1
    frontier: dict[str, int] = field(default_factory=lambda: {"orders": 7})
    seconds: float = 0.34
    steps: tuple[tuple[str, float], ...] = (("compute", 0.3), ("apply", 0.04))
    notes: tuple[str, ...] = ()
    error: StreamTablesError | None = None


@dataclass(frozen=True)
class Verification:
    table: str
    equal: bool = True
    missing: int = 0
    extra: int = 0
    sample: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Explanation:
    text: str = "Scan orders\nkey: id"
    data: dict[str, Any] = field(default_factory=lambda: {"key": ["id"]})
    svg: str = "<svg/>"


@dataclass(frozen=True)
class TableStatus:
    name: str
    state: str = "active"
    mode: str = "auto"
    schedule: str = "manual"
    tier: str = "hot"
    rows: int | None = 12
    version: int | None = 3
    last_mode: str | None = "differential"
    last_outcome: str | None = "applied"
    last_reason: str | None = "3 of 1000 rows changed"
    last_refreshed_at: datetime | None = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    seconds: float | None = 0.5
    changes_pending: bool = False
    lag_seconds: float | None = 0.0
    next_due_at: datetime | None = None
    waits_for: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class ApplyPlan:
    items: tuple[tuple[str, str, str], ...] = (
        ("create", "totals", "new file totals.sql"),
        ("unchanged", "regions", ""),
    )


class FakeRows:
    """The part of an Arrow table that the command line reads."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows
        self.column_names = list(rows[0]) if rows else []
        self.num_rows = len(rows)

    def slice(self, start: int, length: int) -> FakeRows:
        return FakeRows(self.rows[start : start + length])

    def to_pylist(self) -> list[dict[str, Any]]:
        return self.rows


KEPT = KeptSnapshot(
    "before",
    4,
    datetime(2030, 1, 1, tzinfo=UTC),
    (KeptVersion(InputId("t"), "totals", Version(7), Frontier.EMPTY, Frontier.EMPTY, "hash"),),
)


@dataclass
class FakeDatabase:
    """Every call lands in `calls`; `error` is raised by the next call that does something."""

    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)
    error: BaseException | None = None
    happened: list[Event] = field(default_factory=list)
    tables: list[TableStatus] = field(default_factory=lambda: [TableStatus("totals")])
    source_list: list[Source] = field(default_factory=lambda: [Source("orders")])
    refreshes: list[Refresh] = field(default_factory=lambda: [Refresh("totals")])
    verification: Verification = Verification("totals")
    captures: list[Any] = field(default_factory=list)
    copies: list[CopyProgress] = field(default_factory=list)
    findings: list[Any] = field(default_factory=list)
    damaged: set[str] = field(default_factory=set)
    rows: list[dict[str, Any]] = field(default_factory=lambda: [{"id": 1, "name": "ann"}])
    records: list[Any] = field(default_factory=list)
    kept: list[Kept] = field(default_factory=list)
    health: list[HealthFinding] = field(default_factory=list)
    plan: ApplyPlan = ApplyPlan()
    sql_result: Any = None
    published: list[Any] = field(default_factory=list)
    published_changes: Any = None
    pushes: list[Any] = field(default_factory=list)
    tasks: TasksDone | None = None
    closed: bool = False
    runs: bool = False
    """Whether a refresh runs that can be cancelled."""

    def spark_progress(self) -> TasksDone | None:
        return self.tasks

    def __enter__(self) -> FakeDatabase:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.closed = True

    def connect(self, warehouse: str, catalog: str | None) -> FakeDatabase:
        self._record("connect", warehouse, catalog)
        return self

    def _record(self, method: str, *args: Any, **kwargs: Any) -> None:
        self.calls.append((method, args, kwargs))
        if self.error is not None and method != "connect":
            raise self.error

    def _require(self, name: str) -> None:
        if name == "nowhere":
            raise NotFoundError(f'stream table "{name}" does not exist')

    def asked(self, method: str) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
        return [(args, kwargs) for name, args, kwargs in self.calls if name == method]

    def add_source(self, name: str, **kwargs: Any) -> Source:
        self._record("add_source", name, **kwargs)
        for progress in self.copies if kwargs["progress"] else ():
            kwargs["progress"](progress)
        return Source(name)

    def sources(self) -> list[Source]:
        self._record("sources")
        return self.source_list

    def source_places(self) -> dict[str, str]:
        return {source.name: source.location for source in self.source_list}

    def drop_source(self, name: str, *, leave_server: bool = False) -> None:
        self._record("drop_source", name, leave_server=leave_server)

    def capture_statements(self, name: str) -> list[str]:
        self._record("capture_statements", name)
        return ["DROP TABLE IF EXISTS ours;"]

    def create(self, name: str, sql: str, **kwargs: Any) -> Named:
        self._record("create", name, sql, **kwargs)
        return Named(name)

    def alter(self, name: str, **kwargs: Any) -> None:
        self._record("alter", name, **kwargs)

    def plan_alter(self, name: str, **kwargs: Any) -> SimpleNamespace:
        self._record("plan_alter", name, **kwargs)
        return SimpleNamespace(name=name, lines=[(name, "adds column x"), ("star", "follows")])

    def pause(
        self,
        name: str | None = None,
        reason: str = "",
        *,
        namespace: str | None = None,
        wait: bool = False,
        timeout: float | None = None,
    ) -> None:
        waits = {"wait": wait, "timeout": timeout} if wait else {}
        self._record("pause", name, reason, namespace=namespace, **waits)

    def resume(self, name: str | None = None, *, namespace: str | None = None) -> None:
        self._record("resume", name, namespace=namespace)

    def cancel(self, name: str | None = None) -> bool:
        self._record("cancel", name)
        return self.runs

    def close_gate(self, source: str, reason: str = "") -> None:
        self._record("close_gate", source, reason)

    def open_gate(self, source: str) -> None:
        self._record("open_gate", source)

    def set_watermark(self, source: str, moment: datetime) -> None:
        self._record("set_watermark", source, moment)

    def set_watermark_group(
        self,
        name: str,
        sources: Sequence[str],
        tolerance: str = "1 minute",
        *,
        until: datetime | None = None,
    ) -> None:
        reached = {} if until is None else {"until": until}
        self._record("set_watermark_group", name, list(sources), tolerance, **reached)

    def drop_watermark_group(self, name: str) -> None:
        self._record("drop_watermark_group", name)

    def tick(self) -> list[Refresh]:
        self._record("tick")
        return self.refreshes

    def run(self, heard: Callable[[Sequence[Refresh]], None] = lambda _: None) -> None:
        self._record("run")
        heard(self.refreshes)

    def stop(self) -> None:
        self._record("stop")

    def events(self, name: str | None = None, limit: int = 100) -> list[Event]:
        self._record("events", name, limit)
        return self.happened

    def audit_log(self, name: str | None = None, limit: int = 100) -> list[Event]:
        self._record("audit_log", name, limit)
        return self.happened

    def repair(self, name: str, *, way: str = "auto") -> Refresh:
        self._record("repair", name, way=way)
        return Refresh(name)

    def drop(self, name: str, *, cascade: bool = False) -> None:
        self._record("drop", name, cascade=cascade)

    def sql(self, text: str) -> Any:
        self._record("sql", text)
        return self.sql_result

    def refresh(self, name: str, *, full: bool = False, upstream: bool = True) -> Refresh:
        self._record("refresh", name, full=full, upstream=upstream)
        self._require(name)
        return Refresh(name)

    def refresh_all(self) -> list[Refresh]:
        self._record("refresh_all")
        return self.refreshes

    def read_rows(self, name: str, limit: int) -> Any:
        self._record("read_rows", name, limit)
        return FakeRows(self.rows[:limit])

    def verify(self, name: str, *, share: float = 1.0) -> Verification:
        self._record("verify", name, share=share)
        self._require(name)
        if name in self.damaged:
            raise TableDamagedError(f'the table of "{name}" is damaged')
        return self.verification

    def explain(self, name: str) -> Explanation:
        self._record("explain", name)
        return Explanation()

    def validate(self, sql: str) -> Explanation:
        self._record("validate", sql)
        return Explanation()

    def history(self, name: str, limit: int) -> list[Any]:
        self._record("history", name, limit)
        return self.records

    def status(self) -> list[TableStatus]:
        self._record("status")
        return self.tables

    def wal_source_status(self) -> list[Any]:
        self._record("wal_source_status")
        return self.captures

    def capture_findings(self) -> list[Any]:
        return self.findings

    def cache_levels(self) -> list[CacheLevel]:
        self._record("cache_levels")
        return [
            CacheLevel("l1", "this process", 0),
            CacheLevel("l0", "plans", None, "the disk is read-only"),
            CacheLevel("l2", "the catalog", 6),
        ]

    def metrics_text(self) -> str:
        self._record("metrics_text")
        return "streamtables_suspended_tables 0.0\n"

    def serve_metrics(self, port: int) -> int:
        self._record("serve_metrics", port)
        return port or 9_123

    def write_logs(self, stream: TextIO) -> None:
        self._record("write_logs")

    def scheduler_diagnostics(self) -> dict[str, object]:
        self._record("scheduler_diagnostics")
        facts = {"running": 2, "slots": 4, "parallel_queue_depth": 7}
        return {"leader": "host:1", "leader_facts": facts}

    def clear_caches(self) -> ClearedCaches:
        self._record("clear_caches")
        return ClearedCaches(l0=6, l1=0, l2=5)

    def health_check(self) -> list[HealthFinding]:
        self._record("health_check")
        return self.health

    def backup(self, folder: Path, *, with_tables: bool = False) -> Manifest:
        self._record("backup", folder, with_tables=with_tables)
        return Manifest("2030", "0.1.0", "0005", "", "/w", with_tables, ())

    def maintain(self, name: str | None = None) -> list[Kept]:
        self._record("maintain", name)
        return self.kept

    def publish(self, name: str, publication: str | None = None) -> Named:
        self._record("publish", name, publication)
        return Named(publication or name)

    def snapshot(self, names: Any, *, label: str, epoch: int | None = None) -> KeptSnapshot:
        self._record("snapshot", tuple(names), label=label, epoch=epoch)
        return KEPT

    def snapshots(self) -> list[KeptSnapshot]:
        return [KEPT]

    def restore_snapshot(self, label: str) -> list[Refresh]:
        self._record("restore_snapshot", label)
        return [Refresh("totals")]

    def drop_snapshot(self, label: str) -> None:
        self._record("drop_snapshot", label)

    def unpublish(self, publication: str) -> None:
        self._record("unpublish", publication)

    def subscribe(
        self,
        publication: str,
        subscriber: str,
        from_version: str | int | None = None,
        *,
        to: Mapping[str, str] | None = None,
        expire_after: str | None = None,
    ) -> None:
        self._record(
            "subscribe", publication, subscriber, from_version, to=to, expire_after=expire_after
        )

    def unsubscribe(self, publication: str, subscriber: str) -> None:
        self._record("unsubscribe", publication, subscriber)

    def acknowledge(
        self, publication: str, subscriber: str, version: int, *, incarnation: str | None = None
    ) -> None:
        self._record("acknowledge", publication, subscriber, version, incarnation=incarnation)

    def changes(
        self, publication: str, subscriber: str, limit: int = 1, *, after: int | None = None
    ) -> Any:
        self._record("changes", publication, subscriber, limit, after=after)
        return self.published_changes

    def publications(self) -> list[Any]:
        self._record("publications")
        return self.published

    def push(self, publication: str | None = None) -> list[Any]:
        self._record("push", publication)
        return self.pushes

    def plan_apply(self, folder: Path, *, prune: bool = False) -> ApplyPlan:
        self._record("plan_apply", folder, prune=prune)
        return self.plan

    def apply(self, plan: ApplyPlan) -> None:
        self._record("apply", plan)

    def plan_project(self, project: Any, *, prune: bool = False) -> Any:
        raise NotImplementedError("projects are tested on a real catalog")

    def apply_project(self, plan: Any) -> Any:
        raise NotImplementedError("projects are tested on a real catalog")

    def import_pipeline(
        self, place: Path, project: Any, environment: Any, *, write: bool = True
    ) -> Any:
        raise NotImplementedError("projects are tested on a real catalog")
