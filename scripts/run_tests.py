"""Run the tests in two lanes side by side, each of which keeps one core busy.

The first runs those on a shared Spark, whose Java lives for the whole run.  The second runs those
without Spark first; then those in a browser, in a process of their own, as its driver leaves an
event loop behind; then those whose Spark lives and dies in processes of its own.  When it is done
with these it takes from the first lane, from the end of what is left there, on one more shared
Spark: both lanes end at about the same time, however long each part takes.

The first lane is shown while it runs, each part of the second when it has ended; the last line sums
all up in the form of pytest's closing line.  Options go to every part.  A run that leaves out a
test which shows a fault fails and names it, unless the options choose tests.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.faults.marks import marked_faults
from tests.faults.recording import FILE, left_out, not_shown

ROOT = Path(__file__).resolve().parent.parent
SHARED = "spark and not apart"
EACH_TIME = "not bench and not long"
BESIDE = {
    "without Spark": "not spark and not browser",
    "in a browser": "browser and not spark",
    "with Sparks of their own": "spark and apart",
}
"""What runs beside the tests on the shared Spark before it helps them, by its title."""
NO_TESTS = 5
"""What pytest answers where options leave nothing to run."""
_COUNT = re.compile(r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed)\b")


def main(options: list[str]) -> int:
    """Run all parts; 1 when a test of one failed."""
    began = perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        os.environ[FILE] = str(Path(folder, "faults"))
        parts = _all_parts(options, Path(folder))
        ran, owed = Path(folder, "faults"), _owed_faults(options)
        missing, skipped = not_shown(owed, ran), left_out(owed, ran)
    for test in skipped:
        print(f"docs/faults.md names a test that this machine cannot run: {test}", flush=True)
    for test in missing:
        print(f"docs/faults.md names a test that did not pass in this run: {test}", flush=True)
    counts: Counter[str] = sum((Counter(_counted(text)) for _, text in parts), Counter())
    said = ", ".join(f"{counts[word]} {word}" for word in sorted(counts, reverse=True))
    print(f"{said or 'no tests ran'} in {perf_counter() - began:.2f}s", flush=True)
    return 0 if counts and not missing and all(code in (0, NO_TESTS) for code, _ in parts) else 1


def _all_parts(options: list[str], folder: Path) -> list[tuple[int, str]]:
    claims = folder / "claims"
    claims.mkdir()
    shared = _command(SHARED, ["-p", "tests.support.two_ends", f"--claims={claims}", *options])
    beside = {title: _command(marks, options) for title, marks in BESIDE.items()}
    beside["with Spark, from the end"] = [*shared, "--backwards"]
    with ThreadPoolExecutor(1) as second:
        others = second.submit(_in_turn, beside)
        shown = _shown(shared)
        return [shown, *others.result()]


def _owed_faults(options: list[str]) -> set[str]:
    """Return the tests of the page of faults that a run owes: all, unless options choose."""
    chosen = any(not option.startswith("--") for option in options)
    return set() if chosen else {fault.test for fault in marked_faults(Path.cwd())}


def _in_turn(commands: Mapping[str, list[str]]) -> list[tuple[int, str]]:
    """Run some parts one after the other, and show each when it has ended; return all answers."""
    found = []
    for title, command in commands.items():
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, env=_found()
        )
        text = done.stdout.decode(errors="replace")
        print(f"\n== {title}\n{text}", flush=True)
        found.append((done.returncode, text))
    return found


def _command(marks: str, options: list[str]) -> list[str]:
    chosen = f"{marks} and {EACH_TIME}"
    slowest = ("--durations=25", "--durations-min=5")
    return [sys.executable, "-m", "pytest", "-q", "-m", chosen, *slowest, *options]


def _found() -> dict[str, str]:
    """Return the environment in which our plugin is found, wherever the tests are."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def _shown(command: list[str]) -> tuple[int, str]:
    """Run a command and show what it says as it says it; return its answer and its words."""
    print("== with Spark", flush=True)
    said = bytearray()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=_found()
    ) as process:
        assert process.stdout is not None
        while chunk := process.stdout.read1(4096):  # type: ignore[attr-defined]  # it is buffered
            said += chunk
            sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
    return process.returncode, said.decode(errors="replace")


def _counted(report: str) -> dict[str, int]:
    """Return the counts of pytest's closing line; one error and two errors are one word."""
    closing = next((line for line in reversed(report.splitlines()) if " in " in line), "")
    return {word.replace("errors", "error"): int(n) for n, word in _COUNT.findall(closing)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
