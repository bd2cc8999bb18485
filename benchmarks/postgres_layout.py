"""Change buffers: two flat rows per update (D and I) against one wide row with old and new values.

    python -m benchmarks.postgres_layout

Both kinds of triggers capture the same statements on equal tables, in turns in one run.  Writing
counts the statements.  A scan brings all changes as typed signed rows, by COPY.  Netting brings
what remains of keys that changed several times, in two ways: signed rows are added up, as a drain
does it; or the server takes the first and the last change of each key.  The bar holds the first
way, of flat rows, against the faster way of wide ones.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from time import perf_counter

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.bars import Bar
from benchmarks.options import positive
from benchmarks.pages import Results, conditions
from benchmarks.postgres_layout_tables import (
    FLAT,
    FLAT_BY_SERVER,
    LAYOUTS,
    WIDE,
    WIDE_BY_SERVER,
    Fixture,
)
from benchmarks.postgres_report import (
    add_results_option,
    at_most,
    is_so,
    only_shown,
    report,
    show_table,
)
from streamtables.demo.postgres_server import running_server
from streamtables.sources.postgres.buffer import net
from streamtables.sources.postgres.server import Server

WRITE_BAR, SCAN_BAR, NETTING_BAR, BYTES_BAR = 1.15, 0.8, 0.7, 0.6
WAYS = (FLAT, WIDE, FLAT_BY_SERVER, WIDE_BY_SERVER)


# Two columns in ten: what an update changes.
_UPDATE = "UPDATE {table} SET c1 = c1 + 1, c2 = c2 || 'x'"
_STATEMENTS = {"insert": "", "update": _UPDATE, "delete": "DELETE FROM {table}"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and show; 1 when the two layouts do not tell the same."""
    options = _options(arguments)
    results = conditions() | {"rows": options.rows, "rounds": options.rounds, "items": []}
    bars: list[Bar] = []
    with running_server() as server, Server(server.url).connected("benchmark") as connection:
        for columns in options.columns:
            fixture = Fixture(connection, columns, options.rows)
            item = measured(fixture, options.rounds, options.times)
            results["items"].append(item)
            _show(item, options)
            bars += list(_bars(item))
    return report(results, bars, options.results, "postgres_layout")


def measured(fixture: Fixture, rounds: int, times: int) -> Results:
    """Return what writing, scanning and netting take, and whether the results are equal."""
    writing = _writing(fixture, rounds)
    for layout in LAYOUTS:
        fixture.write(layout, fixture.insert, _UPDATE, "DELETE FROM {table}")
    scanning = _in_turns(LAYOUTS, rounds, fixture.signed)
    sent = {kind: fixture.bytes_read(kind) for kind in LAYOUTS}
    heap = {layout: fixture.heap_bytes(layout) for layout in LAYOUTS}
    equal = _is_same(fixture, LAYOUTS)
    fixture.empty()
    for layout in LAYOUTS:
        fixture.write(layout, fixture.insert)
    fixture.forget()
    for layout in LAYOUTS:
        fixture.write(layout, *[_UPDATE] * times)
    netting = _in_turns(WAYS, rounds, lambda kind: net(fixture.signed(kind)))
    equal = equal and _is_same(fixture, WAYS)
    netted_bytes = {kind: fixture.bytes_read(kind) for kind in WAYS}
    fixture.empty()
    return {
        "columns": fixture.columns,
        "write": writing,
        "scan": scanning,
        "netting": netting,
        "bytes": sent,
        "netting_bytes": netted_bytes,
        "heap_bytes": heap,
        "equal": equal,
    }


def _writing(fixture: Fixture, rounds: int) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, list[float]]] = {}
    for number in range(rounds + 1):
        order = (FLAT, WIDE) if number % 2 else (WIDE, FLAT)
        for event, text in _STATEMENTS.items():
            for layout in order:
                seconds = fixture.write(layout, text or fixture.insert)
                found.setdefault(event, {}).setdefault(layout, []).append(seconds)
        fixture.forget()
    # The first round warms up.
    return {e: {k: median(v[1:]) for k, v in kinds.items()} for e, kinds in found.items()}


def _in_turns(kinds: Sequence[str], rounds: int, call: Callable[[str], object]) -> dict[str, float]:
    found: dict[str, list[float]] = {kind: [] for kind in kinds}
    for number in range(rounds + 1):
        for kind in kinds if number % 2 else reversed(kinds):
            began = perf_counter()
            call(kind)
            found[kind].append(perf_counter() - began)
    return {kind: median(seconds[1:]) for kind, seconds in found.items()}


def _is_same(fixture: Fixture, kinds: Sequence[str]) -> bool:
    first, *others = (net(fixture.signed(kind)) for kind in kinds)
    columns = list(fixture.names)
    for other in others:
        minus = other.select(columns).append_column(
            first.column_names[-1], pc.negate(other.column(first.column_names[-1]))
        )
        if net(pa.concat_tables([first, minus])).num_rows:
            return False
    return True


def _bars(item: Results) -> Iterator[Bar]:
    columns = item["columns"]
    write = {kind: sum(found[kind] for found in item["write"].values()) for kind in LAYOUTS}
    yield at_most(f"D+I ÷ wide, writing, {columns} columns", write[FLAT] / write[WIDE], WRITE_BAR)
    scan = item["scan"][FLAT] / item["scan"][WIDE]
    what = f"D+I ÷ wide, scan of all changes, {columns} columns"
    # The bar is for wide tables; with few columns the figure is shown.
    yield at_most(what, scan, SCAN_BAR) if columns >= 50 else only_shown(what, f"{scan:.2f}×")
    netting = item["netting"]
    best = min(netting[WIDE], netting[WIDE_BY_SERVER])
    what = f"D+I ÷ wide, keys that changed several times, {columns} columns"
    yield at_most(what, netting[FLAT] / best, NETTING_BAR)
    by_server = netting[FLAT_BY_SERVER] / netting[WIDE_BY_SERVER]
    yield only_shown("… both netted by the server", f"{by_server:.2f}×")
    what = f"D+I ÷ wide, bytes read, {columns} columns"
    yield at_most(what, item["bytes"][FLAT] / item["bytes"][WIDE], BYTES_BAR)
    yield is_so(f"both layouts tell the same, {columns} columns", item["equal"])


def _show(item: Results, options: argparse.Namespace) -> None:
    print(
        f"\n{item['columns']} columns, {options.rows:,} rows, medians of {options.rounds} rounds; "
        f"netting: {options.times} updates of each key"
    )
    found = {**item["write"], "scan": item["scan"], "netting": item["netting"]}
    found["netting, by the server"] = _by_server(item["netting"])
    rows = [_row(name, kinds, 1_000, "ms") for name, kinds in found.items()]
    sizes = {"bytes": item["bytes"], "netting, bytes": item["netting_bytes"]}
    sizes["netting, by the server, bytes"] = _by_server(item["netting_bytes"])
    sizes["buffer on the server"] = item["heap_bytes"]
    rows += [_row(name, kinds, 1e-6, "MB") for name, kinds in sizes.items()]
    show_table(["", "D+I", "wide", "D+I ÷ wide"], rows)


def _by_server(found: dict[str, float]) -> dict[str, float]:
    return {FLAT: found[FLAT_BY_SERVER], WIDE: found[WIDE_BY_SERVER]}


def _row(name: str, found: dict[str, float], scale: float, unit: str) -> list[str]:
    cells = [f"{found[kind] * scale:.1f} {unit}" for kind in LAYOUTS]
    return [name, *cells, f"{found[FLAT] / found[WIDE]:.2f}×"]


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.postgres_layout",
        description=__doc__.splitlines()[0] if __doc__ else "",
    )
    parser.add_argument("--rows", type=positive, default=10_000, help="rows of one statement")
    parser.add_argument("--columns", type=positive, nargs="+", default=[10, 50])
    parser.add_argument("--times", type=positive, default=5, help="changes of a key before a drain")
    parser.add_argument("--rounds", type=positive, default=7, help="counted rounds; the median")
    add_results_option(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
