"""Many random queries and histories, by seed: `python -m tests.properties.run_seeds FROM TO`.

    --families outer,semi   only queries that contain something of these families
    --depth 1               nested at most so deep
    --histories 1           how many histories each query is tried on
    --processes 1           how many seeds are tried at a time
    --seconds 120           how long a seed may take
    --minutes 0             when to stop, whatever is left; 0 goes on to the end

Prints every seed that found a difference, and at the end how many were tried, how they are maintained,
and for each family what became of the queries that contain something of it.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

from streamtables.errors import SqlError
from tests.properties.tally import Outcome, Tally
from tests.support.choices import Seeded
from tests.support.generator.families import EVERY, parse_families
from tests.support.histories import random_history
from tests.support.laws import check_history_again, check_laws, check_valid, trial_of
from tests.support.queries import random_query

PROCESSES = 2
CHUNK = 5
"""How many seeds a process takes at a time."""
PROGRESS = 60
"""After how many seconds the counts so far are shown."""


@dataclass(frozen=True)
class Wanted:
    """Which queries to make."""

    families: tuple[str, ...] = EVERY
    depth: int | None = None
    seconds: int = 120
    histories: int = 1


ANY = Wanted()


def try_seed(seed: int, wanted: Wanted = ANY) -> Outcome:
    """Return what became of a seed."""
    choices = Seeded(seed)
    query = random_query(choices, wanted.families, wanted.depth)

    def outcome(kind: str, text: str = "", histories: int = 1) -> Outcome:
        return Outcome(seed, kind, text, query.sql, query.families, histories)

    late: list[str] = []

    def give_up(*_: object) -> None:
        late.append(f"not done after {wanted.seconds} s")
        raise TimeoutError

    signal.signal(signal.SIGALRM, give_up)
    signal.alarm(wanted.seconds)
    try:
        trial = trial_of(query, choices)
        if not trial.plan.incremental:
            check_valid(trial)
            return outcome("refused", trial.plan.refusals[0].message)
        check_laws(trial, turn=seed)
        for _ in range(1, wanted.histories):
            # One way to refresh for all of them: what it takes is compiled once.
            check_history_again(trial.on(random_history(choices)), turn=3 * seed)
    except AssertionError as difference:
        return outcome("difference", str(difference))
    except SqlError as error:
        # Refusals are values: what is raised calls the query wrong, and it is not.
        return outcome("invalid", f"{error.code} {error.message} {error.detail}\n{error.place}")
    except Exception as crash:
        # DuckDB makes a fault of its own of what the alarm raises in it.
        if late:
            return outcome("slow", late[0])
        return outcome("crash", f"{type(crash).__name__}: {crash}")
    finally:
        signal.alarm(0)
    return outcome(trial.plan.maintenance.form, histories=wanted.histories)


def try_seeds(first: int, last: int, wanted: Wanted = ANY) -> list[Outcome]:
    """Try every seed of a range, the last one excluded."""
    return [try_seed(seed, wanted) for seed in range(first, last)]


def run(
    first: int,
    last: int,
    wanted: Wanted = ANY,
    processes: int = PROCESSES,
    minutes: float = 0,
) -> int:
    """Try a range in several processes, print the counts, return the number of failures."""
    started = shown = time.monotonic()
    tally = Tally()
    starts = range(first, last, CHUNK)
    ends = [min(start + CHUNK, last) for start in starts]
    with ProcessPoolExecutor(processes) as pool:
        for outcomes in pool.map(partial(try_seeds, wanted=wanted), starts, ends):
            for outcome in outcomes:
                tally.add(outcome)
                if outcome.failed:
                    print(outcome.report(), flush=True)
            if time.monotonic() - shown > PROGRESS:
                shown = time.monotonic()
                print(f"{tally.tried} seeds, {tally.cases} cases tried", flush=True)
            if minutes and time.monotonic() - started > 60 * minutes:
                pool.shutdown(wait=False, cancel_futures=True)
                break
    seconds = time.monotonic() - started
    print(f"{tally.tried} seeds from {first} to {first + tally.tried - 1} in {seconds:.0f} s")
    print(f"{tally.cases} cases: a query and a history, every batch compared")
    print(tally.table())
    return tally.failures


def main(arguments: Sequence[str]) -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="run_seeds")
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("--families", type=parse_families, default=EVERY)
    parser.add_argument("--depth", type=int)
    parser.add_argument("--histories", type=int, default=ANY.histories)
    parser.add_argument("--processes", type=int, default=PROCESSES)
    parser.add_argument("--seconds", type=int, default=ANY.seconds)
    parser.add_argument("--minutes", type=float, default=0)
    given = parser.parse_args(arguments)
    wanted = Wanted(given.families, given.depth, given.seconds, given.histories)
    return 1 if run(given.first, given.last, wanted, given.processes, given.minutes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
