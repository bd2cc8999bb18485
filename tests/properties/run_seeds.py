"""Many random queries and histories, by seed: `python -m tests.properties.run_seeds FROM TO`.

Prints how many were tried, how they are maintained, and every seed that found a difference.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

from tests.support.choices import Seeded
from tests.support.laws import check_laws, random_trial

PROCESSES = 2
CHUNK = 50
PROGRESS = 1_000


def try_seed(seed: int) -> tuple[str, str]:
    """Return what became of a seed: the form, `refused` or `difference`, and what was seen."""
    try:
        trial = random_trial(Seeded(seed))
        if not trial.plan.incremental:
            return "refused", trial.plan.refusals[0].message
        check_laws(trial, turn=seed)
    except AssertionError as difference:
        return "difference", str(difference)
    except Exception as crash:
        return "crash", f"{type(crash).__name__}: {crash}"
    return trial.plan.maintenance.form, ""


def try_seeds(first: int, last: int) -> list[tuple[int, str, str]]:
    """Try every seed of a range, the last one excluded."""
    return [(seed, *try_seed(seed)) for seed in range(first, last)]


def run(first: int, last: int) -> int:
    """Try a range in several processes, print the counts, return the number of failures."""
    started = time.monotonic()
    found: Counter[str] = Counter()
    starts = range(first, last, CHUNK)
    ends = [min(start + CHUNK, last) for start in starts]
    with ProcessPoolExecutor(PROCESSES) as pool:
        for results in pool.map(try_seeds, starts, ends):
            for seed, outcome, text in results:
                found[outcome] += 1
                if outcome in ("difference", "crash"):
                    print(f"seed {seed}: {outcome}: {text[:2000]}", flush=True)
            if sum(found.values()) % PROGRESS == 0:
                print(f"{sum(found.values())} seeds tried", flush=True)
    seconds = time.monotonic() - started
    print(f"{sum(found.values())} seeds from {first} to {last - 1} in {seconds:.0f} s")
    for outcome, count in sorted(found.items()):
        print(f"  {outcome:<16}{count:>8}")
    failures = found["difference"] + found["crash"]
    print(f"  differences: {failures}")
    return failures


if __name__ == "__main__":
    sys.exit(1 if run(int(sys.argv[1]), int(sys.argv[2])) else 0)
