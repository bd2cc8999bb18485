"""Taking the files of a dropped stream table, or of a mirror, away."""

from __future__ import annotations

from streamtables.engine.stores import remove_tree
from streamtables.engine.warehouses import Warehouse


def remove_own_table(location: str, warehouse: Warehouse) -> bool:
    """Delete a table's folder; only one that lies in the warehouse, as all of ours do."""
    return warehouse.owns(location) and remove_tree(location)
