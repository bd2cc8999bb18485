"""`top`, `status --watch` and `metrics`."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from streamtables.cli.board import Board, board, drawn, health_line, lag_text, watched, work_line
from streamtables.cli.top import worst_first
from streamtables.errors import TransientError
from tests.unit.cli.fake_database import FakeDatabase, TableStatus

FACTS = {"running": 2, "slots": 4, "parallel_queue_depth": 7}
LED = {"leader": "host:1", "leader_facts": FACTS}


def shown(what: Board, width: int = 120, height: int = 40) -> str:
    stream = io.StringIO()
    screen = Console(file=stream, width=width, height=height, force_terminal=False)
    screen.print(drawn(what, width, height))
    return stream.getvalue()


def test_a_board_has_health_workers_and_a_line_for_each_table():
    tables = [
        TableStatus("totals"),
        TableStatus("late", changes_pending=True, lag_seconds=90.0),
        TableStatus("broken", state="suspended", reason="its fuse has blown"),
    ]
    text = shown(board(tables, LED))
    lines = text.splitlines()
    assert lines[0].strip() == "1 of 3 tables need someone: 2 active, 1 suspended; 1 behind"
    assert lines[1].strip() == "2 of 4 workers busy, 7 tables queued; led by host:1"
    assert "table" in lines[3]
    for word in ("state", "behind", "mode", "seconds", "rows", "reason"):
        assert word in lines[3]
    late = next(line for line in lines if line.strip().startswith("late"))
    assert "1.5 min" in late
    assert "differential" in late
    assert "3 of 1000 rows changed" in late
    assert "its fuse has blown" in text


def many(count: int) -> list[TableStatus]:
    return [
        TableStatus(
            f"region_{number}.orders",
            rows=1_250_000 + number,
            last_reason="a reason that is much longer than there is room for on a narrow screen",
        )
        for number in range(count)
    ]


def test_a_narrow_terminal_shows_each_table_on_one_line_and_what_stands_still_whole():
    fuse = (
        "its fuse has blown: 1,204,331 changed rows wait, 40 are usual; look at them, then resume"
    )
    stopped = TableStatus("shop.customers", state="suspended", reason=fuse)
    text = shown(board([stopped, *many(12)], LED), width=80, height=24)
    lines = text.splitlines()
    assert max(len(line) for line in lines) <= 80
    assert len(lines) < 24
    assert [name for name in ("mode", "seconds", "rows") if name in lines[3]] == []
    for table in many(12):
        [line] = [line for line in lines if table.name in line.split()]
        assert "a reason that is much longer" in line
        assert line.rstrip().endswith("…")
    start = next(number for number, line in enumerate(lines) if "shop.customers" in line)
    column = lines[3].index("reason")
    told = " ".join(line[column:].strip() for line in lines[start : start + 4])
    assert fuse in told


def test_what_has_no_room_below_is_counted():
    for limit in (None, 30):
        text = shown(board(many(200), LED, limit), width=80, height=24)
        lines = text.splitlines()
        assert len(lines) == 23
        listed = sum(".orders" in line for line in lines)
        assert lines[-1].strip() == f"and {200 - listed} more"


def test_a_wide_terminal_shows_every_column():
    header = shown(board(many(2), LED), width=160).splitlines()[3]
    for word in ("table", "state", "behind", "mode", "seconds", "rows", "reason"):
        assert word in header


def test_a_table_whose_refresh_failed_is_failing_and_comes_first():
    down = "cannot connect to PostgreSQL"
    tables = [
        TableStatus("a", lag_seconds=9.0),
        TableStatus("b", last_outcome="failed", last_reason=down, lag_seconds=None),
    ]
    assert [table.name for table in worst_first(tables)] == ["b", "a"]
    text = shown(board(worst_first(tables), LED))
    assert text.startswith("1 of 2 tables need someone: 1 active, 1 failing; 0 behind")
    assert down in text


def test_a_lease_that_ran_out_is_nobody():
    assert work_line({"leader": None, "leader_facts": FACTS}).startswith("nobody")


def test_all_well_is_one_word():
    assert health_line([TableStatus("t")]) == "ok: 1 active; 0 behind"
    assert health_line([]) == "ok: no stream tables yet; 0 behind"


@pytest.mark.parametrize(
    ("pending", "seconds", "text"),
    [
        (False, 0.0, "current"),
        (False, None, "unknown"),
        (True, None, "behind"),
        (True, 4.0, "4.0 s"),
        (True, 7_200.0, "2.0 h"),
        (True, 129_600.0, "1.5 d"),
    ],
)
def test_lag_is_said_in_its_largest_unit(pending: bool, seconds: float | None, text: str):
    status = TableStatus("t", changes_pending=pending, lag_seconds=seconds)
    assert lag_text(status) == text


def test_the_worst_come_first():
    tables = [
        TableStatus("b", lag_seconds=1.0),
        TableStatus("a"),
        TableStatus("c", lag_seconds=9.0),
        TableStatus("d", state="suspended"),
    ]
    assert [table.name for table in worst_first(tables)] == ["d", "c", "b", "a"]


def test_a_pipe_gets_one_snapshot_and_is_told_so(run, db: FakeDatabase):
    for command in (("top",), ("status", "--watch")):
        result = run(*command)
        assert result.code == 0
        assert result.out.startswith("ok: 1 active; 0 behind")
        assert "totals" in result.out
        assert "shown once" in result.err
    assert "7 tables queued" in run("top").out


def test_a_terminal_is_drawn_on_until_ctrl_c(run, db: FakeDatabase, monkeypatch):
    pauses = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        db.tables = [TableStatus("newer")]
        if len(pauses) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(watched, "__kwdefaults__", {"pause": pause})
    result = run("top", "--every", "0.5", terminal=True)
    assert result.code == 0
    assert pauses == [0.5, 0.5]
    assert "newer" in result.out
    assert db.closed


def test_a_catalog_that_is_away_for_a_while_does_not_end_the_watching(run, db, monkeypatch):
    pauses = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        db.error = TransientError("the catalog did not answer") if len(pauses) == 1 else None
        if len(pauses) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(watched, "__kwdefaults__", {"pause": pause})
    result = run("status", "--watch", terminal=True)
    assert result.code == 0
    assert "not answered: the catalog did not answer" in result.out


def test_top_shows_as_many_as_asked_for_and_counts_all(run, db: FakeDatabase):
    db.tables = [replace(TableStatus("t"), name=f"t{number:02}") for number in range(40)]
    out = run("top", "--limit", "3").out
    assert "40 active" in out
    assert "t02" in out
    assert "t03" not in out


def test_watching_a_table_that_is_not_there_is_refused(run):
    assert run("status", "nowhere", "--watch").code == 2


def test_metrics_are_one_scrape(run, db: FakeDatabase):
    result = run("metrics")
    assert (result.code, result.out) == (0, "streamtables_suspended_tables 0.0\n")


def test_the_shipped_files_are_printed_without_a_warehouse(run, db: FakeDatabase):
    assert run("metrics", "--rules").out.startswith("# Alert rules")
    assert run("metrics", "--dashboard").json["title"] == "Stream tables"
    assert db.asked("connect") == []
    assert run("metrics", "--rules", "--dashboard").code == 2


def test_run_serves_metrics_where_it_is_asked_to(run, db: FakeDatabase):
    result = run("run", "--once", "--metrics-port", "0")
    assert result.code == 0
    assert "port 9123" in result.out
    assert db.asked("serve_metrics") == [((0,), {})]
    assert db.asked("write_logs") == [((), {})]
    assert run("run", "--metrics-port", "70000").code == 2
