"""Both hands that can write a small change into a large table, on copies of it, in one run.

    python -m benchmarks.strategies [--megabytes 64 256 1024] [--rows 1000] [--rounds 3]

The change updates keys that are spread over all files, so each hand writes all of them anew.  The
two take turns.  At the end the rates that fit are printed as `refresh/routing.py` holds them.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from benchmarks.machine import machine, machine_text
from streamtables.engine import small_hand, spark_hand
from streamtables.engine.arrow_rows import with_weight
from streamtables.engine.binding import bind
from streamtables.engine.session import SparkSessions
from streamtables.engine.small_commit import SmallHandle
from streamtables.engine.spark_merge import merge_signed
from streamtables.engine.spark_start import SparkSettings
from streamtables.engine.touched_files import Files, all_files
from streamtables.positions import CommitStamp, Frontier, InputId, RefreshId, Sequence, Version
from streamtables.refresh.routing import HANDS, Hand
from streamtables.settings import load_settings

ROW_BYTES = 60
"""About what a row of the table takes on disk."""


def main() -> None:
    """Measure every size and print the rates."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, nargs="+", default=[64, 256, 1024])
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print(machine_text(machine()))
    start = SparkSettings(jars_dir=load_settings().jars_dir, master="local[2]", driver_memory="4g")
    sessions = SparkSessions(start)
    points: dict[Hand, list[tuple[Files, float]]] = {hand: [] for hand in HANDS}
    try:
        for size in options.megabytes:
            _measure(sessions, size, options.rows, options.rounds, points)
    finally:
        sessions.stop()
    for hand, seen in points.items():
        print(f"{hand}: {_fitted(seen)}")


def _measure(
    sessions: SparkSessions,
    megabytes: int,
    rows: int,
    rounds: int,
    points: dict[Hand, list[tuple[Files, float]]],
) -> None:
    with TemporaryDirectory() as folder:
        with sessions.lease("bulk") as spark:
            _make(spark, Path(folder) / "base", megabytes * 2**20 // ROW_BYTES)
        seconds: dict[Hand, list[float]] = {hand: [] for hand in HANDS}
        files = all_files(SmallHandle.open(str(Path(folder) / "base"), 0))
        for number in range(rounds):
            for hand in HANDS if number % 2 else reversed(HANDS):
                copy = Path(folder) / "copy"
                shutil.copytree(Path(folder) / "base", copy)
                seconds[hand].append(_write(sessions, hand, copy, rows))
                shutil.rmtree(copy)
    here, spark_took = (median(seconds[hand]) for hand in HANDS)
    table = f"{files.size / 2**20:,.0f} MB in {files.count} files"
    sides = f"replace-keys {here:.2f} s, merge {spark_took:.2f} s"
    print(f"{table}: {sides}, ratio {here / spark_took:.2f}")
    for hand in HANDS:
        points[hand].append((files, median(seconds[hand])))


def _make(spark: SparkSession, place: Path, rows: int) -> None:
    """Fill a table whose keys are spread over all files."""
    data = spark.range(rows).selectExpr("id", "rand(1) AS x", "uuid() AS note").repartition(4)
    spark_hand.overwrite(spark, data, str(place), _stamp(1), key_columns=("id",))


def _write(sessions: SparkSessions, hand: Hand, place: Path, rows: int) -> float:
    handle = small_hand.open_at(str(place), 0)
    total = int(pc.sum(pa.table(handle.table.get_add_actions())["num_records"]).as_py())
    keys = pa.table({"id": np.linspace(0, total - 1, rows).astype(np.int64)})
    with sessions.lease("bulk") as spark:
        began = perf_counter()
        covered = small_hand.read_keys(handle, ("id",), keys)
        new = covered.named.set_column(1, "x", pc.add(covered.named["x"], 1.0))
        signed = pa.concat_tables([with_weight(new, 1), with_weight(covered.named, -1)])
        if hand == "replace-keys":
            small_hand.apply(handle, signed, key_columns=("id",), stamp=_stamp(2), covered=covered)
        else:
            merge_signed(
                spark,
                bind(spark, "change", signed),
                str(place),
                _stamp(2),
                key_columns=("id",),
                version=Version(0),
                materialised=True,
            )
        return perf_counter() - began


def _stamp(sequence: int) -> CommitStamp:
    return CommitStamp(
        table_id=InputId("t"),
        sequence=Sequence(sequence),
        refresh_id=RefreshId(f"r{sequence}"),
        frontier=Frontier.EMPTY,
        base_frontier=Frontier.EMPTY,
        mode="differential",
        query_hash="",
    )


def _fitted(points: list[tuple[Files, float]]) -> str:
    """Return the line through the points: seconds before the first byte, and by byte."""
    sizes = np.array([files.size for files, _ in points], dtype=float)
    seconds = np.array([taken for _, taken in points])
    if len(points) < 2:
        return "one size tells no rate"
    byte, fixed = np.polyfit(sizes, seconds, 1)
    return f"fixed {max(fixed, 0.0):.2f} s, {byte:.2e} s per byte"


if __name__ == "__main__":
    main()
