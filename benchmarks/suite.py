"""Several benchmarks as one run: each in a process of its own, and one table of bars at the end."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from benchmarks.bars import Bar
from benchmarks.machine import machine_text
from benchmarks.pages import Results, conditions, save, write_page
from benchmarks.postgres_report import add_results_option, page_lines, show_bars


@dataclass(frozen=True)
class Part:
    """One benchmark: its module, its small sizes, and how to read bars that it only prints."""

    module: str
    quick: str
    printed: Callable[[str], Iterable[Bar]] | None = None


@dataclass(frozen=True)
class Suite:
    """Benchmarks that belong together, and the page that shows their bars between markers."""

    name: str
    parts: Sequence[Part]
    page: Path
    marker: str

    def run(self, options: argparse.Namespace) -> int:
        """Run what the options ask for; 1 when a part failed or a result is wrong."""
        results = conditions() | {"quick": options.quick, "parts": []}
        for part in self.parts:
            if part.module in options.only:
                results["parts"].append(run_part(part, options))
                save(results, options.results, self.name)
        _show(results)
        whole = not options.quick and len(results["parts"]) == len(self.parts)
        failed = any(part["error"] for part in results["parts"])
        if options.page and whole and not failed:
            lines = page_lines(results, f"make bench-{self.name}")
            write_page(lines, self.page, self.marker)
        return 1 if failed else 0

    def read_options(
        self, description: str, arguments: Sequence[str] | None = None
    ) -> argparse.Namespace:
        """Read the command line."""
        parser = argparse.ArgumentParser(
            prog=f"python -m benchmarks.{self.name}", description=description
        )
        names = [part.module for part in self.parts]
        parser.add_argument("--quick", action="store_true", help="small sizes, and no page")
        parser.add_argument(
            "--only", nargs="+", choices=names, default=names, help="the parts to run"
        )
        parser.add_argument(
            "--page",
            action=argparse.BooleanOptionalAction,
            default=True,
            help="write the table into its page of the documentation",
        )
        add_results_option(parser)
        return parser.parse_args(arguments)


def run_part(part: Part, options: argparse.Namespace) -> Results:
    """Run one benchmark, and return its bars or what went wrong."""
    print(f"\n== {part.module} ==", flush=True)
    began = perf_counter()
    latest = options.results / f"{part.module}-latest.json"
    before = latest.stat().st_mtime_ns if latest.exists() else None
    command = [sys.executable, "-m", f"benchmarks.{part.module}"]
    command += part.quick.split() if options.quick else []
    command += [] if part.printed else ["--results", str(options.results)]
    code, text = echoed(command)
    error = None
    bars: list[Bar] = []
    try:
        if part.printed:
            # These give 1 also for a missed bar; what they print tells the two apart.
            bars = list(part.printed(text))
        else:
            if not latest.exists() or latest.stat().st_mtime_ns == before:
                raise ValueError("no results were saved")
            bars = [Bar(**bar) for bar in json.loads(latest.read_text("utf-8"))["bars"]]
            error = f"exit {code}" if code else None
    except ValueError as found:
        error = f"exit {code}: {found}"
    seconds = round(perf_counter() - began, 1)
    shown = [bar._asdict() for bar in bars]
    return {"module": part.module, "seconds": seconds, "error": error, "bars": shown}


def echoed(command: Sequence[str]) -> tuple[int, str]:
    """Run a command; show what it prints, and return that too."""
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    return process.returncode, "".join(lines)


def _show(results: Results) -> None:
    print("\nAll bars")
    show_bars(Bar(**bar) for part in results["parts"] for bar in part["bars"])
    for part in results["parts"]:
        if part["error"]:
            print(f"  {part['module']} FAILED: {part['error']}")
    seconds = sum(part["seconds"] for part in results["parts"])
    print(f"{seconds:.0f} s in all; {machine_text(results['machine'])}")
