"""The demonstration's folder: fresh each time, and never somebody else's."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from streamtables.errors import ConfigError

MARKER = ".streamtables-demo"
PARTS = ("shop", "warehouse", "twins")


def clear(folder: Path) -> None:
    """Remove what an earlier demonstration made in a folder, and nothing else.

    Raises:
        ConfigError: the folder holds something that no demonstration made.
    """
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f'"{folder}" is not a folder', hint="Choose another one with --folder.")
    if folder.exists() and any(folder.iterdir()) and not (folder / MARKER).is_file():
        raise ConfigError(
            f'the folder "{folder}" holds something that is not a demonstration',
            hint="Choose another one with --folder.",
        )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MARKER).write_text("Made by `streamtables demo`, which replaces it.\n", "utf-8")
    for part in PARTS:
        if (folder / part).exists():
            shutil.rmtree(folder / part)


def own_command() -> str:
    """Return how this command line is called from the current folder."""
    called = Path(sys.argv[0])
    if called.name != "streamtables" or shutil.which("streamtables") == str(called.absolute()):
        return "streamtables"
    here = Path.cwd()
    return str(called.relative_to(here)) if called.is_relative_to(here) else str(called)
