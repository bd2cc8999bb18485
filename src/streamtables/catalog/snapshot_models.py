"""What the catalog keeps of a snapshot: versions of tables that belong together, under a label."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from streamtables.positions import BaseFrontier, Frontier, InputId, Version


@dataclass(frozen=True)
class KeptVersion:
    """One table of a snapshot: its version, and what the rows stand for."""

    table_id: InputId
    table: str
    version: Version
    frontier: Frontier
    base_frontier: BaseFrontier
    query_hash: str


@dataclass(frozen=True)
class KeptSnapshot:
    """Some tables at one moment."""

    label: str
    epoch: int
    taken_at: datetime
    tables: tuple[KeptVersion, ...]
