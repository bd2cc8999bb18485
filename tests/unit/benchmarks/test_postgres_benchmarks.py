"""The benchmarks of PostgreSQL sources: what needs no server."""

from __future__ import annotations

import argparse
import random
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import postgres, postgres_layout, postgres_load, postgres_snapshot, suite
from benchmarks.bars import Bar
from benchmarks.pages import write_page
from benchmarks.postgres_amplification import delta_files, written_since
from benchmarks.postgres_load_run import Drained, lags
from benchmarks.postgres_load_work import Work, paced
from benchmarks.postgres_report import (
    at_least,
    at_most,
    decode_bars,
    is_so,
    only_shown,
    page_lines,
    report,
    stays_bounded,
    writer_bars,
)

MACHINE = {"cores": 2, "processor": "p", "memory_gb": 8, "load_before": 0, "pyspark": "4"}

WRITER = """
One statement, 10,000 rows of 10 columns: medians of 15 rounds
              plain  captured  ms     time    CPU    WAL
  insert       40.1      70.2  ms    1.75×  1.70×  2.10×
  update       60.0     150.0  ms    2.50×  2.40×  3.00×
  delete       10.0      20.0  ms    2.00×  1.90×  3.10×
  together    110.1     240.2  ms    2.18×  2.00×  2.60×

Statements of one row, in one transaction: per statement
              plain  captured  µs     time    CPU    WAL
  insert        9.0      90.0  µs    9.99×  9.99×  9.99×
"""
DECODE = """
210,000 changes of 10 columns, median of 5
  the server gives out     0.60 s      350,000 changes/s
  fetch, decode, type      1.50 s      140,000 changes/s (bar 130,000)
  … and last rows          2.00 s      105,000 changes/s
  ratio to the server      2.50       (bar 3.5)
999,999 changes in fetches of 20,000: 7.7 s, peak 390 MB (260 MB after 210,000)
"""


def test_the_bars_of_writers_come_from_one_statement_and_name_the_worst():
    found = list(writer_bars(WRITER))
    assert [(bar.found, bar.verdict) for bar in found] == [
        ("2.50×", "missed"),
        ("2.18×", "met"),
        ("3.10×", "met"),
        ("2.60×", "met"),
    ]
    assert "update" in found[0].what
    assert "delete" in found[2].what


def test_the_bars_of_decoding_are_read():
    rate, ratio, memory = decode_bars(DECODE)
    assert (rate.found, rate.verdict) == ("140,000 changes/s", "met")
    assert (ratio.found, ratio.verdict) == ("2.50×", "met")
    assert (memory.found, memory.verdict) == ("1.50×", "missed")


@pytest.mark.parametrize("read", [writer_bars, decode_bars])
def test_a_benchmark_that_broke_off_has_no_bars(read):
    with pytest.raises(ValueError):
        list(read("Traceback (most recent call last):"))


def test_verdicts():
    assert at_most("a", 1.5, 2.3, 1.6).verdict == "goal met"
    assert at_most("a", 1.7, 2.3, 1.6).verdict == "met"
    assert at_most("a", 2.4, 2.3, 1.6).verdict == "missed"
    assert at_least("a", 9, 10, "rows").verdict == "missed"
    assert only_shown("a", "1").verdict == "shown"


def test_only_a_wrong_result_fails_a_run(tmp_path: Path):
    results = {"machine": MACHINE, "started_at": "2026-01-01T00:00:00Z"}
    assert report(results, [at_most("a", 9, 1)], tmp_path, "x") == 0
    assert report(results, [is_so("a", False)], tmp_path, "x") == 1
    assert (tmp_path / "x-latest.json").exists()


def test_the_lag_grows_until_a_drain_ends_and_counts_from_what_that_drain_saw():
    drains = [Drained(100.0, 100.0), Drained(101.0, 100.5), Drained(101.4, 101.3)]
    found = lags(drains, 100.0, 101.5)
    assert found[9] == pytest.approx(0.9)
    assert found[10] == pytest.approx(0.5)
    assert found[15] == pytest.approx(0.2)
    assert len(found) == 16


class Connection:
    """Keeps what was executed."""

    def __init__(self) -> None:
        self.done: list[tuple[str, tuple[object, ...]]] = []

    def execute(self, text: str, values: tuple[object, ...] = ()) -> None:
        self.done.append((text.split()[0], values))

    def transaction(self) -> Connection:
        return self

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def test_a_transaction_has_as_many_changes_as_it_says_and_touches_no_row_twice():
    work = Work(rows=1_000, changes=103, newest=1_000)
    for _ in range(20):
        connection, oldest, newest = Connection(), work.oldest, work.newest
        assert work.run(connection) == 103  # type: ignore[arg-type]  # stands in for a server
        (_, new), (_, updated), (_, gone) = connection.done
        keys = updated[1]
        assert isinstance(keys, list)
        inserted = int(str(new[1])) - int(str(new[0])) + 1
        deleted = int(str(gone[1])) - int(str(gone[0])) + 1
        assert inserted + len(set(keys)) + deleted == 103
        assert new[0] == newest + 1
        assert gone[0] == oldest
        assert int(str(gone[1])) < min(keys)
        assert max(keys) <= newest


def test_two_works_with_one_seed_are_the_same():
    found = []
    for _ in range(2):
        connection = Connection()
        work = Work(rows=500, changes=50, newest=500, chance=random.Random(3))
        for _ in range(5):
            work.run(connection)  # type: ignore[arg-type]  # stands in for a server
        found.append(connection.done)
    assert found[0] == found[1]


def test_a_paced_writer_stops_when_it_is_told():
    calls = iter([False, False, True])
    written = paced(lambda: 10, rate=1e9, seconds=60, stopped=lambda: next(calls))
    assert written.changes == 20


def test_files_are_counted_by_kind(tmp_path: Path):
    before = delta_files(tmp_path)
    names = (
        "a.parquet",
        "_delta_log/0.json",
        "_change_data/cdc-1.parquet",
        "deletion_vector_1.bin",
    )
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("12345", encoding="utf-8")
    found = written_since(before, delta_files(tmp_path))
    assert found == {
        "data": {"files": 1, "bytes": 5},
        "change feed": {"files": 1, "bytes": 5},
        "log": {"files": 1, "bytes": 5},
        "deletion vectors": {"files": 1, "bytes": 5},
    }


LOADED = {
    "capture": "triggers",
    "amplification": {"wal_ratio_with_drain": 2.0},
    "changes": 10,
    "changes_per_second": 10.0,
    **dict.fromkeys(("p95_lag_seconds", "max_lag_seconds"), 1.0),
    **{f"{third}_third_lag_seconds": 1.0 for third in ("first", "middle", "last")},
    "after_the_last_drain": {"pending_rows": 0},
    "differences": 0,
    "delta": {
        "data": {"files": 1_200, "bytes": 50},
        "log": {"files": 7, "bytes": 50},
        "deletion vectors": {"files": 2, "bytes": 50},
    },
    "buffer": {"dead": 1_234, "heap_bytes": 8_192, "index_bytes": 0},
}


def _bars_of_a_load(**other: object) -> dict[str, Bar]:
    return {bar.what: bar for bar in postgres_load._bars(LOADED | other, 10)}


def test_the_load_shows_what_stays_in_the_buffer_and_beside_the_files():
    found = _bars_of_a_load()
    assert found["triggers: Delta deletion vectors"].found == "2 files, 50 bytes"
    what = "triggers: the buffer after the load, dead rows, heap and index"
    assert found[what].found == "1,234 rows, 8,192 and 0 bytes"
    assert not any("buffer" in what for what in _bars_of_a_load(buffer={}))


def test_the_load_shows_how_many_files_of_each_kind_it_wrote():
    assert _bars_of_a_load()["triggers: Delta files written"].found == "data 1,200, log 7"


@pytest.mark.parametrize(
    ("middle", "last", "verdict"),
    [(1.5, 3.0, "met"), (1.5, 3.1, "missed"), (0.1, 0.9, "met"), (0.4, 1.0, "missed")],
)
def test_a_load_whose_lag_keeps_growing_misses_its_bar(middle: float, last: float, verdict: str):
    found = _bars_of_a_load(middle_third_lag_seconds=middle, last_third_lag_seconds=last)
    assert found["triggers: lag stays bounded, last third ÷ middle third"].verdict == verdict


def test_a_bar_against_growth_shows_both_times_and_is_met_by_no_lag_at_all():
    bar = stays_bounded("a", 3.0, 1.25, 2, 1)
    assert (bar.found, bar.bar) == ("3.00 s ÷ 1.25 s", "≤ 2×, or below 1 s")
    assert stays_bounded("a", 0.0, 0.0, 2, 1).verdict == "met"


def test_the_lag_of_each_third_is_its_median():
    found = postgres_load._percentiles([9.0, 0.1, 0.2, 0.5, 0.6, 9.0, 0.9, 0.8, 0.7])
    thirds = [found[f"{name}_third_lag_seconds"] for name in ("first", "middle", "last")]
    assert thirds == [0.2, 0.6, 0.8]


@pytest.mark.parametrize("lags_found", [[0.4], [0.4, 0.4]])
def test_a_load_that_is_over_at_once_has_three_thirds(lags_found: list[float]):
    found = postgres_load._percentiles(lags_found)
    assert {name: value for name, value in found.items() if value != 0.4} == {}
    assert "middle_third_lag_seconds" in found


def test_a_buffer_has_to_be_empty_and_a_slot_nearly_at_the_end():
    assert postgres_load._is_caught_up({"pending_rows": 0, "buffer_bytes": 9})
    assert not postgres_load._is_caught_up({"pending_rows": 1, "buffer_bytes": 9})
    assert postgres_load._is_caught_up({"slot_lag_bytes": 400})
    assert not postgres_load._is_caught_up({"slot_lag_bytes": 5_000_000})


def test_what_the_server_counted_before_the_load_does_not_count():
    before = {"inserted": 5, "deleted": 4, "dead": 3, "heap_bytes": 8_192}
    after = {"inserted": 25, "deleted": 24, "dead": 7, "heap_bytes": 16_384}
    found = postgres_load._since(before, after)
    assert found == {"inserted": 20, "deleted": 20, "dead": 7, "heap_bytes": 16_384}
    assert postgres_load._since({}, {}) == {}


def test_the_netting_bar_is_against_the_faster_way_of_wide_rows():
    both = {"flat": 1.0, "wide": 2.0}
    ways = {"flat, by the server": 3.0, "wide, by the server": 1.25}
    item = {"columns": 50, "write": {"insert": both}, "scan": both, "netting": both | ways}
    found = list(postgres_layout._bars({**item, "bytes": both, "equal": True}))
    netting = next(bar for bar in found if "several times" in bar.what)
    assert (netting.found, netting.verdict) == ("0.80×", "missed")
    assert next(bar for bar in found if "scan" in bar.what).verdict == "met"


@pytest.mark.parametrize("part", postgres.PARTS, ids=lambda part: part.module)
def test_every_part_exists_and_understands_its_quick_options(part):
    module = import_module(f"benchmarks.{part.module}")
    if module in (postgres_layout, postgres_load, postgres_snapshot):
        assert isinstance(module._options(part.quick.split()), argparse.Namespace)
    else:
        assert part.printed is not None


def _run_of(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Run a part whose process is a few lines of Python."""
    echoed = suite.echoed

    def other(command):
        return echoed([command[0], "-c", code])

    monkeypatch.setattr(suite, "echoed", other)
    options = SimpleNamespace(results=tmp_path, quick=True)
    return suite.run_part(suite.Part("postgres_layout", ""), options)  # type: ignore[arg-type]  # the two fields that it reads


def test_a_part_that_fails_is_no_part_that_missed_a_bar(tmp_path: Path, monkeypatch):
    (tmp_path / "postgres_layout-latest.json").write_text('{"bars": []}', encoding="utf-8")
    found = _run_of("raise SystemExit(3)", tmp_path, monkeypatch)
    assert found["error"] == "exit 3: no results were saved"


def test_the_bars_of_a_part_come_from_what_it_saved(tmp_path: Path, monkeypatch):
    path = tmp_path / "postgres_layout-latest.json"
    text = '{"bars": [{"what": "a", "found": "1", "bar": "2", "goal": "", "verdict": "missed"}]}'
    code = f"import pathlib; pathlib.Path({str(path)!r}).write_text({text!r})"
    found = _run_of(code, tmp_path, monkeypatch)
    assert found["error"] is None
    assert [bar["verdict"] for bar in found["bars"]] == ["missed"]


def test_the_table_goes_into_the_page(tmp_path: Path):
    page = tmp_path / "postgresql.md"
    page.write_text(postgres.PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    bar = Bar("a", "1.00×", "≤ 2×", "", "met")._asdict()
    results = {"machine": MACHINE, "parts": [{"bars": [bar]}]}
    write_page(page_lines(results, "make bench-postgres"), page, "POSTGRES")
    text = page.read_text(encoding="utf-8")
    assert "| a | 1.00× | ≤ 2× | met |\n<!-- /POSTGRES -->" in text
