"""Errors end in at most three lines and a place, on standard error, with the right exit code."""

from __future__ import annotations

import pytest

from streamtables.cli.failures import error_lines
from streamtables.errors import (
    CatalogUnreadableError,
    CommitConflictError,
    DuplicateKeyError,
    EnvironmentFaultError,
    FullForbiddenError,
    HistoryGoneError,
    InternalError,
    NotFoundError,
    NotIncrementalError,
    QueryFailedError,
    Span,
    TableDamagedError,
)

QUERY = "SELECT id,\n       rand() AS r\nFROM orders"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (NotFoundError, 2),
        (FullForbiddenError, 2),
        (DuplicateKeyError, 1),
        (QueryFailedError, 1),
        (HistoryGoneError, 1),
        (TableDamagedError, 1),
        (CommitConflictError, 1),
        (EnvironmentFaultError, 1),
        (CatalogUnreadableError, 1),
        (InternalError, 1),
    ],
)
def test_the_family_decides_the_exit_code(run, db, error, code):
    db.error = error("no", detail="Because.", hint="Do.")
    result = run("explain", "totals")
    assert result.code == code
    assert result.out == ""
    assert result.err == f"error[{error.code}]: no\n  Because.\nhint: Do.\n"


def test_a_sql_error_shows_the_line_and_a_caret():
    start = QUERY.index("rand()")
    error = NotIncrementalError(
        'cannot maintain stream table "daily" incrementally',
        sql=QUERY,
        span=Span(start, start + 6),
        detail='"rand" gives another answer each time.',
        hint="Set mode = 'full'.",
    )
    assert error_lines(error) == [
        'error[ST-1201]: cannot maintain stream table "daily" incrementally',
        '  "rand" gives another answer each time.',
        "           rand() AS r",
        "           ^^^^^^",
        "hint: Set mode = 'full'.",
    ]


def test_a_long_sql_line_is_cut_round_the_caret():
    sql = "SELECT " + "a, " * 200 + "wrong, " + "b, " * 200
    start = sql.index("wrong")
    lines = error_lines(NotIncrementalError("no", sql=sql, span=Span(start, start + 5)))
    assert all(len(line) <= 104 for line in lines)
    column = lines[2].index("^^^^^")
    assert lines[1][column : column + 5] == "wrong"


def test_a_tab_before_the_place_does_not_move_the_caret():
    lines = error_lines(NotIncrementalError("no", sql="\tSELECT x", span=Span(8, 9)))
    assert lines[1].index("x") == lines[2].index("^")


def test_text_of_many_lines_becomes_one():
    error = NotFoundError("no\n  such", detail="a\nb", hint="c\nd")
    assert error_lines(error) == ["error[ST-1302]: no such", "  a b", "hint: c d"]


def test_a_traceback_shows_only_with_debug(run, db):
    db.error = NotFoundError("no")
    assert "Traceback" not in run("explain", "x").err
    for arguments in (("--debug", "explain", "x"), ("explain", "x", "--debug")):
        result = run(*arguments)
        assert "Traceback" in result.err
        assert result.code == 2


def test_what_nobody_foresaw_is_an_internal_error_without_traceback(run, db):
    db.error = KeyError("oops")
    result = run("explain", "x")
    assert result.code == 1
    assert result.err.startswith("error[ST-9001]: unexpected KeyError: 'oops'\nhint: ")
    assert "Traceback" not in result.err
    assert "KeyError" in run("explain", "x", "--debug").err


def test_control_c_is_exit_130(run, db):
    db.error = KeyboardInterrupt()
    assert run("explain", "x").code == 130
