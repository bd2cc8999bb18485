"""The random kills of `tests.soak.kills`, a few of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.kills import run

pytestmark = [pytest.mark.crash, pytest.mark.long, pytest.mark.spark, pytest.mark.postgres]


def test_a_scheduler_that_is_killed_again_and_again_loses_and_repeats_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, kills=4, seed=11, minutes=2) == 0, capsys.readouterr().out
