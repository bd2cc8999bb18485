"""The page of measured performance: every section from sample results, and without any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmarks.options import read_options
from benchmarks.performance.chart import Chart
from benchmarks.performance.kept import keep, kept, without
from benchmarks.performance.page import PAGE, rendered, write
from benchmarks.performance.sections import SECTIONS
from benchmarks.small_change import step_medians, with_rest

MACHINE = {"cores": 2, "processor": "p", "memory_gb": 8, "load_before": 0, "pyspark": "4"}
CONDITIONS = {"machine": MACHINE, "started_at": "2030-01-02T03:04:05Z"}
SVG = "{http://www.w3.org/2000/svg}"


def cell(view: str, rate: float, full: float, differential: float, auto: float) -> dict[str, Any]:
    taken = {"full": full, "differential": differential, "auto": auto}
    return {"view": view, "rate": rate, "median_seconds": taken, "predicted": [{"way": 1.0}]}


def change(rows: int, ours: float) -> dict[str, Any]:
    kinds = {"differential": ours, "merge default": 0.8, "merge tuned": 0.5, "full": rows / 1e6}
    taken = {kind: {"median_seconds": seconds} for kind, seconds in kinds.items()}
    steps = {"changes": 0.02, "compute": 0.1, "apply": 0.05, "other": 0.03}
    return {"query": "join-aggregate", "rows": rows, "changes": 1, **taken, "steps": steps}


SAMPLES: dict[str, dict[str, Any]] = {
    "refresh_scale_0.1": {
        "scale": 0.1,
        "rounds": 3,
        "cells": [cell("join", 0.0, 2.0, 0.5, 0.5), cell("q1", 0.0, 8.0, 2.0, 2.0)],
    },
    "medallion": {
        "rows": 1_000_000,
        "changed_rows": 1_275,
        "rounds": 5,
        "median_seconds": {"auto": 5.0, "full": 30.0, "overwrite": 20.0},
        "wrong": [],
    },
    "one_row": {"changes": [change(10_000_000, 0.25), change(1_000_000, 0.2)]},
    "second_process": {
        "tables": 4,
        "rounds": 5,
        "kept": {"median_seconds": 2.0, "parse_count": 0, "differentiate_count": 0},
        "cleared": {"median_seconds": 3.0, "parse_count": 4, "differentiate_count": 4},
    },
}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    for stem, sample in SAMPLES.items():
        keep({**CONDITIONS, **sample}, stem, tmp_path / "results")
    return tmp_path / "results"


def sections_of(page: str) -> dict[str, str]:
    return {part.split("\n", 1)[0]: part for part in page.split("\n## ")[1:]}


def test_without_results_every_section_says_how_to_measure_it(tmp_path: Path):
    pages = rendered(tmp_path)
    assert list(pages) == [PAGE]
    parts = sections_of(pages[PAGE])
    assert list(parts) == [section.title for section in SECTIONS]
    for section in SECTIONS:
        assert section.command in parts[section.title]
        assert "Not measured yet" in parts[section.title]


def test_every_sample_is_shown_with_its_ratio(results: Path):
    parts = sections_of(rendered(results)[PAGE])
    assert "| join | 2.00 / 0.50 / 0.50 |" in parts["Mode auto, scale 0.1"]
    assert "Not measured yet" in parts["Mode auto, scale 1"]
    medallion = parts["Fifteen tables that stand on each other"]
    assert "| refresh_all, mode full | 30.00 | 6.00× |" in medallion
    assert "Tables that differ from their query: none." in medallion
    merge = parts["One row against a bare MERGE"]
    assert "| bare MERGE, tuned | 0.500 | 0.50× |" in merge, "the largest base is shown"
    growth = parts["Growth with the base"]
    assert "| refresh | 0.200 | 0.250 | 1.25× |" in growth
    assert "| full refresh | 1.000 | 10.000 | 10.00× |" in growth
    assert (
        "| 1,000,000 rows | 20 | 100 | 50 | 30 |" in parts["Where a small refresh spends its time"]
    )
    assert "| plans kept | 2.000 | 0 | 0 |" in parts["A process that starts"]
    assert all("measured 2030-01-02." in part for part in parts.values() if "Not" not in part)


def test_every_picture_that_the_page_names_is_there_and_is_svg(results: Path):
    pages = rendered(results)
    names = {name for name in pages if name != PAGE}
    linked = {f"docs/{link.split(')')[0]}" for link in pages[PAGE].split("](") if ".svg)" in link}
    assert linked == names
    assert {Path(name).stem for name in names} == {
        "refresh-scale-0-1",
        "medallion",
        "one-row",
        "steps",
        "second-process",
    }
    for name in names:
        assert ElementTree.fromstring(pages[name]).tag == f"{SVG}svg"


def test_pictures_that_are_no_longer_shown_are_removed(results: Path, tmp_path: Path):
    old = tmp_path / "docs" / "performance" / "old.svg"
    old.parent.mkdir(parents=True)
    old.write_text("<svg/>", encoding="utf-8")
    written = write(tmp_path, results)
    assert not old.exists()
    assert {path.name for path in written} >= {"performance.md", "medallion.svg"}
    assert all(path.is_file() for path in written)


def bars(svg: str) -> list[tuple[str, float, float]]:
    """Return the title, the place and the width of every bar."""
    found = []
    for rectangle in ElementTree.fromstring(svg).iter(f"{SVG}rect"):
        title = rectangle.find(f"{SVG}title")
        if title is not None:
            told = title.text or ""
            found.append((told, float(rectangle.attrib["x"]), float(rectangle.attrib["width"])))
    return found


def test_bars_are_as_long_as_their_values():
    svg = Chart("t", [("a", {"x": 1.0, "y": 4.0}), ("b < c", {"x": 2.0})]).grouped()
    assert [(told, width) for told, _, width in bars(svg)] == [
        ("x: 1 s", 100.0),
        ("y: 4 s", 400.0),
        ("x: 2 s", 200.0),
    ]


def test_stacked_bars_follow_each_other():
    svg = Chart("t", [("a", {"x": 1.0, "y": 3.0}), ("b", {"x": 2.0})], "ms").stacked()
    first, second, third = bars(svg)
    assert first[1] + first[2] == second[1]
    assert first[2] + second[2] == 400.0
    assert third == ("x: 2 ms", first[1], 200.0)
    assert "4 ms" in svg, "the sum of a bar stands behind it"


def test_colours_are_named_unless_the_labels_do_so():
    several = Chart("t", [("a", {"x": 1.0, "y": 3.0})]).grouped()
    assert several.count(">x</text>") == several.count(">y</text>") == 1
    single = Chart("t", [("x", {"x": 1.0}), ("y", {"y": 3.0})]).grouped()
    assert single.count(">x</text>") == single.count(">y</text>") == 1
    assert float(ElementTree.fromstring(single).attrib["height"]) < 110


def test_nothing_but_zeros_is_drawn_without_a_bar():
    assert [width for _, _, width in bars(Chart("t", [("a", {"x": 0.0})]).grouped())] == [0.0]


def test_results_are_kept_without_what_the_page_does_not_show(tmp_path: Path):
    path = keep(without(SAMPLES["refresh_scale_0.1"], "predicted"), "refresh", tmp_path)
    assert "predicted" not in path.read_text(encoding="utf-8")
    assert kept("refresh", tmp_path) == json.loads(path.read_text(encoding="utf-8"))
    assert kept("nothing", tmp_path) is None


def test_what_a_refresh_took_beside_its_steps_is_named():
    rounds = [with_rest({"compute": 0.1}, 0.25), with_rest({"compute": 0.3, "bind": 0.1}, 0.4)]
    assert rounds[0] == {"compute": 0.1, "other": 0.15}
    assert step_medians(rounds) == {"compute": 0.2, "other": 0.075, "bind": 0.05}


def test_the_page_asks_for_one_changed_row(capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit, match="2"):
        read_options(["--page", "--changes", "10"])
    assert "add --changes 1" in capsys.readouterr().err
    assert read_options(["--page", "--changes", "1"]).page
