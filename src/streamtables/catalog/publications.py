"""Publications, and how far each of their subscribers is.

What is published, and to whom, moves the generation, so that whoever leads notices.  How far a
subscriber is does not: that moves with every batch.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from sqlalchemy import Connection, RowMapping, and_, delete, insert, select, update

from streamtables.catalog.definition_changes import DefinitionChanges
from streamtables.catalog.names import name_key, not_found
from streamtables.catalog.publication_models import Publication, Subscriber
from streamtables.catalog.publication_schema import publications, subscribers
from streamtables.errors import AlreadyExistsError, NotFoundError
from streamtables.positions import Version


class Publications(DefinitionChanges):
    """The part of the catalog that knows who takes which changes."""

    def add_publication(self, publication: Publication) -> Publication:
        """Publish a table under a free name."""
        row = dataclasses.asdict(publication)
        row |= {
            "name_key": name_key(publication.name),
            "table_key": name_key(publication.table_name),
        }
        with self._changing() as (connection, _):
            if _find(connection, publication.name) is not None:
                raise AlreadyExistsError(
                    f'the publication "{publication.name}" exists already',
                    hint="Choose another name for it.",
                )
            connection.execute(insert(publications), [row])
        return publication

    def drop_publication(self, name: str) -> Publication:
        """Forget a publication and its subscribers."""
        with self._changing() as (connection, _):
            found = _required(connection, name)
            connection.execute(delete(publications).where(publications.c.id == found.id))
        return found

    def publications(self) -> list[Publication]:
        """Return all publications, by name."""
        statement = select(publications).order_by(publications.c.name_key)
        with self._database.reading() as connection:
            return [_publication(row) for row in connection.execute(statement).mappings()]

    def publication(self, name: str) -> Publication:
        """Return a publication; an unknown one is an error that names the closest."""
        with self._database.reading() as connection:
            return _required(connection, name)

    def add_subscriber(self, subscriber: Subscriber, *, replace: bool = False) -> Subscriber:
        """Register a subscriber; with `replace` one of the same name begins anew."""
        this = _this(subscriber)
        with self._changing() as (connection, _):
            taken = connection.execute(select(subscribers.c.name).where(this)).scalar()
            if taken is not None and not replace:
                raise AlreadyExistsError(
                    f'the subscriber "{subscriber.name}" exists already',
                    hint="Choose another name, or unsubscribe it first.",
                )
            connection.execute(delete(subscribers).where(this))
            connection.execute(insert(subscribers), [dataclasses.asdict(subscriber)])
        return subscriber

    def drop_subscriber(self, subscriber: Subscriber) -> None:
        """Forget a subscriber; nothing is kept for it any longer."""
        with self._changing() as (connection, _):
            connection.execute(delete(subscribers).where(_this(subscriber)))

    def subscribers(self, publication_id: str | None = None) -> list[Subscriber]:
        """Return the subscribers of one publication or of all, by name."""
        statement = select(subscribers).order_by(subscribers.c.publication_id, subscribers.c.name)
        if publication_id is not None:
            statement = statement.where(subscribers.c.publication_id == publication_id)
        with self._database.reading() as connection:
            rows = connection.execute(statement).mappings().all()
        return [Subscriber(**row) for row in rows]

    def subscriber(self, publication: Publication, name: str) -> Subscriber:
        """Return a subscriber; an unknown one is an error that names the closest."""
        known = {item.name: item for item in self.subscribers(publication.id)}
        if name not in known:
            raise not_found(f'subscriber of "{publication.name}"', name, known)
        return known[name]

    def move_subscriber(self, subscriber: Subscriber, **changes: Any) -> Subscriber:
        """Note something of a subscriber, unless its position was moved since it was read."""
        moved = dataclasses.replace(subscriber, **changes)
        at = subscribers.c
        same = and_(
            _this(subscriber),
            at.incarnation == subscriber.incarnation,
            at.version == subscriber.version,
        )
        with self._database.writing() as connection:
            done = connection.execute(update(subscribers).where(same).values(**changes)).rowcount
        if not done:
            raise NotFoundError(
                f'the subscriber "{subscriber.name}" has moved or gone meanwhile',
                hint="Look at `streamtables publication list` and try again.",
            )
        return moved

    def subscribed_versions(self, table_name: str) -> list[Version]:
        """Return the versions after which some subscriber still takes the changes of a table."""
        statement = (
            select(subscribers.c.version)
            .join(publications, publications.c.id == subscribers.c.publication_id)
            .where(publications.c.table_key == name_key(table_name))
            .where(subscribers.c.version.is_not(None), subscribers.c.state != "expired")
        )
        with self._database.reading() as connection:
            return [Version(found) for found in connection.execute(statement).scalars()]


def _this(subscriber: Subscriber) -> Any:
    return and_(
        subscribers.c.publication_id == subscriber.publication_id,
        subscribers.c.name == subscriber.name,
    )


def _find(connection: Connection, name: str) -> Publication | None:
    statement = select(publications).where(publications.c.name_key == name_key(name))
    row = connection.execute(statement).mappings().first()
    return None if row is None else _publication(row)


def _required(connection: Connection, name: str) -> Publication:
    found = _find(connection, name)
    if found is None:
        known = connection.execute(select(publications.c.name)).scalars().all()
        raise not_found("publication", name, known)
    return found


def _publication(row: RowMapping) -> Publication:
    names = [field.name for field in dataclasses.fields(Publication)]
    return Publication(**{name: row[name] for name in names})
