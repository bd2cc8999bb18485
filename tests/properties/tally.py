"""What became of the seeds: counts by way of maintenance, by family, and by reason of refusal."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

FAILURES = ("difference", "invalid", "crash", "slow")
"""Wrong rows; a valid query that is called wrong; any other exception; no answer in time."""

SHOWN = 3_000


@dataclass(frozen=True)
class Outcome:
    """What became of one seed: the form it is kept in, `refused`, or one of `FAILURES`."""

    seed: int
    kind: str
    text: str
    sql: str
    families: frozenset[str]
    histories: int = 1
    """How many histories it was tried on."""

    @property
    def failed(self) -> bool:
        """Whether something is wrong."""
        return self.kind in FAILURES

    def report(self) -> str:
        """Return the failure as text."""
        return f"seed {self.seed}: {self.kind}: {self.sql}\n{self.text[:SHOWN]}\n"


@dataclass
class Tally:
    """Counts of outcomes."""

    kinds: Counter[str] = field(default_factory=Counter)
    families: Counter[tuple[str, str]] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    cases: int = 0
    """Histories that were followed to the end, for queries that changes keep."""

    def add(self, outcome: Outcome) -> None:
        """Count one outcome."""
        self.kinds[outcome.kind] += 1
        column = outcome.kind if outcome.failed or outcome.kind == "refused" else "kept"
        if column == "kept":
            self.cases += outcome.histories
        for family in outcome.families:
            self.families[family, column] += 1
        if outcome.kind == "refused":
            self.refusals[outcome.text] += 1

    @property
    def tried(self) -> int:
        """How many seeds were tried."""
        return self.kinds.total()

    @property
    def failures(self) -> int:
        """How many seeds found something wrong."""
        return sum(self.kinds[kind] for kind in FAILURES)

    def table(self) -> str:
        """Return all counts as text."""
        columns = ("kept", "refused", *FAILURES)
        lines = [f"  {kind:<16}{count:>8}" for kind, count in sorted(self.kinds.items())]
        lines.append(f"  {'family':<16}{'tried':>8}" + "".join(f"{name:>12}" for name in columns))
        for family in sorted({name for name, _ in self.families}):
            counts = [self.families[family, column] for column in columns]
            lines.append(
                f"  {family:<16}{sum(counts):>8}" + "".join(f"{count:>12}" for count in counts)
            )
        for reason, count in self.refusals.most_common():
            lines.append(f"  refused {count:>6}: {reason}")
        lines.append(f"  failures: {self.failures}")
        return "\n".join(lines)
