"""What this package returns, as HTML for a notebook.  Texts are escaped: names come from people."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, TypeVar

from streamtables.api import StreamTables
from streamtables.explanation import Explanation
from streamtables.graph import Graph
from streamtables.refresh.results import Refresh
from streamtables.refresh.verify import Verification

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

T = TypeVar("T")
_BOX = (
    'style="display:inline-block;border:1px solid #8888;border-radius:4px;'
    'padding:2px 8px;margin:2px"'
)


def register(shell: InteractiveShell) -> None:
    """Have the notebook show our objects by these functions; nothing is changed elsewhere."""
    formatter = shell.display_formatter.formatters["text/html"]  # type: ignore[union-attr]  # a notebook has one
    _for(formatter, Refresh, refresh_html)
    _for(formatter, Verification, verification_html)
    _for(formatter, Explanation, explanation_html)
    _for(formatter, Graph, graph_html)
    _for(formatter, StreamTables, warehouse_html)


def _for(formatter: object, kind: type[T], show: Callable[[T], str]) -> None:
    formatter.for_type(kind, show)  # type: ignore[attr-defined]  # IPython does not say its type


def refresh_html(done: Refresh) -> str:
    """Show one refresh: what it did, why in this way, and where the time went."""
    rows = f"+{done.rows_inserted:,} −{done.rows_deleted:,}"
    cells = (done.table, done.mode, done.outcome, rows, f"{done.seconds:.2f} s", done.reason.text)
    table = _table(("table", "mode", "outcome", "rows", "time", "why"), [cells])
    steps = " · ".join(f"{name} {seconds:.2f} s" for name, seconds in done.steps)
    notes = "".join(f"<div>{escape(note)}</div>" for note in done.notes)
    failure = f"<div><b>{escape(str(done.error))}</b></div>" if done.error is not None else ""
    return f"{table}<small>{escape(steps)}</small>{notes}{failure}"


def verification_html(found: Verification) -> str:
    """Show whether a table is its query, and rows that are not."""
    if found.equal:
        return f"<b>{escape(found.table)}</b> is equal to its query at version {found.version}."
    head = (
        f"<b>{escape(found.table)}</b> differs from its query: "
        f"{found.missing:,} rows are missing, {found.extra:,} are too many."
    )
    sample = found.sample
    rows = [[str(value) for value in row.values()] for row in sample.slice(0, 20).to_pylist()]
    return head + _table(sample.column_names, rows)


def explanation_html(explained: Explanation) -> str:
    """Show the picture of a plan, and the text below it on demand."""
    text = f"<pre>{escape(explained.text)}</pre>"
    return f"{explained.svg}<details><summary>in words</summary>{text}</details>"


def graph_html(graph: Graph) -> str:
    """Show sources and tables by level, each with what it reads."""
    reads: dict[str, list[str]] = {}
    for source, reader in graph.edges:
        reads.setdefault(reader, []).append(source)
    levels: dict[int, list[str]] = {}
    for node in graph.nodes:
        told = f' title="reads {escape(", ".join(reads[node.name]))}"' if node.name in reads else ""
        levels.setdefault(node.level, []).append(f"<span {_BOX}{told}>{escape(node.name)}</span>")
    lines = [f"<div>{' '.join(boxes)}</div>" for _, boxes in sorted(levels.items())]
    return "<div>↓</div>".join(lines) or "<i>nothing is defined</i>"


def warehouse_html(db: StreamTables) -> str:
    """Show where every table of a warehouse stands."""
    rows = [(item.name, item.state, item.mode, item.schedule) for item in db.stream_tables()]
    return _table(("table", "state", "mode", "schedule"), [list(map(str, row)) for row in rows])


def _table(head: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(value)}</td>" for value in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
