"""Run the tests in two processes side by side: those that need Spark, and all others.

Spark keeps one core busy and its Java lives for the whole run, so the others fit beside it.  The
first part is shown while it runs, the second when it has ended; the last line sums both up in the
form of pytest's closing line.  Options go to both.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import Counter
from time import perf_counter

EACH_TIME = "not bench and not long"
NO_TESTS = 5
"""What pytest answers where options leave nothing to run."""
_COUNT = re.compile(r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed)\b")


def main(options: list[str]) -> int:
    """Run both parts; 1 when a test of either failed."""
    began = perf_counter()
    with tempfile.TemporaryFile() as other_report:
        command = _command(f"not spark and {EACH_TIME}", options)
        others = subprocess.Popen(command, stdout=other_report, stderr=subprocess.STDOUT)
        code, report = _shown(_command(f"spark and {EACH_TIME}", options))
        codes = [code, others.wait()]
        other_report.seek(0)
        text = other_report.read().decode(errors="replace")
    print(f"\n== without Spark\n{text}", flush=True)
    counts = Counter(_counted(report)) + Counter(_counted(text))
    said = ", ".join(f"{counts[word]} {word}" for word in sorted(counts, reverse=True))
    print(f"{said or 'no tests ran'} in {perf_counter() - began:.2f}s", flush=True)
    return 0 if counts and all(code in (0, NO_TESTS) for code in codes) else 1


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
