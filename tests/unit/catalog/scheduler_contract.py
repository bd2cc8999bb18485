"""What every catalog must do for the scheduler, whatever its database."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from sqlalchemy import select

from streamtables.catalog import Catalog
from streamtables.catalog.scheduler_models import (
    EVERYTHING,
    Event,
    Pause,
    SourceGate,
    SourceGroup,
    namespace_scope,
    pause_scopes,
)
from streamtables.catalog.scheduler_schema import epochs
from streamtables.positions import InputId
from tests.unit.catalog.builders import START, at, source, standing, stream_table


class LeaseContract:
    def test_one_process_leads_until_its_lease_expires(self, catalog: Catalog):
        first = catalog.lead("a:1", at(0), 30)
        assert first is not None
        assert (first.holder, first.term) == ("a:1", 1)
        assert catalog.lead("b:2", at(0.4), 30) is None
        later = catalog.lead("b:2", at(0.6), 30)
        assert later is not None
        assert (later.holder, later.term) == ("b:2", 2)
        assert catalog.lead("a:1", at(0.7), 30) is None

    def test_renewing_is_one_statement_and_brings_the_generation(self, catalog: Catalog):
        taken = catalog.lead("a:1", at(0), 30)
        catalog.add_source(source("orders"))
        before = catalog.queries
        renewed = catalog.lead("a:1", at(0.1), 30, {"running": 2})
        assert catalog.queries == before + 1
        assert taken is not None
        assert renewed is not None
        assert renewed.term == taken.term
        assert renewed.generation == catalog.generation() == taken.generation + 1
        assert renewed.expires_at == at(0.1) + timedelta(seconds=30)
        found = catalog.lease()
        assert found is not None
        assert found.facts == {"running": 2}

    def test_the_first_lease_of_all_has_its_facts_too(self, catalog: Catalog):
        taken = catalog.lead("a:1", at(0), 30, {"running": 2})
        assert taken is not None
        assert taken.facts == {"running": 2}
        assert catalog.lease() == taken

    def test_a_lease_that_is_given_up_is_free_at_once(self, catalog: Catalog):
        catalog.lead("a:1", at(0), 30)
        catalog.stop_leading("b:2", at(0.1))
        assert catalog.lead("b:2", at(0.1), 30) is None
        catalog.stop_leading("a:1", at(0.2))
        taken = catalog.lead("b:2", at(0.2), 30)
        assert taken is not None
        assert taken.term == 2

    def test_of_many_processes_one_leads(self, catalog: Catalog):
        with ThreadPoolExecutor(8) as threads:
            leases = list(threads.map(lambda n: catalog.lead(f"a:{n}", at(0), 30), range(16)))
        assert len([lease for lease in leases if lease is not None]) == 1


class RulesContract:
    def test_gates_groups_and_pauses_come_back_and_move_the_generation(self, catalog: Catalog):
        orders, lines = catalog.add_source(source("orders")), catalog.add_source(source("lines"))
        before = catalog.generation()
        gate = SourceGate(orders.id, "the load runs", START)
        group = SourceGroup("shop", (orders.id, lines.id), 60.0, until=at(3))
        pause = Pause(namespace_scope("Sales"), "month end", START)
        catalog.close_gate(gate)
        catalog.put_group(group)
        catalog.put_pause(pause)
        rules = catalog.rules()
        assert rules.gates == {orders.id: gate}
        assert rules.groups == (group,)
        assert rules.pauses == {"namespace:sales": pause}
        assert catalog.generation() == before + 3

    def test_what_is_put_twice_is_replaced_and_what_is_taken_back_is_gone(self, catalog: Catalog):
        orders = catalog.add_source(source("orders"))
        for reason in ("one", "two"):
            catalog.close_gate(SourceGate(orders.id, reason, START))
            catalog.put_pause(Pause(EVERYTHING, reason, START))
            catalog.put_group(SourceGroup("shop", (orders.id,), 1.0))
        assert catalog.rules().gates[orders.id].reason == "two"
        catalog.open_gate(orders.id)
        assert catalog.drop_pause(EVERYTHING)
        assert not catalog.drop_pause(EVERYTHING)
        assert catalog.drop_group("shop")
        assert catalog.rules() == type(catalog.rules())()

    def test_one_statement_says_whether_a_table_is_paused_and_why(self, catalog: Catalog):
        table = catalog.create_stream_table(stream_table("sales.t"), ())
        other = catalog.create_stream_table(stream_table("t"), ())
        scopes = pause_scopes("Sales")
        before = catalog.queries
        assert catalog.pause_of(table.id, scopes) is None
        assert catalog.queries == before + 1
        catalog.put_pause(Pause(namespace_scope("sales"), "month end", START))
        assert catalog.pause_of(table.id, scopes) == "month end"
        assert catalog.pause_of(table.id, ()) is None
        assert catalog.pause_of(other.id, pause_scopes("default")) is None
        catalog.drop_pause(namespace_scope("sales"))
        catalog.put_pause(Pause(EVERYTHING, "a move", START))
        assert catalog.pause_of(other.id, pause_scopes("default")) == "a move"
        catalog.drop_pause(EVERYTHING)
        catalog.set_state(table.id, "paused", "by name", at=START)
        assert catalog.pause_of(table.id, ()) == "by name"
        catalog.set_state(table.id, "suspended", "it failed", at=START)
        assert catalog.pause_of(table.id, scopes) is None

    def test_a_dropped_source_takes_its_gate_and_watermark_along(self, catalog: Catalog):
        orders = catalog.add_source(source("orders"))
        catalog.close_gate(SourceGate(orders.id, "closed", START))
        catalog.set_watermark(orders.id, at(1))
        catalog.drop_source("orders")
        assert catalog.rules().gates == {}
        assert catalog.watermarks([orders.id]) == {}

    def test_a_watermark_moves_without_moving_the_generation(self, catalog: Catalog):
        orders = catalog.add_source(source("orders"))
        before = catalog.generation()
        catalog.set_watermark(orders.id, at(1))
        catalog.set_watermark(orders.id, at(2))
        assert catalog.watermarks([orders.id, InputId("other")]) == {orders.id: at(2)}
        assert catalog.generation() == before


class EventsContract:
    def test_events_come_newest_first_and_by_subject(self, catalog: Catalog):
        catalog.record_events([])
        catalog.record_events([Event(at(0), "held", "a reason", "1", "revenue")])
        catalog.record_events([Event(at(1), "late", "another", "2", "orders")])
        assert [event.kind for event in catalog.events()] == ["late", "held"]
        assert [event.subject for event in catalog.events("1")] == ["revenue"]
        assert len(catalog.events(limit=1)) == 1


class EpochContract:
    def test_moves_come_newest_first_up_to_an_epoch(self, catalog: Catalog):
        table = catalog.create_stream_table(stream_table("revenue"), ())
        for sequence in (1, 2, 3):
            catalog.adopt_standing(table.id, standing(sequence, {"orders": sequence}))
            number = catalog.record_epoch([table.id], START)
            assert number == sequence == catalog.last_epoch()
        assert [move.epoch for move in catalog.epoch_moves([table.id])] == [3, 2, 1]
        newest = catalog.epoch_moves([table.id], upto=2)[0]
        assert (newest.delta_version, newest.base_frontier.to_dict()) == (1, {"orders": 2})

    def test_an_epoch_keeps_what_moved_since_the_last_one_whoever_moved_it(self, catalog: Catalog):
        first = catalog.create_stream_table(stream_table("first"), ())
        other = catalog.create_stream_table(stream_table("other"), ())
        empty = catalog.create_stream_table(stream_table("empty"), ())
        assert catalog.record_epoch([first.id, other.id, empty.id], START) is None
        catalog.adopt_standing(first.id, standing(1, {"orders": 1}))
        catalog.adopt_standing(other.id, standing(1, {"orders": 1}))
        assert catalog.record_epoch([first.id], START) == 1
        assert catalog.record_epoch([first.id], START) is None
        assert catalog.record_epoch([first.id, other.id], START) == 2
        assert [move.epoch for move in catalog.epoch_moves([first.id, other.id])] == [2, 1]

    def test_a_frontier_that_moves_without_a_commit_is_in_an_epoch(self, catalog: Catalog):
        table = catalog.create_stream_table(stream_table("revenue"), ())
        for orders in (1, 2):
            catalog.adopt_standing(table.id, standing(1, {"orders": orders}))
            catalog.record_epoch([table.id], START)
        found = [move.base_frontier.to_dict() for move in catalog.epoch_moves([table.id])]
        assert found == [{"orders": 2}, {"orders": 1}]

    def test_epochs_that_are_recorded_at_once_have_each_a_number(self, catalog: Catalog):
        tables = [catalog.create_stream_table(stream_table(f"t{n}"), ()) for n in range(8)]
        for table in tables:
            catalog.adopt_standing(table.id, standing(1, {"orders": 1}))
        with ThreadPoolExecutor(8) as threads:
            numbers = list(threads.map(lambda t: catalog.record_epoch([t.id], START), tables))
        assert {*numbers} == {*range(1, 9)}

    def test_pruning_keeps_the_last_move_of_each_table(self, catalog: Catalog):
        still = catalog.create_stream_table(stream_table("still"), ())
        moving = catalog.create_stream_table(stream_table("moving"), ())
        catalog.adopt_standing(still.id, standing(1, {}))
        catalog.record_epoch([still.id], START)
        for sequence in range(1, 6):
            catalog.adopt_standing(moving.id, standing(sequence, {}))
            catalog.record_epoch([moving.id], START)
        assert catalog.prune_epochs(keep=2) == 3
        assert [move.epoch for move in catalog.epoch_moves([still.id])] == [1]
        # The numbers go with the moves, but for those that still have one; the next goes on.
        with catalog._database.reading() as connection:
            kept = connection.execute(select(epochs.c.number).order_by(epochs.c.number)).scalars()
            assert list(kept) == [1, 5, 6]
        assert catalog.record_epoch([moving.id], START) is None
        assert catalog.last_epoch() == 6
        assert [move.epoch for move in catalog.epoch_moves([moving.id])] == [6, 5]
