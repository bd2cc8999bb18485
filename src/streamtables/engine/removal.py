"""Taking the files of a dropped stream table, or of a mirror, away."""

from __future__ import annotations

import shutil
from pathlib import Path

from streamtables.engine.log_files import local_path


def remove_own_table(location: str, warehouse: Path) -> bool:
    """Delete a table's folder; only one that lies in the warehouse, as all of ours do."""
    folder = local_path(location)
    if folder is None or not folder.is_dir():
        return False
    own = {(warehouse.absolute() / name).resolve() for name in ("tables", "mirrors")}
    if not own & set(folder.resolve().parents):
        return False
    shutil.rmtree(folder)
    return True
