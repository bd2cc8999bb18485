"""What the catalog holds for the scheduler, as frozen values.

Lease       who leads, until when, and the catalog's generation as of the renewal
Rules       what people have said holds tables back: gates, watermark groups, pauses
Event       something that people should know: what changed, about whom, and why
EpochMove   a version of a stream table, and the versions of its roots that it stands for
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from streamtables.catalog.models import Options
from streamtables.positions import BaseFrontier, InputId, Version

EVERYTHING = "all"
"""The scope of a pause that concerns every stream table."""


def namespace_scope(namespace: str) -> str:
    """Return the scope of a pause that concerns one namespace."""
    return f"namespace:{namespace.lower()}"


def pause_scopes(namespace: str) -> tuple[str, str]:
    """Return the scopes of the pauses that concern the tables of a namespace."""
    return EVERYTHING, namespace_scope(namespace)


@dataclass(frozen=True)
class Lease:
    """The right to lead, until it expires; `term` grows with each new leader."""

    holder: str
    term: int
    expires_at: datetime
    generation: int
    facts: Options = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class SourceGate:
    """A source that is closed: what reads it waits."""

    source_id: InputId
    reason: str
    closed_at: datetime


@dataclass(frozen=True)
class SourceGroup:
    """Sources whose watermarks must be near each other before they are read together.

    With `until` each that is read must also be complete up to that moment.
    """

    name: str
    sources: tuple[InputId, ...]
    tolerance_seconds: float
    until: datetime | None = None


@dataclass(frozen=True)
class Pause:
    """Everything, or one namespace, stands still."""

    scope: str
    reason: str
    paused_at: datetime


@dataclass(frozen=True)
class Rules:
    """Everything that people have said holds tables back."""

    gates: Mapping[InputId, SourceGate] = field(default_factory=dict, hash=False)
    groups: tuple[SourceGroup, ...] = ()
    pauses: Mapping[str, Pause] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Event:
    """Something that happened, about a table, a source, or, with an empty id, about all."""

    at: datetime
    kind: str
    text: str
    subject_id: str = ""
    subject: str = ""


@dataclass(frozen=True)
class EpochMove:
    """A version of a stream table, and what it stands for."""

    stream_table_id: InputId
    delta_version: Version
    base_frontier: BaseFrontier
    epoch: int = 0
