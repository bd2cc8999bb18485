"""The random kills of `tests.soak.kills`, a few of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.kills import run

pytestmark = [pytest.mark.crash, pytest.mark.slow, pytest.mark.spark, pytest.mark.postgres]

# One at a moment and one at a step: each costs the start of a Spark.
KILLS = 2


def test_a_scheduler_that_is_killed_again_and_again_loses_and_repeats_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, kills=KILLS, seed=11) == 0, capsys.readouterr().out
