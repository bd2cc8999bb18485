from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from streamtables.cli import main
from tests.unit.cli.fake_database import FakeDatabase


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def db() -> FakeDatabase:
    return FakeDatabase()


@pytest.fixture
def run(
    db: FakeDatabase, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    for name in ("STREAMTABLES_WAREHOUSE", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "200")

    def run_command(*arguments: str, terminal: bool = False) -> Result:
        # Here and not in a fixture: pytest gives each phase of a test its own streams.
        for stream in (sys.stdout, sys.stderr):
            monkeypatch.setattr(stream, "isatty", lambda: terminal)
        code = main(arguments, connect=db.connect)
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run_command
