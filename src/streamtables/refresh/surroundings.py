"""What every refresh of one connection shares."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from streamtables.catalog.store import Catalog
from streamtables.engine.session import SparkSessions
from streamtables.refresh.plans import Plans
from streamtables.settings import Settings
from streamtables.sources.delta import DeltaWatch


def this_process() -> str:
    """Return the name under which this process records its refreshes."""
    return f"{socket.gethostname()}:{os.getpid()}"


@dataclass
class Surroundings:
    """The catalog, the engine, the settings and the clock."""

    catalog: Catalog
    sessions: SparkSessions
    settings: Settings
    clock: Callable[[], datetime]
    watch: DeltaWatch
    plans: Plans = field(default_factory=Plans)
    process: str = field(default_factory=this_process)
