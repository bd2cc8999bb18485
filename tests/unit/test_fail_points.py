"""What a test asks for at a boundary happens there, and once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from streamtables.errors import TransientError
from streamtables.fail_points import reach

CHILD = "from streamtables.fail_points import reach; reach('committed'); print('went on')"


def child(asked: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "STREAMTABLES_FAIL_POINT": asked}
    return subprocess.Popen(
        [sys.executable, "-c", CHILD], env=environment, stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("asked", ["", "recorded", "@", "@/no/such/file"])
def test_nothing_happens_at_a_boundary_that_nobody_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asked: str
) -> None:
    monkeypatch.setenv("STREAMTABLES_FAIL_POINT", asked.replace("@", f"@{tmp_path}/none"))
    reach("committed")
    monkeypatch.delenv("STREAMTABLES_FAIL_POINT")
    reach("committed")


def test_a_line_is_obeyed_at_its_boundary_by_one_thread_and_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "asked"
    monkeypatch.setenv("STREAMTABLES_FAIL_POINT", f"@{file}")
    file.write_text("fail committed\n")
    reach("recorded")
    assert file.exists()

    def failed(_: int) -> bool:
        try:
            reach("committed")
        except TransientError as error:
            return "committed" in error.message
        return False

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(failed, range(32))) == 1
    assert not file.exists()


def test_a_process_is_killed_or_stands_still_until_it_is_continued(tmp_path: Path) -> None:
    with child("committed") as killed:
        assert killed.wait(20) == -signal.SIGKILL
    file = tmp_path / "asked"
    file.write_text("stop committed")
    with child(f"@{file}") as stopped:
        found = os.waitid(os.P_PID, stopped.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        assert found is not None
        assert found.si_code == os.CLD_STOPPED
        stopped.send_signal(signal.SIGCONT)
        assert stopped.communicate(timeout=20)[0] == "went on\n"
