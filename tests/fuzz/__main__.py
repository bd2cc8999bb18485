"""Fuzz for a while: `python -m tests.fuzz --minutes 30 [target …]`.

Each target gets its share of the time.  What goes wrong is kept in `corpus/`, smallest first, and
ends the run with exit code 1; `test_fuzz.py` tries it again from then on.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
import traceback
from time import monotonic

from hypothesis import HealthCheck, Phase, given, settings

from tests.fuzz.corpus import keep
from tests.fuzz.targets import TARGETS, Target

Place = tuple[str, str, int]


def main() -> int:
    """Fuzz the named targets, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("targets", nargs="*", help="all when none is named")
    parser.add_argument("--minutes", type=float, default=5.0, help="for all targets together")
    given_ = parser.parse_args()
    names = given_.targets or list(TARGETS)
    for unknown in sorted(set(names) - set(TARGETS)):
        parser.error(f'there is no target "{unknown}"; targets: {", ".join(TARGETS)}')
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["STREAMTABLES_PLAN_CACHE_DIR"] = folder
        found = [_fuzz(TARGETS[name], given_.minutes * 60 / len(names)) for name in names]
    return 1 if any(found) else 0


def _fuzz(target: Target, seconds: float) -> int:
    """Try inputs for some seconds; return how many places in the code went wrong."""
    faults: dict[Place, bytes] = {}
    counts = {"tried": 0, "taken": 0}
    slowest, until = 0.0, monotonic() + seconds

    @settings(
        max_examples=500,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(target.inputs)
    def tried(data: bytes) -> None:
        nonlocal slowest
        began = monotonic()
        if began > until:
            return
        counts["tried"] += 1
        try:
            counts["taken"] += target.accepts(data)
        except Exception as error:  # what is no error of ours is what is looked for
            place = _place(error)
            if place not in faults or len(data) < len(faults[place]):
                faults[place] = data
        slowest = max(slowest, monotonic() - began)

    while monotonic() < until:
        tried()
    print(f"{target.name:14} {counts['tried']:>8,} tried  {counts['taken']:>7,} taken  "
          f"slowest {slowest:.2f} s  {len(faults)} faults")  # fmt: skip
    for place, data in faults.items():
        print(f"    {place[0]} at {place[1]}:{place[2]}, kept in {keep(target.name, data).name}")
    sys.stdout.flush()
    return len(faults)


def _place(error: Exception) -> Place:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "streamtables" in frame.filename] or list(frames)
    return type(error).__name__, os.path.basename(own[-1].filename), own[-1].lineno or 0


if __name__ == "__main__":
    sys.exit(main())
