"""Taking a dropped stream table's files away."""

from __future__ import annotations

import shutil
from pathlib import Path

from streamtables.engine.log_files import local_path


def remove_own_table(location: str, warehouse: Path) -> bool:
    """Delete a table's folder; only one that lies in the warehouse, as all of ours do."""
    folder = local_path(location)
    if folder is None or not folder.is_dir():
        return False
    own = (warehouse.absolute() / "tables").resolve()
    if own not in folder.resolve().parents:
        return False
    shutil.rmtree(folder)
    return True
