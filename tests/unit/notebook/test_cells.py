"""The cell magic in a real IPython shell; Spark is not needed to define a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from streamtables.api import StreamTables
from tests.support.delta_tables import DeltaTableFile


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[InteractiveShell]:
    DeltaTableFile(tmp_path / "t", {"id": "bigint", "g": "bigint"}, [(1, 1), (2, 1)])
    made = InteractiveShell.instance()
    made.run_line_magic("load_ext", "streamtables.notebook")
    with StreamTables(tmp_path / "w") as db:
        db.add_source("t", path=tmp_path / "t", key="id")
        made.user_ns["db"] = db
        yield made
    made.reset()
    InteractiveShell.clear_instance()


def test_a_cell_creates_a_table_and_the_next_one_alters_it(shell: InteractiveShell) -> None:
    first = 'sums --schedule "5 minutes" --no-refresh'
    shell.run_cell_magic("stream_table", first, "SELECT g, count(*) AS n FROM t GROUP BY g")
    shell.run_cell_magic("stream_table", "SUMS --no-refresh", "SELECT g FROM t")
    [table] = shell.user_ns["db"].stream_tables()
    assert (table.name, table.query, table.schedule) == ("sums", "SELECT g FROM t", "5 minutes")


@pytest.mark.parametrize(
    ("line", "cell", "said"),
    [
        ("s", "SELEC 1", "ST-1101"),
        ("", "SELECT 1", "%%stream_table NAME"),
        ("s --db nothing", "SELECT 1", '"nothing" is no open warehouse'),
        ('s --schedule "', "SELECT 1", "No closing quotation"),
        ("s --schedule sometimes --no-refresh", "SELECT g FROM t", "sometimes"),
    ],
)
def test_a_wrong_cell_is_told_in_words_and_changes_nothing(
    shell: InteractiveShell,
    capsys: pytest.CaptureFixture[str],
    line: str,
    cell: str,
    said: str,
) -> None:
    assert shell.run_cell_magic("stream_table", line, cell) is None
    printed = capsys.readouterr().out
    assert said in printed
    assert "Traceback" not in printed
    assert shell.user_ns["db"].stream_tables() == []


def test_a_warehouse_is_shown_as_its_tables(shell: InteractiveShell) -> None:
    shell.run_cell_magic("stream_table", "s --no-refresh", "SELECT g FROM t")
    shown, _ = shell.display_formatter.format(shell.user_ns["db"])  # type: ignore[union-attr]  # a notebook has one
    assert "<td>s</td>" in shown["text/html"]
