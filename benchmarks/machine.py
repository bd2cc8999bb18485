"""What the numbers were measured on."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any


def machine() -> dict[str, object]:
    """Return the machine and the versions that decide the numbers."""
    return {
        "cores": os.cpu_count(),
        "memory_gb": _memory_gb(),
        "processor": _processor(),
        "load_before": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        **{name: version(name) for name in ("streamtables", "pyspark", "deltalake", "sqlglot")},
    }


def machine_text(found: Mapping[str, Any]) -> str:
    """Return the machine in one line of prose."""
    return (
        f"{found['cores']} cores ({found['processor']}), {found['memory_gb']:g} GB, load "
        f"{found['load_before']:g} before the run, local Spark {found['pyspark']}"
    )


def _memory_gb() -> float:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()
