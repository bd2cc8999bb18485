"""What every refresh of one connection shares."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from time import sleep

from streamtables.catalog.database import FOLDER_NAME
from streamtables.catalog.store import Catalog
from streamtables.compiler.maintenance import Limits
from streamtables.engine.session import SparkSessions
from streamtables.engine.warehouses import Warehouse
from streamtables.observe.observer import Observer
from streamtables.refresh.cancelling import CancelWatch
from streamtables.refresh.company import Company
from streamtables.refresh.costs import CostBook
from streamtables.refresh.limits import limits_of
from streamtables.refresh.past_book import PastBook
from streamtables.refresh.plans import Plans
from streamtables.refresh.processes import new_process_name
from streamtables.refresh.routes import written_by
from streamtables.refresh.routing import Written
from streamtables.refresh.sizes import Sizes
from streamtables.refresh.upkeep import Upkeep
from streamtables.settings import Settings
from streamtables.sources.delta import DeltaWatch
from streamtables.sources.files.folders import FolderSources
from streamtables.sources.postgres.capture import PostgresCapture


@dataclass
class Surroundings:
    """The warehouse, its catalog, the engine, the settings and the clock."""

    warehouse: Warehouse
    catalog: Catalog
    sessions: SparkSessions
    settings: Settings
    clock: Callable[[], datetime]
    watch: DeltaWatch
    postgres: PostgresCapture
    folders: FolderSources
    plans: Plans
    observer: Observer = field(default_factory=Observer)
    sizes: Sizes = field(default_factory=Sizes)
    costs: CostBook = field(init=False)
    writes: PastBook[Written] = field(init=False)
    upkeep: Upkeep = field(init=False)
    cancels: CancelWatch = field(init=False)
    company: Company = field(default_factory=Company)
    process: str = field(default_factory=new_process_name)
    """The name under which refreshes are recorded and leases are held."""
    sleep: Callable[[float], None] = sleep

    def __post_init__(self) -> None:
        self.cancels = CancelWatch(self.catalog.cancellations)
        self.costs = CostBook(self.settings.cost_cache_capacity)
        self.writes = PastBook(self.settings.cost_cache_capacity, written_by)
        self.upkeep = Upkeep(
            self.settings, self.catalog.subscribed_versions, self.catalog.labelled_versions
        )

    @property
    def staging(self) -> Path:
        """The folder in which a written batch rests, where it does."""
        return self.warehouse.home / FOLDER_NAME / "staging"

    @property
    def limits(self) -> Limits:
        """The sizes beyond which programs are made in another way."""
        return limits_of(self.settings)

    def pause(self, attempt: int) -> None:
        """Wait a little longer after each attempt, and never as long as another process does."""
        self.sleep(0.05 * 2**attempt * (0.5 + random.random()))
