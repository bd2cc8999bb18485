"""A person gets tables, colour and progress; a pipe gets plain text."""

from __future__ import annotations

from threading import Event

import pytest

from streamtables.cli import screen
from streamtables.cli.status import age_text
from streamtables.engine.spark_progress import TasksDone
from tests.unit.cli.fake_database import Refresh, TableStatus


def test_a_pipe_gets_no_control_characters(run):
    for arguments in (("status",), ("refresh",), ("refresh", "a"), ("--help",), ("verify",)):
        result = run(*arguments)
        assert "\x1b" not in result.out + result.err
        assert result.err == ""


def test_a_terminal_gets_colour_and_ages(run, db):
    db.tables = [TableStatus("totals", state="failed")]
    out = run("status", terminal=True).out
    assert "\x1b[1;31mfailed" in out
    assert "d ago" in out


def test_a_terminal_gets_progress_on_standard_error(run):
    for arguments in (("refresh",), ("refresh", "a", "b")):
        result = run(*arguments, terminal=True)
        assert "refreshing" in result.err
        assert "refreshing" not in result.out


def test_a_terminal_is_told_how_far_spark_is(run, db, monkeypatch):
    asked = Event()

    def progress() -> TasksDone:
        asked.set()
        return TasksDone(1_200, 4_000)

    def refreshed() -> list[Refresh]:
        assert asked.wait(10)
        asked.clear()
        # Once it is asked again, what it said is shown.
        assert asked.wait(10)
        return []

    monkeypatch.setattr(screen, "_TOLD_EVERY_SECONDS", 0.01)
    monkeypatch.setattr(db, "spark_progress", progress)
    monkeypatch.setattr(db, "refresh_all", refreshed)
    assert "1,200 of 4,000 tasks" in run("refresh", terminal=True).err


def test_nothing_is_said_of_a_spark_that_rests():
    assert screen.tasks_text(None) == ""


def test_json_stays_json_at_a_terminal(run):
    assert run("status", "--json", terminal=True).json[0]["name"] == "totals"


def test_markup_in_data_is_shown_as_it_is(run, db):
    db.rows = [{"name": "[red]bob[/red]"}]
    assert "[red]bob[/red]" in run("read", "totals", terminal=True).out


def test_an_error_is_coloured_at_a_terminal(run):
    assert "\x1b[31m\x1b[1merror[ST-1401]" in run("status", "--nonsense", terminal=True).err


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (True, "yes"), (False, "no"), (0.5, "0.500"), ("a\n  b", "a b"), (7, "7")],
)
def test_cells(value, text):
    assert screen.cell_text(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-1, "0 s ago"), (59, "59 s ago"), (61, "1 min ago"), (7300, "2 h ago"), (90_000, "1 d ago")],
)
def test_ages(seconds, text):
    assert age_text(seconds) == text


@pytest.mark.parametrize(("answer", "applied", "code"), [(True, 1, 0), (False, 0, 1)])
def test_apply_asks_a_person_first(run, db, tmp_path, monkeypatch, answer, applied, code):
    questions: list[str] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)

    def confirm(text: str) -> bool:
        questions.append(text)
        return answer

    monkeypatch.setattr("typer.confirm", confirm)
    assert run("apply", str(tmp_path), terminal=True).code == code
    assert questions == ["Apply 1 change?"]
    assert len(db.asked("apply")) == applied
