"""The first copy of a PostgreSQL table, on the command line: a bar for people, lines for pipes."""

from __future__ import annotations

import pytest

from streamtables.cli.copying import copy_text
from streamtables.errors import SourceUnusableError
from streamtables.sources.postgres.copy_progress import CopyProgress

ADD = ("source", "add", "orders", "--postgres", "${env:SHOP}", "--table", "public.orders")
BEGIN = CopyProgress("public.orders", 0, 4_000, 0.0)
HALF = CopyProgress("public.orders", 2_000, 4_000, 1.5)
END = CopyProgress("public.orders", 4_100, 4_000, 3.0, done=True)


def test_a_pipe_gets_the_begin_and_the_end_of_a_copy_on_standard_error(run, db):
    db.copies = [BEGIN, HALF, END]
    result = run(*ADD)
    assert result.out == 'source "orders" added\n'
    assert result.err.splitlines() == [
        "copying public.orders, about 4,000 rows",
        "copied public.orders, 4,100 rows in 3.0 s",
    ]


def test_a_terminal_gets_rows_share_and_seconds(run, db):
    db.copies = [BEGIN, HALF, END]
    result = run(*ADD, terminal=True)
    assert result.out == 'source "orders" added\n'
    assert "copied public.orders, 4,100 rows in 3.0 s" in result.err
    assert "100%" in result.err
    assert "0:00:0" in result.err


def test_a_copy_that_fails_has_a_begin_and_an_error(run, db):
    db.error = SourceUnusableError("no")
    result = run(*ADD)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error[")


def test_a_delta_table_is_not_copied(run, db):
    db.copies = [BEGIN]
    assert run("source", "add", "orders", "--path", "data/orders").err == ""


@pytest.mark.parametrize(
    ("rows", "expected", "text", "share"),
    [
        (0, 4_000, "copying t, about 4,000 rows", 0),
        (2_000, 4_000, "copying t, 2,000 of about 4,000 rows", 0.5),
        # An estimate may be too low: the whole of it is only there at the end.
        (5_000, 4_000, "copying t, 5,000 of about 4,000 rows", 0.99),
        (0, None, "copying t", None),
        (2_000, None, "copying t, 2,000 rows", None),
        (None, 4_000, "copying t, about 4,000 rows", None),
        (0, 0, "copying t, about 0 rows", None),
    ],
)
def test_how_far_a_copy_is(rows, expected, text, share):
    progress = CopyProgress("t", rows, expected, 1.0)
    assert (copy_text(progress), progress.share) == (text, share)


def test_the_end_of_a_copy_is_all_of_it():
    assert END.share == 1
    assert copy_text(CopyProgress("t", None, None, 2.0, done=True)) == "copied t in 2.0 s"
