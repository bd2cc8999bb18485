"""Publications through the interface: positions, changes, resets, lag and expiry."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from streamtables.engine.change_batches import BATCH_ROWS
from streamtables.errors import (
    AlreadyExistsError,
    ConfigError,
    EnvironmentFaultError,
    NameNotAllowedError,
    NotFilledError,
    NotFoundError,
    PositionRefusedError,
    StreamTablesError,
)
from tests.support.published import Rows, Shelf, applied


@pytest.fixture
def taken(shelf: Shelf) -> Shelf:
    shelf.db.publish("t", "p")
    shelf.db.subscribe("p", "s")
    return shelf


def caught_up(shelf: Shelf, copy: Rows, limit: int = 10_000) -> Rows:
    """Take and acknowledge until nothing is left."""
    while not (found := shelf.db.changes("p", "s", limit)).is_empty:
        copy = applied(copy, found)
        shelf.db.acknowledge("p", "s", found.upto, incarnation=found.incarnation)
    return copy


def test_changes_applied_in_any_steps_give_the_table(taken: Shelf) -> None:
    copy = taken.stored("t")
    taken.append("t", (3, "c"), (4, None))
    taken.delete("t", "id = 1")
    taken.overwrite("t", (2, "b"), (3, "other"), (9, "new"))
    for limit in (1, 2, 10_000):
        assert caught_up(taken, copy, limit) == taken.stored("t")
        taken.db.unsubscribe("p", "s")
        taken.db.subscribe("p", "s", 0)


def test_a_full_refresh_is_changes_and_no_reset(taken: Shelf) -> None:
    taken.overwrite("t", (1, "a"), (7, "z"))
    found = taken.db.changes("p", "s")
    assert (found.reset, found.after, found.upto) == ("", 0, 1)
    rows = [row for batch in found.batches for row in batch.to_pylist()]
    assert Counter(row["__st_weight"] for row in rows) == {1: 1, -1: 1}


def test_the_start_is_a_snapshot_that_is_acknowledged_by_its_incarnation(shelf: Shelf) -> None:
    shelf.db.publish("t", "p")
    shelf.db.subscribe("p", "s", "start")
    found = shelf.db.changes("p", "s")
    assert found.reset == "it has no rows yet"
    assert applied(Counter(), found) == shelf.stored("t")
    with pytest.raises(PositionRefusedError):
        shelf.db.acknowledge("p", "s", found.upto)
    shelf.db.acknowledge("p", "s", found.upto, incarnation=found.incarnation)
    assert shelf.db.changes("p", "s").is_empty


def test_a_table_made_anew_is_told_and_never_mixed_with_the_old_one(taken: Shelf) -> None:
    taken.append("t", (3, "c"))
    read_before = taken.db.changes("p", "s")
    taken.remake("t", (5, "e"), (6, "f"))
    taken.append("t", (7, "g"))
    with pytest.raises(PositionRefusedError):
        taken.db.acknowledge("p", "s", read_before.upto)
    with pytest.raises(PositionRefusedError):
        taken.db.acknowledge("p", "s", read_before.upto, incarnation=read_before.incarnation)
    found = taken.db.changes("p", "s")
    assert found.reset == "the table was made anew"
    assert applied(Counter({("old",): 1}), found) == taken.stored("t")
    [status] = taken.db.publications()
    assert status.subscribers[0].state == "reset"


def test_a_dropped_table_leaves_its_publication_waiting(taken: Shelf) -> None:
    taken.db.drop("t")
    [status] = taken.db.publications()
    assert (status.state, status.version) == ("table-missing", None)
    with pytest.raises(NotFoundError):
        taken.db.changes("p", "s")
    assert taken.db.push() == []
    with pytest.raises(NotFoundError):
        taken.db.push("p")


def test_a_file_that_is_gone_is_an_error_of_ours(taken: Shelf) -> None:
    taken.db.subscribe("p", "other", "start")
    found = taken.db.changes("p", "other")
    for file in taken.files["t"].path.glob("*.parquet"):
        file.unlink()
    with pytest.raises(EnvironmentFaultError):
        list(found.batches)


def test_history_that_is_gone_is_told(taken: Shelf) -> None:
    taken.append("t", (3, "c"))
    taken.append("t", (4, "d"))
    taken.files["t"].open().create_checkpoint()
    for version in (0, 1):
        (taken.files["t"].path / "_delta_log" / f"{version:020d}.json").unlink()
    found = taken.db.changes("p", "s")
    assert "history" in found.reset
    assert applied(Counter(), found) == taken.stored("t")


def test_asking_again_gives_the_same_and_resuming_gives_the_rest(taken: Shelf) -> None:
    for number in (3, 4, 5):
        taken.append("t", (number, "x"))
    first = taken.db.changes("p", "s", 1)
    again = taken.db.changes("p", "s", 1)
    assert (first.upto, first.key) == (again.upto, again.key) == (1, first.key)
    rest = taken.db.changes("p", "s", after=1)
    assert (rest.after, rest.upto) == (1, 3)
    copy = applied(Counter({(1, "a"): 1, (2, "b"): 1}), first)
    assert applied(copy, rest) == taken.stored("t")
    taken.db.acknowledge("p", "s", 2)
    with pytest.raises(PositionRefusedError):
        taken.db.changes("p", "s", after=1)


def test_batches_are_bounded(taken: Shelf) -> None:
    taken.append("t", *((number, "x") for number in range(10, 10 + BATCH_ROWS + 5)))
    sizes = [batch.num_rows for batch in taken.db.changes("p", "s").batches]
    assert (max(sizes), sum(sizes)) == (BATCH_ROWS, BATCH_ROWS + 5)


def test_acknowledging_goes_only_forward_and_not_past_the_table(taken: Shelf) -> None:
    taken.append("t", (3, "c"))
    taken.db.acknowledge("p", "s", 1)
    taken.db.acknowledge("p", "s", 1)
    for version in (0, 2, -1, 10**12):
        with pytest.raises(PositionRefusedError):
            taken.db.acknowledge("p", "s", version)
    assert taken.db.publications()[0].subscribers[0].acknowledged == 1


def test_a_lagging_subscriber_is_told_once_and_when_it_is_over(taken: Shelf) -> None:
    def told() -> list[str]:
        return [e.kind for e in reversed(taken.db.events()) if e.kind.startswith("publication")]

    for number in range(3, 7):
        taken.append("t", (number, "x"))
    taken.db.push()
    taken.db.push()
    assert told() == ["publication_lag"]
    assert 'publication_lag_versions{publication="p",subscriber="s"} 4.0' in taken.db.metrics_text()
    assert taken.db.publications()[0].subscribers[0].state == "lagging"
    taken.db.acknowledge("p", "s", 4)
    taken.db.push()
    assert told() == ["publication_lag", "publication_lag_cleared"]


def kept_hours(shelf: Shelf) -> int:
    """Return for how many hours old files stay, as upkeep says."""
    [done] = [item for item in shelf.db.maintain("t") if item.job == "remove"]
    found = re.search(r"the last ([\d,]+) hours", done.text)
    assert found is not None
    return int(found[1].replace(",", ""))


def test_files_stay_until_the_slowest_subscriber_has_acknowledged(taken: Shelf) -> None:
    taken.overwrite("t", (1, "x"))
    taken.overwrite("t", (1, "y"))
    taken.clock.pass_by(days=100)
    assert kept_hours(taken) >= 100 * 24
    assert taken.db._catalog.subscribed_versions("T") == [0]
    assert caught_up(taken, Counter({(1, "a"): 1, (2, "b"): 1})) == taken.stored("t")
    assert taken.db._catalog.subscribed_versions("t") == [2]
    taken.db.unpublish("p")
    assert taken.db._catalog.subscribed_versions("t") == []
    assert kept_hours(taken) == taken.db.settings.retention_hours


def test_only_an_explicit_policy_lets_a_subscriber_go_and_it_is_recorded(shelf: Shelf) -> None:
    shelf.db.publish("t", "p")
    shelf.db.subscribe("p", "patient")
    shelf.db.subscribe("p", "s", expire_after="1 hour")
    shelf.append("t", (3, "c"))
    shelf.clock.pass_by(hours=2)
    shelf.db.push()
    states = {s.name: s.state for s in shelf.db.publications()[0].subscribers}
    assert states == {"patient": "behind", "s": "expired"}
    [event] = [e for e in shelf.db.events("t") if e.kind == "publication_expired"]
    assert '"s"' in event.text
    assert shelf.db._catalog.subscribed_versions("t") == [0]
    found = shelf.db.changes("p", "s")
    assert found.reset == "its position had expired"
    shelf.db.acknowledge("p", "s", found.upto, incarnation=found.incarnation)
    assert shelf.db.changes("p", "s").is_empty


def test_bad_input_is_refused_and_changes_nothing(taken: Shelf) -> None:
    db = taken.db
    before = db.publications()
    bad: list[tuple[type[StreamTablesError], object]] = [
        (NotFoundError, lambda: db.publish("nothing")),
        (NameNotAllowedError, lambda: db.publish("t", "a b")),
        (AlreadyExistsError, lambda: db.publish("t", "P")),
        (NotFoundError, lambda: db.unpublish("q")),
        (AlreadyExistsError, lambda: db.subscribe("p", "s")),
        (NameNotAllowedError, lambda: db.subscribe("p", "")),
        (PositionRefusedError, lambda: db.subscribe("p", "x", "yesterday")),
        (PositionRefusedError, lambda: db.subscribe("p", "x", 5)),
        (PositionRefusedError, lambda: db.subscribe("p", "x", -1)),
        (ConfigError, lambda: db.subscribe("p", "x", expire_after="soon")),
        (ConfigError, lambda: db.subscribe("p", "x", to={"kind": "ftp"})),
        (ConfigError, lambda: db.subscribe("p", "x", to={"kind": "webhook"})),
        (
            ConfigError,
            lambda: db.subscribe("p", "x", to={"kind": "webhook", "address": "http://h"}),
        ),
        (
            ConfigError,
            lambda: db.subscribe(
                "p",
                "x",
                to={"kind": "postgres", "address": "postgresql://u:pw@h/d", "table": "a.b"},
            ),
        ),
        (
            ConfigError,
            lambda: db.subscribe(
                "p", "x", to={"kind": "postgres", "address": "postgresql://h/d", "table": "b; DROP"}
            ),
        ),
        (
            PositionRefusedError,
            lambda: db.subscribe(
                "p",
                "x",
                "now",
                to={"kind": "postgres", "address": "postgresql://h/d", "table": "a.b"},
            ),
        ),
        (NotFoundError, lambda: db.unsubscribe("p", "x")),
        (NotFoundError, lambda: db.changes("p", "x")),
        (ConfigError, lambda: db.changes("p", "s", 0)),
        (PositionRefusedError, lambda: db.changes("p", "s", after=7)),
        (NotFoundError, lambda: db.push("q")),
    ]
    for kind, call in bad:
        with pytest.raises(kind) as caught:
            call()  # type: ignore[operator]  # each is a function
        assert caught.value.code
        assert "pw" not in str(caught.value)
    assert db.publications() == before


def test_a_table_without_rows_can_be_published_and_says_so(shelf: Shelf) -> None:
    shelf.db.publish("bag")
    assert shelf.db.publications()[0].state == "not-filled"
    with pytest.raises(NotFilledError):
        shelf.db.subscribe("bag", "s", "now")
    shelf.db.subscribe("bag", "s", "start")
    shelf.fill("bag", ("a",), ("a",))
    found = shelf.db.changes("bag", "s")
    assert applied(Counter(), found) == Counter({("a",): 2})
    assert found.key_columns is None
