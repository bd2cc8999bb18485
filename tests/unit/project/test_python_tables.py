"""Stream tables defined in Python: what a function may return, and what its errors say."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from streamtables import stream_table
from streamtables.compiler.statements import CreateStreamTable
from streamtables.errors import ConfigError, UnsupportedSqlError
from streamtables.project.front_matter import Defined
from streamtables.project.python_tables import read_python_file


def read(tmp_path: Path, text: str) -> list[Defined]:
    path = tmp_path / "tables" / "defined.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return read_python_file(path, file="tables/defined.py", root=tmp_path)


HEAD = "from streamtables import stream_table\n"


def test_functions_define_tables_by_text_or_by_an_object_with_sql(tmp_path: Path, capsys):
    (tmp_path / "shared.py").write_text("LEAST = 7\n", encoding="utf-8")
    first, second = read(
        tmp_path,
        "from __future__ import annotations\n"
        + HEAD
        + "from shared import LEAST\n"
        + "print('loading')\n"
        + "@stream_table(schedule='1 minute', tags=['a', 'b'], key='x', fuse_rows=5)\n"
        + "def revenue():\n    return f'SELECT x FROM t WHERE x > {LEAST}'\n"
        + "from dataclasses import dataclass\n"
        + "@dataclass\nclass Query:\n    sql: 'str' = 'SELECT 1 AS x'\n"
        + "@stream_table\ndef second():\n    return Query()\n",
    )
    assert first.statement == CreateStreamTable(
        "revenue", "SELECT x FROM t WHERE x > 7", schedule="1 minute", options={"fuse_rows": "5"}
    )
    assert (first.tags, first.key, first.file) == (("a", "b"), ("x",), "tables/defined.py")
    assert second.statement == CreateStreamTable("second", "SELECT 1 AS x")
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "loading\n")
    assert str(tmp_path) not in sys.path


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("x = 1\n1 / 0\n", "fails in line 3: ZeroDivisionError: division by zero"),
        ("def broken(:\n", "fails in line 2: SyntaxError: "),
        ("raise SystemExit(3)\n", "fails in line 2: SystemExit: 3"),
        (
            "@stream_table\ndef t():\n    return missing\n",
            "fails in line 4: NameError: name 'missing' is not defined",
        ),
        ("@stream_table(color='red')\ndef t(): ...\n", "fails in line 2: ConfigError: "),
        ("@stream_table\ndef t(x): ...\n", "fails: TypeError: "),
        ("x = 1\n", "defines no stream table"),
        (
            "@stream_table\ndef t():\n    return 5\n",
            '"t" of "tables/defined.py" (line 2) returns no',
        ),
    ],
)
def test_errors_name_the_file_and_the_line(tmp_path: Path, code: str, said: str):
    with pytest.raises(ConfigError) as raised:
        read(tmp_path, HEAD + code)
    assert '"tables/defined.py"' in raised.value.message
    assert said in raised.value.message


def test_a_data_frame_is_refused_and_never_guessed_at(tmp_path: Path):
    code = (
        "class DataFrame:\n    sql = 'SELECT 1'\n"
        "DataFrame.__module__ = 'pyspark.sql.connect.dataframe'\n"
        "class Child(DataFrame): ...\n"
        "@stream_table\ndef t():\n    return Child()\n"
    )
    with pytest.raises(UnsupportedSqlError) as raised:
        read(tmp_path, HEAD + code)
    assert raised.value.code == "ST-1202"
    assert "returns a DataFrame" in raised.value.message
    assert raised.value.detail
    assert raised.value.hint


def test_the_decorator_leaves_the_function_as_it_is():
    @stream_table(schedule="1 minute")
    def revenue() -> str:
        return "SELECT 1 AS x"

    assert revenue() == "SELECT 1 AS x"
