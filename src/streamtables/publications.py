"""Publications: the part of the interface that gives a stream table's changes to others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from streamtables.catalog import Catalog, new_id
from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.names import check_name
from streamtables.catalog.publication_models import Publication, Subscriber
from streamtables.engine.delta_log import DeltaLog
from streamtables.engine.warehouses import Warehouse
from streamtables.errors import (
    ConfigError,
    HistoryGoneError,
    NotFilledError,
    NotFoundError,
    PositionRefusedError,
    StreamTablesError,
)
from streamtables.positions import Version
from streamtables.publish.attendance import Attendance
from streamtables.publish.delivery import Pushed
from streamtables.publish.reading import (
    DEFAULT_LIMIT,
    Changes,
    Published,
    changes_of,
    published,
    resumed_at,
    window_of,
)
from streamtables.publish.sinks import checked_target
from streamtables.publish.windows import lag_of, reset_reason
from streamtables.refresh.surroundings import Surroundings
from streamtables.scheduler.durations import parse_duration


@dataclass(frozen=True)
class SubscriberStatus:
    """How far a subscriber is."""

    name: str
    sink: str
    acknowledged: int | None
    lag_versions: int | None
    state: str
    """current, behind, reset, lagging, expired or failing."""
    acknowledged_at: datetime
    note: str


@dataclass(frozen=True)
class PublicationStatus:
    """A publication, its table and its subscribers."""

    name: str
    table: str
    version: int | None
    incarnation: str | None
    state: str
    """active, table-missing, not-filled or unreadable."""
    subscribers: tuple[SubscriberStatus, ...]


class Publishing:
    """The methods of an open warehouse that are about publications."""

    place: Warehouse
    _catalog: Catalog
    _around: Surroundings

    def publish(self, name: str, publication: str | None = None) -> Publication:
        """Give the changes of a stream table to others, under its own name or another one."""
        table = self._catalog.stream_table(name)
        if table.is_internal:
            raise ConfigError(f'"{name}" is internal, and is not published')
        chosen = check_name(
            publication if publication is not None else table.name, kind="a publication"
        )
        made = Publication(new_id(), chosen, table.name, self._around.clock())
        return self._catalog.add_publication(made)

    def unpublish(self, publication: str) -> Publication:
        """Forget a publication and its subscribers; nothing is kept for them any longer."""
        return self._catalog.drop_publication(publication)

    def subscribe(
        self,
        publication: str,
        subscriber: str,
        from_version: str | int | None = None,
        *,
        to: Mapping[str, str] | None = None,
        expire_after: str | None = None,
    ) -> Subscriber:
        """Register who takes the changes of a publication, and from where on.

        `"start"` begins with a snapshot, `"now"` after the present version, a number after that
        version.  With `to` the changes are pushed; a PostgreSQL table always begins at the start.
        """
        check_name(subscriber, kind="a subscriber")
        sink, options = checked_target(to)
        expire = parse_duration(expire_after, "expire_after") if expire_after is not None else None
        wanted = from_version if from_version is not None else _usual_start(sink)
        if sink == "postgres" and wanted != "start":
            raise PositionRefusedError(
                "a PostgreSQL table can only be kept equal from the start",
                hint="Leave the version out, or say start.",
            )
        made = self._catalog.publication(publication)
        incarnation, version = self._start(made, wanted)
        now = self._around.clock()
        return self._catalog.add_subscriber(
            Subscriber(
                publication_id=made.id,
                name=subscriber,
                created_at=now,
                acknowledged_at=now,
                version=version,
                incarnation=incarnation,
                sink=sink,
                sink_options=options,
                expire_seconds=expire,
            )
        )

    def unsubscribe(self, publication: str, subscriber: str) -> None:
        """Forget a subscriber; what was pushed stays where it is."""
        found = self._catalog.publication(publication)
        self._catalog.drop_subscriber(self._catalog.subscriber(found, subscriber))

    def changes(
        self,
        publication: str,
        subscriber: str,
        limit: int = DEFAULT_LIMIT,
        *,
        after: int | None = None,
    ) -> Changes:
        """Return what a subscriber lacks, in bounded batches; the same until it acknowledges.

        `limit` is about how many changed rows make up an answer, which always ends with a whole
        version.  `after` resumes behind a version that was taken and is not yet acknowledged.
        """
        if limit < 1:
            raise ConfigError(f"the limit {limit} is not a number of rows from 1 on")
        found = self._published(publication)
        taker = self._catalog.subscriber(found.publication, subscriber)
        if after is not None:
            taker = resumed_at(taker, after, found)
        window = window_of(found, taker, limit)
        return changes_of(found, window, self._around)

    def acknowledge(
        self, publication: str, subscriber: str, version: int, *, incarnation: str | None = None
    ) -> Subscriber:
        """Note that a subscriber has everything up to a version.

        A snapshot is acknowledged with the incarnation that came with it.
        """
        found = self._published(publication)
        taker = self._catalog.subscriber(found.publication, subscriber)
        _check_acknowledged(found, taker, version, incarnation)
        return self._catalog.move_subscriber(
            taker,
            version=Version(version),
            incarnation=found.sight.incarnation,
            offered=None,
            state="active" if taker.state == "expired" else taker.state,
            acknowledged_at=self._around.clock(),
        )

    def push(self, publication: str | None = None) -> list[Pushed]:
        """Push to all who are pushed to, of one publication or of all, without waiting."""
        attendance = Attendance(self._around)
        pushed = attendance.push(publication, None)
        attendance.judge()
        return pushed

    def publications(self) -> list[PublicationStatus]:
        """Return every publication with its subscribers, and how far each is."""
        snapshot = self._catalog.snapshot()
        return [self._status(item, snapshot) for item in self._catalog.publications()]

    def _published(self, name: str) -> Published:
        publication = self._catalog.publication(name)
        return published(publication, self._catalog.snapshot(), self._around)

    def _start(self, publication: Publication, wanted: str | int) -> tuple[str, Version | None]:
        if wanted == "start":
            return "", None
        if isinstance(wanted, bool) or not (isinstance(wanted, int) or wanted == "now"):
            raise PositionRefusedError(
                f'a subscriber cannot begin at "{wanted}"', hint="Use now, start or a version."
            )
        found = self._published(publication.name)
        if not isinstance(wanted, int):
            return found.sight.incarnation, found.current
        if not 0 <= wanted <= found.current:
            raise PositionRefusedError(
                f'"{publication.name}" has no version {wanted}',
                detail=f"Its versions go from 0 to {int(found.current)}.",
                hint="Use now, start or one of them.",
            )
        try:
            DeltaLog(found.table.location).entries(Version(wanted), found.current)
        except HistoryGoneError as error:
            raise PositionRefusedError(
                f"the changes after version {wanted} are no longer all there",
                hint="Use start, which begins with a snapshot.",
            ) from error
        return found.sight.incarnation, Version(wanted)

    def _status(self, publication: Publication, snapshot: CatalogSnapshot) -> PublicationStatus:
        found, state = None, "active"
        try:
            found = published(publication, snapshot, self._around)
        except NotFoundError:
            state = "table-missing"
        except NotFilledError:
            state = "not-filled"
        except StreamTablesError:
            state = "unreadable"
        return PublicationStatus(
            publication.name,
            publication.table_name,
            int(found.current) if found else None,
            found.sight.incarnation if found else None,
            state,
            tuple(_judged(item, found) for item in self._catalog.subscribers(publication.id)),
        )


def _usual_start(sink: str) -> str:
    return "start" if sink == "postgres" else "now"


def _judged(subscriber: Subscriber, found: Published | None) -> SubscriberStatus:
    lag, state = None, str(subscriber.state)
    if found is not None:
        lag = lag_of(subscriber, found.sight.incarnation, found.current)
        if state == "active":
            reset = reset_reason(subscriber, found.sight.incarnation, found.current)
            state = "reset" if reset else "behind" if lag else "current"
    if subscriber.failures:
        state = "failing"
    return SubscriberStatus(
        subscriber.name,
        subscriber.sink,
        None if subscriber.version is None else int(subscriber.version),
        lag,
        state,
        subscriber.acknowledged_at,
        subscriber.note,
    )


def _check_acknowledged(
    found: Published, taker: Subscriber, version: int, incarnation: str | None
) -> None:
    name = found.publication.name
    if taker.sink == "postgres":
        raise PositionRefusedError(
            f'subscriber "{taker.name}" keeps its own position, beside its table',
            hint="Push to it instead.",
        )
    if isinstance(version, bool) or not 0 <= version <= found.current:
        raise PositionRefusedError(
            f'"{name}" has no version {version} to acknowledge',
            detail=f"Its versions go from 0 to {int(found.current)}.",
        )
    if incarnation is not None and incarnation != found.sight.incarnation:
        raise PositionRefusedError(
            f'the table of "{name}" was made anew since these changes were read',
            hint="Read the changes again: they begin with a snapshot.",
        )
    reason = reset_reason(taker, found.sight.incarnation, found.current)
    if reason and incarnation is None:
        raise PositionRefusedError(
            f'subscriber "{taker.name}" has to start from a snapshot first',
            detail=f"Reason: {reason}.",
            hint="Read the changes, and acknowledge with the incarnation that they name.",
        )
    if not reason and taker.version is not None and version < taker.version:
        raise PositionRefusedError(
            f"version {int(taker.version)} is acknowledged already, {version} lies before it",
            hint="To take changes again, unsubscribe and subscribe from a version.",
        )
