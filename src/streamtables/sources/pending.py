"""How many changed rows wait in a log, where each entry is counted once.

Whoever asks in every tick pays for the entries that are new, and not for all that wait: a table
that is refreshed once a day may have thousands of commits before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from streamtables.engine.delta_log import DeltaLog
from streamtables.positions import Version


@dataclass
class PendingRows:
    """The changed rows of one log after some version."""

    location: str
    _since: Version = field(default=Version(0))
    """The version after which entries are counted."""
    _sums: list[int] = field(default_factory=lambda: [0])
    """The rows of all entries from there up to each; the first has none."""

    def between(self, since: Version, upto: Version) -> int:
        """Return how many rows the entries after `since` say they changed, up to `upto`.

        An entry that does not say counts as none.

        Raises:
            HistoryGoneError: the log does not hold one of them.
        """
        if not self._since <= since <= self._upto <= upto:
            # Nothing that was counted is asked for, or the table was put back to an earlier state.
            self._since, self._sums = since, [0]
        for entry in DeltaLog(self.location).entries(self._upto, upto):
            self._sums.append(self._sums[-1] + (entry.changed_rows or 0))
        return self._sums[-1] - self._sums[since - self._since]

    def forget_before(self, version: Version) -> None:
        """Let go of what nobody will ask for any more, once that is most of what is kept."""
        passed = version - self._since
        if passed > len(self._sums) // 2:
            self._since, self._sums = version, self._sums[passed:]

    @property
    def _upto(self) -> Version:
        return Version(self._since + len(self._sums) - 1)
