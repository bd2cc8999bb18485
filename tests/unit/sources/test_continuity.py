"""Whether a server is still the one that was drained."""

from __future__ import annotations

import pytest

from streamtables.positions import Drain, Frontier, PgPosition
from streamtables.sources.postgres.continuity import Here, what_went_back
from tests.unit.catalog.builders import START

LAST = Drain("7/5", 3, PgPosition("90:100:95", "1/20"), Frontier.EMPTY, START)
LINE = "7/5 00000001"


def now(snapshot: str = "100:100:", lsn: str = "1/20", line: str = LINE) -> Here:
    return Here(PgPosition(snapshot, lsn), line)


@pytest.mark.parametrize("line", [LINE, ""])
def test_a_server_that_went_on_or_stood_still_is_the_same(line: str) -> None:
    assert what_went_back(now(), LAST, line) == ""
    assert what_went_back(now("95:101:95", "2/0"), LAST, line) == ""


@pytest.mark.parametrize(
    ("found", "part"),
    [
        (now(lsn="1/1F"), "ends at 1/1F"),
        (now(lsn="0/FFFFFFFF"), "before 1/20"),
        (now("99:99:", "2/0"), "counts transactions anew"),
        (now(line="8/5 00000001"), "another PostgreSQL server"),
        (now(line="7/6 00000001"), "another PostgreSQL server"),
        (now("200:200:", "9/0", "7/5 0000000A"), "timeline 10, and was on 1"),
    ],
)
def test_what_went_back_is_told(found: Here, part: str) -> None:
    assert part in what_went_back(found, LAST, LINE)


def test_what_was_copied_from_another_server_goes_on_there() -> None:
    other = "8/9 00000002"
    assert what_went_back(now(line=other), LAST, other) == ""
    assert "another PostgreSQL server" in what_went_back(now(line=other), LAST, "")
