"""A captured table under steady load: how far its mirror is behind, and what the server writes.

    python -m benchmarks.postgres_load --rate 5000 --seconds 300

A writer in a process of its own keeps a rate of changed rows; drains run back to back.  Spark makes
the first copy, as for every source, and takes over drains that have grown large.  At the end the
mirror is compared with the table, row by row.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from psycopg import Connection

from benchmarks.bars import Bar
from benchmarks.options import positive
from benchmarks.pages import Results, conditions
from benchmarks.postgres_amplification import (
    Side,
    amplification,
    delta_files,
    wal_bytes,
    written_since,
)
from benchmarks.postgres_load_run import Loaded, lags
from benchmarks.postgres_load_work import Work
from benchmarks.postgres_report import (
    add_results_option,
    at_least,
    is_so,
    only_shown,
    report,
    stays_bounded,
)
from streamtables.demo.postgres_server import running_server
from streamtables.engine.session import SparkSessions
from streamtables.engine.spark_start import SparkSettings
from streamtables.settings import load_settings
from streamtables.sources.postgres.server import Server

WAYS = ("triggers", "wal")
MAX_GROWTH, SMALL_LAG_SECONDS = 2, 1
"""How much older the mirror may be in the last third of a load than in the middle one, and the age
up to which growth is of no interest.  The first third warms up."""
_CAUGHT_UP_BYTES = 1 << 20
"""A slot is not moved on for less than this."""
_LEVELS = {"triggers": "replica", "wal": "logical"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and show; 1 when a mirror differs from its table or does not catch up."""
    options = _options(arguments)
    results = conditions() | {"rate": options.rate, "seconds": options.seconds, "items": []}
    settings = SparkSettings(jars_dir=load_settings().jars_dir, driver_memory=options.driver_memory)
    bars: list[Bar] = []
    sessions = SparkSessions(settings)
    try:
        for way in options.capture:
            item = measured(way, options, sessions)
            results["items"].append(item)
            _show(item)
            bars += list(_bars(item, options.rate))
    finally:
        sessions.stop()
    return report(results, bars, options.results, "postgres_load")


def measured(way: Any, options: argparse.Namespace, sessions: SparkSessions) -> Results:
    """Run the load with one way of capture, on servers and in a warehouse of its own."""
    print(f"\nCapture by {way}: {options.rate:,} changes/s for {options.seconds} s", flush=True)
    with (
        running_server(wal_level=_LEVELS[way], track_commit_timestamp="on") as server,
        running_server(wal_level="replica", track_commit_timestamp="on") as other,
        TemporaryDirectory(prefix="streamtables-load-") as folder,
        Server(server.url).connected("benchmark") as connection,
        Server(other.url).connected("benchmark") as elsewhere,
    ):
        work, plain = (Work(options.rows, options.transaction) for _ in range(2))
        work.fill(connection)
        plain.fill(elsewhere)
        loaded = Loaded(server.url, Path(folder), sessions)
        try:
            loaded.add(way)
            costs = amplification(
                Side(elsewhere, plain),
                Side(connection, work),
                loaded,
                rounds=options.rounds,
                each=max(1, options.work // options.transaction),
            )
            return {"capture": way, "amplification": costs} | _loaded(
                loaded, work, options, connection
            )
        finally:
            loaded.close()


def _loaded(
    loaded: Loaded, work: Work, options: argparse.Namespace, connection: Connection[Any]
) -> Results:
    location = Path(loaded.source.location)
    files, wal = delta_files(location), wal_bytes(connection)
    counted = loaded.statistics(connection)
    start, written = loaded.load(work, options.rate, options.seconds, options.every)
    end = start + written.seconds
    wal = wal_bytes(connection) - wal
    at_stop = loaded.behind(connection)
    began = perf_counter()
    loaded.drain(connection)
    return {
        "changes": written.changes,
        "changes_per_second": written.changes / written.seconds,
        "writer_late_seconds": written.late_seconds,
        **_percentiles(lags(loaded.drains, start, end)),
        "drains": len(loaded.drains),
        "ticks": loaded.ticks,
        "when_the_writer_stopped": at_stop,
        "after_the_last_drain": loaded.behind(connection),
        "last_drain_seconds": perf_counter() - began,
        "wal_bytes": wal,
        "buffer": _since(counted, loaded.statistics(connection)),
        "delta": written_since(files, delta_files(location)),
        "reasons": [event.reason for event in loaded.catalog.capture_events(loaded.source.id)],
        "differences": loaded.differences(connection),
    }


def _since(before: Results, after: Results) -> Results:
    """Return what the server counted under load; sizes and dead rows stay as they are."""
    counts = ("inserted", "deleted", "vacuums")
    return {name: after[name] - before[name] * (name in counts) for name in after}


def _percentiles(found: Sequence[float]) -> Results:
    ordered = sorted(found)
    third = max(1, len(found) // 3)
    parts = {"first": found[:third], "middle": found[third:-third], "last": found[-third:]}
    return {
        "max_lag_seconds": ordered[-1],
        "p95_lag_seconds": ordered[int(0.95 * (len(ordered) - 1))],
        "median_lag_seconds": _middle(found),
        # A load of two moments has no middle.
        **{f"{name}_third_lag_seconds": _middle(part or found) for name, part in parts.items()},
    }


def _middle(found: Sequence[float]) -> float:
    return sorted(found)[len(found) // 2]


def _is_caught_up(behind: Results) -> bool:
    if "pending_rows" in behind:
        return bool(behind["pending_rows"] == 0)
    return bool(behind["slot_lag_bytes"] < _CAUGHT_UP_BYTES)


def _bars(item: Results, rate: int) -> Iterator[Bar]:
    way, costs = item["capture"], item["amplification"]
    per_second = item["changes_per_second"]
    yield at_least(f"{way}: changes written under load", round(per_second), 0.98 * rate, "per s")
    yield from _lag_bars(item)
    caught_up = _is_caught_up(item["after_the_last_drain"])
    yield is_so(f"{way}: caught up by one drain after the last write", caught_up)
    yield is_so(f"{way}: the mirror equals the table", item["differences"] == 0)
    what = f"{way}: WAL of the server ÷ without capture, drains included"
    yield only_shown(what, f"{costs['wal_ratio_with_drain']:.2f}×")
    yield from _delta_bars(item)
    if held := item["buffer"]:
        what = f"{way}: the buffer after the load, dead rows, heap and index"
        heap, index = held["heap_bytes"], held["index_bytes"]
        yield only_shown(what, f"{held['dead']:,} rows, {heap:,} and {index:,} bytes")


def _lag_bars(item: Results) -> Iterator[Bar]:
    way = item["capture"]
    lag = f"{item['p95_lag_seconds']:.1f} s, {item['max_lag_seconds']:.1f} s"
    yield only_shown(f"{way}: lag of the mirror, p95 and max", lag)
    first, middle, last = (item[f"{n}_third_lag_seconds"] for n in ("first", "middle", "last"))
    lag = f"{first:.1f} s, {middle:.1f} s, {last:.1f} s"
    yield only_shown(f"{way}: lag, first, middle and last third", lag)
    what = f"{way}: lag stays bounded, last third ÷ middle third"
    yield stays_bounded(what, last, middle, MAX_GROWTH, SMALL_LAG_SECONDS)


def _delta_bars(item: Results) -> Iterator[Bar]:
    way, kinds = item["capture"], item["delta"]
    size = sum(found["bytes"] for found in kinds.values()) / max(1, item["changes"])
    yield only_shown(f"{way}: Delta bytes written per change", f"{size:,.0f}")
    vectors = kinds["deletion vectors"]
    counts = [f"{name} {found['files']:,}" for name, found in kinds.items() if found is not vectors]
    yield only_shown(f"{way}: Delta files written", ", ".join(counts))
    text = f"{vectors['files']:,} files, {vectors['bytes']:,} bytes"
    yield only_shown(f"{way}: Delta deletion vectors", text)


def _show(item: Results) -> None:
    costs = item["amplification"]
    print(f"\n  {item['changes']:,} changes, {item['changes_per_second']:,.0f} per s, ", end="")
    print(f"the writer at most {item['writer_late_seconds']:.1f} s late; {item['drains']} drains")
    print(f"  lag: median {item['median_lag_seconds']:.2f} s, ", end="")
    print(f"p95 {item['p95_lag_seconds']:.2f} s, max {item['max_lag_seconds']:.2f} s")
    print(f"  when the writer stopped: {_words(item['when_the_writer_stopped'])}")
    print(f"  after one more drain:    {_words(item['after_the_last_drain'])}, ", end="")
    print(f"{item['last_drain_seconds']:.1f} s")
    print(f"  rows that differ from the table: {item['differences']}")
    print(f"  WAL under load: {item['wal_bytes'] / max(1, item['changes']):,.0f} bytes per change")
    for name, found in costs["wal_bytes_per_change"].items():
        print(f"  WAL of the same work, {name}: {found:,.0f} bytes per change")
    print(f"  the same work takes {costs['time_ratio']:.2f}× the time with capture")
    if item["buffer"]:
        print(f"  buffer: {_words(item['buffer'])}")
    for kind, found in item["delta"].items():
        print(f"  Delta {kind}: {found['files']:,} files, {found['bytes'] / 1e6:,.1f} MB")


def _words(found: Results) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in found.items())


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.postgres_load",
        description=__doc__.splitlines()[0] if __doc__ else "",
    )
    add = parser.add_argument
    add("--rate", type=positive, default=5_000, help="changed rows per second")
    add("--seconds", type=positive, default=300, help="how long the writer writes")
    add("--capture", nargs="+", choices=WAYS, default=list(WAYS))
    add("--rows", type=positive, default=100_000, help="rows of the table at first")
    add("--transaction", type=positive, default=100, help="changed rows of one transaction")
    add("--every", type=positive, default=10, help="seconds between two lines")
    add("--work", type=positive, default=20_000, help="changes of a round that counts WAL")
    add("--rounds", type=positive, default=5, help="rounds that count WAL; the median")
    add("--driver-memory", default="2g", help="memory of Spark's driver")
    add_results_option(parser)
    options = parser.parse_args(arguments)
    if options.rows < 2 * options.transaction:
        parser.error("the table needs twice as many rows as a transaction changes")
    return options


if __name__ == "__main__":
    sys.exit(main())
