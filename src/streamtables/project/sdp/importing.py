"""A pipeline judged: what each of its datasets becomes here, and the file that says so.

A materialized view is what its query says, as a stream table is.  A streaming table is what its
query said of each row as it came: the two agree where the query keeps rows one by one and rows are
only added.  A stream table also follows rows that are changed or deleted.
"""

from __future__ import annotations

from collections import defaultdict

from streamtables.catalog.definitions import Definitions
from streamtables.catalog.models import Source
from streamtables.catalog.names import check_name
from streamtables.compiler.algebra import Filter, Generate, Project, Scan, UnionAll
from streamtables.compiler.explaining.report import report_of
from streamtables.compiler.frontend.dialect import parse_query
from streamtables.compiler.frontend.tables import referenced_names
from streamtables.compiler.library_statements import CreateView
from streamtables.compiler.pipeline_statements import (
    PipelineDataset,
    with_short_names,
    without_stream,
)
from streamtables.compiler.plan import Plan
from streamtables.compiler.rewrites.rebuild import in_order as nodes_of
from streamtables.compiler.statements import CreateStreamTable
from streamtables.errors import StreamTablesError
from streamtables.project.checking import NOT_TRIED, Trial
from streamtables.project.front_matter import Defined, Defining
from streamtables.project.sdp.found import Found, Imported, Unread
from streamtables.project.sdp.spec import PipelineFiles
from streamtables.project.sdp.writing import file_text
from streamtables.refresh.define import analysed

ROW_BY_ROW = (Scan, Filter, Project, UnionAll, Generate)
STREAM_NOTE = "rows that are changed or deleted at the source are followed too"


class _RefusedError(Exception):
    """Why a dataset cannot be taken over."""


class Judge:
    """Judges the datasets of a pipeline against what is known of their sources."""

    def __init__(self, found: Found, files: PipelineFiles, trial: Trial) -> None:
        self.found, self.files, self.trial = found, files, trial
        self.answers: list[Imported] = []
        self._all_names = [self._short(item.name).lower() for item, _ in found.datasets]
        self.names = frozenset(self._all_names)
        self._flows: dict[str, list[str]] = defaultdict(list)
        for flow, file in found.flows:
            target = self._short(flow.target).lower()
            if target not in self.names:
                reason = f'its target "{flow.target}" is no streaming table of the pipeline'
                found.unread.append(Unread(flow.name, file, reason))
            self._flows[target].append(flow.query)

    def judged(self) -> list[Imported]:
        """Return what becomes of everything, in an order in which each finds what it reads."""
        waiting = list(self.found.datasets)
        while waiting:
            ready = [item for item in waiting if not self._waits(item[0], waiting)]
            for dataset, file in ready:
                self.answers.append(self._judge(dataset, file))
            if not ready:
                # Each waits for another one, so that one of them reads itself in the end.
                reason = "it reads what reads it in turn"
                self.answers.append(self._refused(*waiting[0], reason))
            waiting = [item for item in waiting if item not in (ready or waiting[:1])]
        self.answers += [
            Imported(item.name, "-", "refused", item.reason, item.file)
            for item in self.found.unread
        ]
        return self.answers

    def _waits(self, dataset: PipelineDataset, waiting: list[tuple[PipelineDataset, str]]) -> bool:
        others = {self._short(other.name).lower() for other, _ in waiting if other is not dataset}
        return any(others.intersection(self._reads(query)) for query in self._queries(dataset))

    def _judge(self, dataset: PipelineDataset, file: str) -> Imported:
        name = self._short(dataset.name)
        try:
            check_name(name)
            if self._all_names.count(name.lower()) > 1:
                raise _RefusedError("the pipeline defines it twice")
            if isinstance(self.trial.definitions.named(name), Source):
                raise _RefusedError("a source of the project has this name")
            if any(name.lower() in self._reads(query) for query in self._queries(dataset)):
                raise _RefusedError("it reads itself")
            statement, notes = self._statement(dataset, name)
            becomes, reason = self._tried(statement, file)
        except _RefusedError as refusal:
            return self._refused(dataset, file, str(refusal))
        except StreamTablesError as error:
            why = f" {error.detail}" if error.detail else ""
            return self._refused(dataset, file, f"{error.code} {error.message}.{why}")
        if dataset.dropped:
            notes.append(f"not taken over: {', '.join(dataset.dropped)}")
        text = file_text(statement, dataset.comment)
        reason = "; ".join([reason, *notes])
        return Imported(name, dataset.kind, becomes, reason, file, text)

    def _refused(self, dataset: PipelineDataset, file: str, reason: str) -> Imported:
        name = self._short(dataset.name)
        self.trial.unknown.add(name.lower())
        return Imported(name, dataset.kind, "refused", reason, file)

    def _statement(self, dataset: PipelineDataset, name: str) -> tuple[Defining, list[str]]:
        if dataset.kind == "streaming table":
            return CreateStreamTable(name, self._streamed(dataset)), [STREAM_NOTE]
        assert dataset.query is not None
        query, streams = without_stream(dataset.query)
        if streams:
            raise _RefusedError(f"a {dataset.kind} cannot read a stream")
        query = self._shortened(query)
        if dataset.kind == "view":
            return CreateView(name, query), []
        return CreateStreamTable(name, query), []

    def _streamed(self, dataset: PipelineDataset) -> str:
        """Return one query for all that flows into a streaming table."""
        parts: list[tuple[str, Plan]] = []
        for text in self._queries(dataset, raw=True):
            query, streams = without_stream(text)
            if not streams:
                raise _RefusedError("a query that fills it reads no stream, and would run once")
            parts.append(self._row_by_row(self._shortened(query)))
        if not parts:
            raise _RefusedError("nothing fills it: it has no query and no flow")
        if len(parts) == 1:
            return parts[0][0]
        columns = [column for column, _ in parts[0][1].output]
        for _, plan in parts:
            if {c.lower() for c, _ in plan.output} != {c.lower() for c in columns}:
                raise _RefusedError("the flows that fill it do not have the same columns")
        shown = ", ".join(f"`{column}`" for column in columns)
        return "\nUNION ALL\n".join(f"SELECT {shown} FROM (\n{text}\n)" for text, _ in parts)

    def _row_by_row(self, query: str) -> tuple[str, Plan]:
        unknown = self._unknown(query)
        if unknown:
            raise _RefusedError(
                f"whether it keeps rows one by one shows when {', '.join(unknown)} is a source: "
                "add it, and import again"
            )
        plan = analysed(query, self.trial.definitions)
        if plan.root is None:
            raise _RefusedError(f"{plan.refusals[0].code} {plan.refusals[0].message}")
        if not all(isinstance(node, ROW_BY_ROW) for node in nodes_of(plan.definition)):
            raise _RefusedError(
                "it joins, groups or orders rows as they come, so its result depends on when they "
                "came: write the query that is meant as a stream table"
            )
        return query, plan

    def _tried(self, statement: Defining, file: str) -> tuple[str, str]:
        assert isinstance(statement, CreateStreamTable | CreateView)
        unknown = self._unknown(statement.query)
        self.trial.unknown.update(unknown)
        self.trial.add(Defined(statement, file), None)
        name = statement.name.lower()
        if unknown:
            return "unchecked", f"reads {', '.join(unknown)}, which is no source yet"
        if name in self.trial.later or self.trial.kept.get(name) == NOT_TRIED:
            return "unchecked", self.trial.later.get(name, NOT_TRIED)
        if isinstance(statement, CreateView):
            return "view", "inlined into what reads it"
        plan = self.trial.plans[name]
        if plan.refusals:
            refusal = plan.refusals[0]
            return "full", f"{refusal.code} {refusal.message}. {refusal.reason}"
        costs = [f"{table} {cost.cost}" for table, cost in report_of(plan).costs]
        return "incremental", f"a change costs, by source: {', '.join(costs) or 'nothing'}"

    def _unknown(self, query: str) -> list[str]:
        known: Definitions = self.trial.definitions
        return [
            name
            for name in self._reads(query)
            if known.named(name) is None and name not in self.trial.unknown
        ]

    def _reads(self, query: str) -> list[str]:
        try:
            return [name.lower() for name in referenced_names(parse_query(query))]
        except StreamTablesError:
            return []

    def _queries(self, dataset: PipelineDataset, *, raw: bool = False) -> list[str]:
        own = [dataset.query] if dataset.query is not None else []
        texts = [*own, *self._flows.get(self._short(dataset.name).lower(), ())]
        return texts if raw else [self._shortened(without_stream(text)[0]) for text in texts]

    def _shortened(self, query: str) -> str:
        return with_short_names(query, self.files.prefixes, self.names).strip()

    def _short(self, name: str) -> str:
        parts = name.split(".")
        for prefix in sorted(self.files.prefixes, key=len, reverse=True):
            lowered = tuple(part.lower() for part in parts)
            if lowered[: len(prefix)] == prefix and len(parts) > len(prefix):
                return ".".join(parts[len(prefix) :])
        return name
