"""All benchmarks of PostgreSQL sources, one after the other: `python -m benchmarks.postgres`.

Each runs in a process of its own.  At the end stands one table of bars, which also goes into
docs/postgresql.md; `--quick` runs small sizes, to see that everything works, and leaves the page.
"""

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
from benchmarks.postgres_report import (
    add_results_option,
    decode_bars,
    page_lines,
    show_bars,
    writer_bars,
)

PAGE = Path(__file__).resolve().parent.parent / "docs" / "postgresql.md"


@dataclass(frozen=True)
class Part:
    """One benchmark: its module, its small sizes, and how to read bars that it only prints."""

    module: str
    quick: str
    printed: Callable[[str], Iterable[Bar]] | None = None


PARTS = (
    Part("postgres_writer", "--rows 1000 --rounds 3 --single 200", writer_bars),
    Part("postgres_decode", "--rounds 1 --many 20000", decode_bars),
    Part("postgres_layout", "--rows 1000 --rounds 2"),
    Part("postgres_load", "--rate 500 --seconds 10 --every 5 --rows 10000 --work 1000 --rounds 2"),
    Part("postgres_snapshot", "--rows 50000 --rounds 1"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the options ask for; 1 when a part failed or a result is wrong."""
    options = _options(arguments)
    results = conditions() | {"quick": options.quick, "parts": []}
    for part in PARTS:
        if part.module in options.only:
            results["parts"].append(_run(part, options))
            save(results, options.results, "postgres")
    _show(results)
    whole = not options.quick and len(results["parts"]) == len(PARTS)
    failed = any(part["error"] for part in results["parts"])
    if options.page and whole and not failed:
        write_page(page_lines(results), PAGE, "POSTGRES")
    return 1 if failed else 0


def _run(part: Part, options: argparse.Namespace) -> Results:
    print(f"\n== {part.module} ==", flush=True)
    began = perf_counter()
    latest = options.results / f"{part.module}-latest.json"
    before = latest.stat().st_mtime_ns if latest.exists() else None
    command = [sys.executable, "-m", f"benchmarks.{part.module}"]
    command += part.quick.split() if options.quick else []
    command += [] if part.printed else ["--results", str(options.results)]
    code, text = _echoed(command)
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


def _echoed(command: Sequence[str]) -> tuple[int, str]:
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


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.postgres",
        description=__doc__.splitlines()[0] if __doc__ else "",
    )
    names = [part.module for part in PARTS]
    parser.add_argument("--quick", action="store_true", help="small sizes, and no page")
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="the parts to run")
    parser.add_argument(
        "--page",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="write the table into its page of the documentation",
    )
    add_results_option(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
