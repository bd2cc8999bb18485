"""The limits of programs, as the settings say them."""

from __future__ import annotations

from streamtables.compiler.maintenance import Limits
from streamtables.settings import Settings


def limits_of(settings: Settings) -> Limits:
    """Return the limits that the settings give to programs."""
    return Limits(
        join_inputs=settings.deep_join_l0_scan_threshold, scans=settings.part3_max_scan_count
    )
