"""What every catalog must do for publications, whatever its database."""

from __future__ import annotations

import pytest

from streamtables.catalog import Catalog
from streamtables.catalog.publication_models import Publication, Subscriber
from streamtables.errors import AlreadyExistsError, NotFoundError
from streamtables.positions import Version
from tests.unit.catalog.builders import START, at


class PublicationContract:
    def test_what_is_stored_comes_back_and_moves_the_generation(self, catalog: Catalog):
        before = catalog.generation()
        made = catalog.add_publication(Publication("i", "P", "T", START))
        taker = catalog.add_subscriber(
            Subscriber(
                "i",
                "s",
                START,
                START,
                version=Version(4),
                incarnation="one",
                sink="webhook",
                sink_options={"address": "${env:A}"},
                expire_seconds=60.0,
            )
        )
        assert catalog.generation() == before + 2
        assert catalog.publications() == [made]
        assert catalog.publication("p") == made
        assert catalog.subscriber(made, "s") == taker
        assert catalog.subscribed_versions("t") == [4]
        with pytest.raises(AlreadyExistsError):
            catalog.add_publication(Publication("j", "p", "T", START))
        with pytest.raises(AlreadyExistsError):
            catalog.add_subscriber(taker)
        catalog.drop_publication("p")
        assert (catalog.publications(), catalog.subscribers()) == ([], [])
        with pytest.raises(NotFoundError):
            catalog.publication("p")

    def test_a_position_moves_only_from_where_it_was_read(self, catalog: Catalog):
        catalog.add_publication(Publication("i", "p", "t", START))
        read = catalog.add_subscriber(Subscriber("i", "s", START, START))
        generation = catalog.generation()
        moved = catalog.move_subscriber(
            read, version=Version(3), incarnation="one", acknowledged_at=at(1)
        )
        assert catalog.subscribers("i") == [moved]
        with pytest.raises(NotFoundError):
            catalog.move_subscriber(read, version=Version(9), incarnation="one")
        assert catalog.subscribers("i") == [moved]
        assert catalog.generation() == generation
