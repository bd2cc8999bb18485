"""The benchmarks of the scheduler: what needs neither Spark nor a server, in its smallest size."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks import scheduler, scheduler_coalescing, scheduler_detect, scheduler_graphs
from benchmarks.pages import write_page
from benchmarks.postgres_report import page_lines
from benchmarks.scheduler_idle import measured as idle
from benchmarks.scheduler_report import at_least_times, below, dag_bars, exactly, pool_bars
from streamtables.compiler.plan import compile_sql

MACHINE = {"cores": 2, "processor": "p", "memory_gb": 8, "load_before": 0, "pyspark": "4"}
DAG = """
1,000 nodes, 150 levels, 3 statements of each kind
  create  edit    0.019 ms (one in ten over    0.021)   full build     4.0 ms   ratio      211 (bar 20)
  alter   edit    0.200 ms (one in ten over    0.300)   full build     3.6 ms   ratio       18 (bar 20)
  drop    edit    0.016 ms (one in ten over    0.017)   full build     3.9 ms   ratio    1,250 (bar 20)
  looks      0.021 ms alone      0.034 ms beside full builds (the slowest    5.120)
"""
COLUMNS = {"id": "bigint", "grp": "bigint", "amount": "bigint"}


def test_the_worst_edit_and_the_slowest_build_are_the_bars_of_the_dag():
    ratio, build, looks = dag_bars(DAG)
    assert (ratio.found, ratio.verdict) == ("18.00×", "missed")
    assert "alter" in ratio.what
    assert (build.found, build.verdict) == ("4.00 ms", "met")
    assert looks.found == "0.021 ms, 0.034 ms (at most 5.120 ms)"


def test_the_figure_of_threads_is_shown():
    [bar] = pool_bars("A thread per task costs 0.210 ms more per task (median of the rows).")
    assert (bar.found, bar.verdict) == ("+0.210 ms a task", "shown")


@pytest.mark.parametrize("read", [dag_bars, pool_bars])
def test_a_benchmark_that_broke_off_has_no_bars(read):
    with pytest.raises(ValueError):
        list(read("Traceback"))


def test_times_and_ratios_miss_their_bars_and_counts_are_right_or_wrong():
    assert [below("t", s, 0.02).verdict for s in (0.0199, 0.02)] == ["met", "missed"]
    assert [at_least_times("r", r, 1.3).verdict for r in (1.3, 1.29)] == ["met", "missed"]
    assert [exactly("c", c, 1).verdict for c in (1, 2)] == ["met", "WRONG"]


@pytest.mark.parametrize("part", scheduler.PARTS, ids=lambda part: part.module)
def test_every_part_exists_and_understands_its_quick_options(part):
    module = import_module(f"benchmarks.{part.module}")
    if part.printed is None:
        assert isinstance(module._options(part.quick.split()), argparse.Namespace)


def test_idle_ticks_over_a_few_tables_ask_one_question_each(tmp_path: Path):
    found = idle(tmp_path, 9, ticks=15)
    assert found["queries"] == [1, 1]
    assert 0 < found["median_seconds"] <= found["p95_seconds"]


def test_a_look_at_delta_sources_asks_for_two_log_files_each_and_reads_none(tmp_path: Path):
    found = scheduler_detect.counted(tmp_path, "delta", 3, ticks=2)
    assert list(found["asked"].values()) == [1, 0, 6, 0]


@pytest.mark.parametrize(("depth", "width", "tables"), [(10, 1, 10), (10, 6, 60)])
def test_every_table_of_a_graph_follows_changes_and_the_graph_has_its_depth(depth, width, tables):
    queries = scheduler_graphs.queries(depth, width)
    assert len(queries) == tables
    known = {"source_0": COLUMNS}
    depths = {"source_0": 0}
    for name, query in queries.items():
        below = [other for other in depths if f" {other} " in f"{query} "]
        assert compile_sql(query, known).incremental
        assert len(below) == (1 if width == 1 or name.startswith("t_0") else 2)
        depths[name] = 1 + max(depths[other] for other in below)
        known[name] = {"grp": "bigint", "amount": "bigint"}
    assert max(depths.values()) == depth


def test_every_source_is_followed_by_as_many_tables_of_each_shape():
    queries = scheduler_coalescing.queries(50)
    for number in range(scheduler_coalescing.SOURCES):
        here = [query for query in queries.values() if f"source_{number}" in query]
        assert len(here) == 10
        assert sum("GROUP BY" in query for query in here) == 5
        assert all(compile_sql(query, {f"source_{number}": COLUMNS}).incremental for query in here)


def test_the_table_goes_into_the_page(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text(scheduler.PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    bar = below("a", 0.001, 0.02)._asdict()
    results = {"machine": MACHINE, "parts": [{"bars": [bar]}]}
    write_page(page_lines(results, "make bench-scheduler"), page, "SCHEDULER")
    assert "| a | 1.00 ms | < 20 ms | met |\n<!-- /SCHEDULER -->" in page.read_text("utf-8")
