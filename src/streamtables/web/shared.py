"""What all routes of one application share."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request

from streamtables.api import StreamTables
from streamtables.web.access import Access
from streamtables.web.facts import Facts
from streamtables.web.jobs import Jobs
from streamtables.web.lag_samples import LagSamples
from streamtables.web.pulse import Pulse


@dataclass(frozen=True)
class Shared:
    """The open warehouse, and what is kept of it here."""

    db: StreamTables
    facts: Facts
    samples: LagSamples
    jobs: Jobs
    access: Access
    pulse: Pulse


def shared_of(request: Request) -> Shared:
    """Return what the application of a request shares."""
    shared = request.app.state.shared
    assert isinstance(shared, Shared)
    return shared
