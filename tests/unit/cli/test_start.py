"""The command line starts fast: no Spark, no Java, no catalog before a command needs them."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

HEAVY = (
    "pyspark",
    "py4j",
    "pyarrow",
    "pandas",
    "numpy",
    "deltalake",
    "sqlalchemy",
    "alembic",
    "sqlglot",
    "psycopg",
)


def test_help_imports_nothing_heavy():
    program = (
        "import sys\n"
        "from streamtables.cli import main\n"
        "code = main(['--help'])\n"
        f"loaded = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "sys.exit(f'loaded: {loaded}' if loaded else code)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Commands:" in done.stdout


def test_help_takes_less_than_half_a_second():
    command = [sys.executable, "-m", "streamtables.cli", "--help"]

    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def seconds() -> float:
        start = used()
        subprocess.run(command, capture_output=True, check=True)
        return used() - start

    # Time on the processor, best of some runs: what others do on the machine must not decide.
    assert min(seconds() for _ in range(5)) < 0.5


@pytest.mark.parametrize("arguments", [(), ("--help",), ("source", "--help"), ("refresh", "-h")])
def test_help_is_exit_0(run, db, arguments):
    result = run(*arguments)
    assert result.code == 0
    assert result.out.startswith("Usage: streamtables")
    assert db.calls == []


def test_version(run):
    assert run("--version").out.startswith("streamtables ")


def test_a_reader_that_goes_away_is_no_error():
    program = (
        "import sys\n"
        "from streamtables.cli import app\n"
        "app.show_line = lambda text: print(text * 100_000, flush=True)\n"
        "sys.exit(app.main(['--version']))\n"
    )
    writer = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert writer.stdout is not None
    assert writer.stderr is not None
    writer.stdout.close()
    errors = writer.stderr.read()
    writer.stderr.close()
    assert writer.wait(timeout=30) == 141
    assert errors == b""
