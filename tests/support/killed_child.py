"""A process of its own that dies at a boundary, as by a power cut."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path


def killed_child(program: str, warehouse: Path, boundary: str) -> None:
    """Run a program on a warehouse until it is killed at the boundary."""
    child = subprocess.run(
        [sys.executable, "-c", program, str(warehouse)],
        env={
            **os.environ,
            "STREAMTABLES_FAIL_POINT": boundary,
            "STREAMTABLES_SPARK_MASTER": "local[2]",
        },
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert child.returncode == -signal.SIGKILL, child.stdout + child.stderr
