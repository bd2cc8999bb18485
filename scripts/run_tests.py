"""Run the tests in two lanes side by side: those that need Spark, and all others.

Spark keeps one core busy and its Java lives for the whole run, so the others fit beside it.  Those
in a browser come after them in a process of their own: its driver leaves an event loop behind.  The
first lane is shown while it runs, the second when it has ended; the last line sums all up in the
form of pytest's closing line.  Options go to every part.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

EACH_TIME = "not bench and not long"
BESIDE = {
    "without Spark": "not spark and not browser",
    "in a browser": "browser and not spark",
}
"""What runs beside the tests with Spark, by its title."""
NO_TESTS = 5
"""What pytest answers where options leave nothing to run."""
_COUNT = re.compile(r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed)\b")


def main(options: list[str]) -> int:
    """Run all parts; 1 when a test of one failed."""
    began = perf_counter()
    with ThreadPoolExecutor(1) as beside:
        others = beside.submit(_in_turn, BESIDE, options)
        parts = [_shown(_command(f"spark and {EACH_TIME}", options)), *others.result()]
    for title, (_, text) in zip(BESIDE, parts[1:], strict=True):
        print(f"\n== {title}\n{text}", flush=True)
    counts: Counter[str] = sum((Counter(_counted(text)) for _, text in parts), Counter())
    said = ", ".join(f"{counts[word]} {word}" for word in sorted(counts, reverse=True))
    print(f"{said or 'no tests ran'} in {perf_counter() - began:.2f}s", flush=True)
    return 0 if counts and all(code in (0, NO_TESTS) for code, _ in parts) else 1


def _in_turn(parts: Mapping[str, str], options: list[str]) -> list[tuple[int, str]]:
    """Run some parts one after the other; return the answer and the words of each."""
    found = []
    for marks in parts.values():
        command = _command(f"{marks} and {EACH_TIME}", options)
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
        )
        found.append((done.returncode, done.stdout.decode(errors="replace")))
    return found


def _command(marks: str, options: list[str]) -> list[str]:
    slowest = ("--durations=25", "--durations-min=5")
    return [sys.executable, "-m", "pytest", "-q", "-m", marks, *slowest, *options]


def _shown(command: list[str]) -> tuple[int, str]:
    """Run a command and show what it says as it says it; return its answer and its words."""
    print("== with Spark", flush=True)
    said = bytearray()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
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
