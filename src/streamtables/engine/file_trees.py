"""Folders copied as files."""

from __future__ import annotations

import shutil
from pathlib import Path

from streamtables.errors import EnvironmentFaultError


def copy_tree(source: Path, target: Path) -> None:
    """Copy a folder to a place where there is none."""
    try:
        shutil.copytree(source, target)
    except (OSError, shutil.Error) as error:
        raise EnvironmentFaultError(
            f'"{source}" cannot be copied to "{target}"',
            detail=f"{error}.",
            hint="Make room there, and see that you may write.",
        ) from error


def replace_tree(source: Path, target: Path) -> None:
    """Copy a folder in the place of another, which goes once the copy is whole."""
    beside = target.with_name(f"{target.name}.restoring")
    shutil.rmtree(beside, ignore_errors=True)
    copy_tree(source, beside)
    shutil.rmtree(target, ignore_errors=True)
    beside.rename(target)
