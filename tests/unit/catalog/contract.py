"""What a catalog does on every database; `catalog` is a fixture of the file that runs it."""

from __future__ import annotations

import dataclasses
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from streamtables.catalog import Catalog, Step, new_id
from streamtables.catalog.cancellations import Cancellation
from streamtables.catalog.library_changes import LibraryChange, Recompiled
from streamtables.catalog.models import FileFolder
from streamtables.catalog.source_heads import Head
from streamtables.errors import (
    AlreadyExistsError,
    CommitConflictError,
    CycleError,
    InternalError,
    InUseError,
    NameNotAllowedError,
    NotFoundError,
)
from streamtables.positions import OF_NO_QUERY, Frontier, RefreshId, Version, of_gone_table
from tests.unit.catalog.builders import (
    at,
    function,
    reads,
    record,
    source,
    standing,
    stream_table,
    view,
)


class DefinitionContract:
    def test_a_source_comes_back_as_it_was_added(self, catalog: Catalog):
        orders = catalog.add_source(source("Orders"))
        assert catalog.source("orders") == orders
        assert catalog.source(orders.id) == orders
        assert catalog.sources() == (orders,)

    def test_a_stream_table_comes_back_as_it_was_created(self, catalog: Catalog):
        orders = catalog.add_source(source("orders"))
        table = stream_table("sales.revenue", options={"merge_strategy": "auto", "n": 2})
        stored = catalog.create_stream_table(table, reads(orders))
        assert stored == dataclasses.replace(table, generation=2, inputs=reads(orders))
        assert catalog.stream_table("SALES.Revenue") == stored
        assert catalog.stream_table(table.id) == stored

    def test_a_bag_and_a_one_row_table_stay_different(self, catalog: Catalog):
        catalog.create_stream_table(stream_table("bag", key_columns=None), ())
        catalog.create_stream_table(stream_table("one_row", key_columns=()), ())
        assert catalog.stream_table("bag").key_columns is None
        assert catalog.stream_table("one_row").key_columns == ()

    def test_the_heads_of_sources_only_grow_until_they_are_made_anew(self, catalog: Catalog):
        orders, items = (catalog.add_source(source(name)) for name in ("orders", "items"))
        first = {orders.id: Head(Version(3), "a"), items.id: Head(Version(1), "b")}
        catalog.note_heads(first)
        catalog.note_heads({})
        assert catalog.heads({orders.id, items.id}) == first
        catalog.note_heads({orders.id: Head(Version(2), "c"), items.id: Head(Version(5), "d")})
        assert catalog.heads({orders.id, items.id}) == {
            orders.id: first[orders.id],
            items.id: Head(Version(5), "d"),
        }
        catalog.update_source(orders, rebuild="it was put back", at=at(1), made_anew=True)
        assert catalog.heads({orders.id, items.id}) == {items.id: Head(Version(5), "d")}
        catalog.drop_source("items")
        assert catalog.heads({orders.id, items.id}) == {}
        with pytest.raises(NotFoundError):
            catalog.note_heads({items.id: Head(Version(6), "e")})

    def test_folders_of_files_come_and_go_with_their_sources(self, catalog: Catalog):
        orders, items = source("orders", kind="files"), source("items", kind="files")
        folder = FileFolder(orders.id, "/landing", "csv", "*.csv", "id INT", {"sep": ";"})
        catalog.add_file_folder(orders, folder)
        with pytest.raises(AlreadyExistsError):
            catalog.add_file_folder(
                dataclasses.replace(items, name="Orders"),
                FileFolder(items.id, "s3://lake/items", "json"),
            )
        assert catalog.file_folders() == {orders.id: folder}
        assert catalog.file_folders([items.id]) == {}
        assert catalog.source("orders").is_mirror
        catalog.drop_source("orders")
        assert catalog.file_folders() == {}

    def test_heads_are_noted_by_many_at_a_time(self, catalog: Catalog):
        orders = catalog.add_source(source("orders"))
        heads = [{orders.id: Head(Version(number), f"m{number}")} for number in range(8)]
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(catalog.note_heads, heads))
        assert catalog.heads({orders.id}) == heads[-1]

    def test_whoever_stands_on_a_table_made_anew_stands_for_none_of_its_versions(
        self, catalog: Catalog
    ):
        orders = catalog.add_source(source("orders"))
        paused = catalog.create_stream_table(stream_table("paused", state="paused"), reads(orders))
        active = catalog.create_stream_table(stream_table("active"), reads(orders))
        for table in (paused, active):
            stands = standing(1, {orders.id: 4})
            catalog.adopt_standing(table.id, stands)
        catalog.update_source(orders, rebuild="made anew", at=at(1), made_anew=True)
        found = {table.name: catalog.standing(table.id) for table in (paused, active)}
        for stands_now in found.values():
            assert stands_now is not None
            assert stands_now.base_frontier == Frontier({orders.id: of_gone_table(Version(4))})
        assert found["paused"] is not None
        assert found["paused"].query_hash == OF_NO_QUERY
        assert catalog.stream_table("paused").state == "paused"
        assert catalog.stream_table("active").state == "needs-rebuild"

    def test_one_name_is_a_source_or_a_stream_table(self, catalog: Catalog):
        catalog.add_source(source("orders"))
        catalog.create_stream_table(stream_table("revenue"), ())
        with pytest.raises(AlreadyExistsError, match='the source "orders"'):
            catalog.create_stream_table(stream_table("ORDERS"), (), replace=True)
        with pytest.raises(AlreadyExistsError, match='the stream table "revenue"'):
            catalog.add_source(source("Revenue"))
        with pytest.raises(AlreadyExistsError):
            catalog.add_source(source("orders"))

    def test_names_are_checked(self, catalog: Catalog):
        with pytest.raises(NameNotAllowedError):
            catalog.add_source(source("__st_orders"))
        with pytest.raises(NameNotAllowedError):
            catalog.create_stream_table(stream_table("before.orders"), ())
        assert catalog.generation() == 0

    def test_an_unknown_name_gets_the_closest_one(self, catalog: Catalog):
        catalog.create_stream_table(stream_table("Revenue"), ())
        with pytest.raises(NotFoundError) as caught:
            catalog.stream_table("revenu")
        assert caught.value.hint == 'Did you mean "Revenue"?'
        with pytest.raises(NotFoundError, match='no source "revenue"'):
            catalog.source("revenue")

    def test_each_change_moves_the_generation_and_a_refused_one_does_not(self, catalog: Catalog):
        catalog.add_source(source("orders"))
        table = catalog.create_stream_table(stream_table("a"), ())
        catalog.set_state(table.id, "paused", "asked for", at=at(1))
        assert catalog.generation() == 3
        with pytest.raises(AlreadyExistsError):
            catalog.add_source(source("a"))
        assert catalog.generation() == 3

    def test_a_source_that_is_read_cannot_be_dropped(self, catalog: Catalog):
        orders = catalog.add_source(source("orders"))
        table = catalog.create_stream_table(stream_table("a"), reads(orders))
        with pytest.raises(InUseError, match='read by "a"'):
            catalog.drop_source("orders")
        catalog.drop_stream_table(table.id)
        assert catalog.drop_source("orders") == orders
        assert catalog.sources() == ()

    def test_an_input_must_exist(self, catalog: Catalog):
        with pytest.raises(NotFoundError):
            catalog.create_stream_table(stream_table("a"), reads(source("gone")))
        assert catalog.stream_tables() == ()

    def test_a_cycle_is_refused_with_its_path(self, catalog: Catalog):
        orders = catalog.add_source(source("orders"))
        a = catalog.create_stream_table(stream_table("a"), reads(orders))
        b = catalog.create_stream_table(stream_table("b"), reads(a))
        c = catalog.create_stream_table(stream_table("c"), reads(b, orders))
        with pytest.raises(CycleError) as caught:
            catalog.alter_stream_table(a.id, at=at(1), inputs=reads(c))
        steps = caught.value.detail.removeprefix("Each reads the next: ").removesuffix(".")
        path = steps.split(" → ")
        assert path[0] == path[-1]
        assert set(pairwise(path)) == {("a", "c"), ("c", "b"), ("b", "a")}
        with pytest.raises(CycleError):
            catalog.create_stream_table(stream_table("a"), reads(a), replace=True)

    def test_dependants_come_in_dependency_order(self, catalog: Catalog):
        orders = catalog.add_source(source("orders"))
        top = catalog.create_stream_table(stream_table("z_first"), reads(orders))
        left = catalog.create_stream_table(stream_table("left_side"), reads(top))
        right = catalog.create_stream_table(stream_table("right_side"), reads(top))
        last = catalog.create_stream_table(stream_table("a_last"), reads(left, right))
        names = [table.name for table in catalog.dependants(orders.id)]
        assert names[0] == "z_first"
        assert names[-1] == "a_last"
        definitions = catalog.snapshot().definitions
        assert definitions.roots(last.id) == {orders.id}
        assert {table.name for table in definitions.ancestors(last.id)} == set(names[:-1])

    def test_alter_changes_only_what_is_named(self, catalog: Catalog):
        orders = catalog.add_source(source("orders"))
        table = catalog.create_stream_table(stream_table("a"), reads(orders))
        altered = catalog.alter_stream_table(
            table.id, at=at(1), name="b", schedule="1 minute", options={"x": True}
        )
        assert altered == dataclasses.replace(
            table,
            name="b",
            schedule="1 minute",
            options={"x": True},
            altered_at=at(1),
            generation=3,
        )
        assert catalog.stream_table("b") == altered
        with pytest.raises(NotFoundError):
            catalog.stream_table("a")

    def test_alter_cannot_take_a_name_that_is_taken(self, catalog: Catalog):
        catalog.add_source(source("orders"))
        table = catalog.create_stream_table(stream_table("a"), ())
        with pytest.raises(AlreadyExistsError):
            catalog.alter_stream_table(table.id, at=at(1), name="orders")
        assert catalog.alter_stream_table(table.id, at=at(1), name="A").name == "A"

    def test_a_new_query_marks_the_table_for_rebuild_unless_it_is_paused(self, catalog: Catalog):
        table = catalog.create_stream_table(stream_table("a"), ())
        altered = catalog.alter_stream_table(table.id, at=at(1), defining_query_hash="other")
        assert altered.state == "needs-rebuild"
        paused = catalog.set_state(table.id, "paused", "asked for", at=at(2))
        assert paused.state_reason == "asked for"
        altered = catalog.alter_stream_table(table.id, at=at(3), defining_query_hash="third")
        assert altered.state == "paused"

    def test_rows_of_the_last_query_do_not_fill_the_table(self, catalog: Catalog):
        table = catalog.create_stream_table(stream_table("a", defining_query_hash="one"), ())
        assert catalog.snapshot().needs_fill(table.id)
        catalog.adopt_standing(table.id, standing(1, {}, query_hash="one"))
        assert not catalog.snapshot().needs_fill(table.id)
        catalog.alter_stream_table(table.id, at=at(1), query="…", defining_query_hash="two")
        # A leader that has not seen the new query lands one more refresh of the last one.
        assert catalog.adopt_standing(table.id, standing(2, {}, query_hash="one"))
        assert catalog.snapshot().needs_fill(table.id)

    def test_replace_keeps_identity_and_standing(self, catalog: Catalog):
        orders = catalog.add_source(source("orders"))
        first = catalog.create_stream_table(stream_table("a"), reads(orders))
        reader = catalog.create_stream_table(stream_table("b"), reads(first))
        catalog.adopt_standing(first.id, standing(1, {"orders": 1}))
        new = stream_table("A", query="SELECT 2", defining_query_hash="other", location="/new")
        second = catalog.create_stream_table(new, (), replace=True)
        assert (second.id, second.location) == (first.id, first.location)
        assert (second.query, second.inputs, second.state) == ("SELECT 2", (), "needs-rebuild")
        assert catalog.stream_table("a") == second
        assert catalog.dependants(first.id) == (catalog.stream_table(reader.id),)
        assert catalog.standing(first.id) == standing(1, {"orders": 1})

    def test_replace_by_the_same_query_needs_no_rebuild(self, catalog: Catalog):
        catalog.create_stream_table(stream_table("a"), ())
        again = catalog.create_stream_table(stream_table("a", schedule="1 hour"), (), replace=True)
        assert (again.state, again.schedule) == ("active", "1 hour")

    def test_drop_takes_everything_along(self, catalog: Catalog):
        table = catalog.create_stream_table(stream_table("a"), ())
        catalog.finish_refresh(record(table.id, state="applied"), standing(1, {}))
        assert catalog.drop_stream_table(table.id) == (table,)
        assert catalog.stream_tables() == ()
        assert catalog.standings() == {}
        assert catalog.history(table.id) == ()

    def test_a_table_that_is_read_is_dropped_by_cascade_only(self, catalog: Catalog):
        a = catalog.create_stream_table(stream_table("a"), ())
        b = catalog.create_stream_table(stream_table("b"), reads(a))
        c = catalog.create_stream_table(stream_table("c"), reads(b))
        with pytest.raises(InUseError, match='read by "b", "c"'):
            catalog.drop_stream_table(a.id)
        assert catalog.drop_stream_table(a.id, cascade=True) == (c, b, a)

    def test_internal_tables_live_and_go_with_their_owner(self, catalog: Catalog):
        orders = catalog.add_source(source("orders"))
        state = stream_table("__st_a_groups")
        owner = catalog.create_stream_table(
            stream_table("a"), reads(state), internal=[(state, reads(orders))]
        )
        assert catalog.stream_tables() == (owner,)
        stored = catalog.stream_table(state.id)
        assert (stored.owner_id, stored.generation) == (owner.id, owner.generation)
        assert catalog.stream_tables(internal=True) == (stored, owner)
        with pytest.raises(InUseError, match='belongs to "a"'):
            catalog.drop_stream_table(state.id)
        assert catalog.drop_stream_table(owner.id) == (owner, stored)

    def test_replace_and_alter_exchange_the_internal_tables(self, catalog: Catalog):
        orders = catalog.add_source(source("orders"))
        first, second = stream_table("__st_a_groups"), stream_table("__st_a_values")
        owner = catalog.create_stream_table(
            stream_table("a"), reads(first), internal=[(first, reads(orders))]
        )
        catalog.alter_stream_table(owner.id, at=at(1), schedule="1 hour")
        assert catalog.stream_table(first.id).inputs == reads(orders)
        again = stream_table("__st_a_groups")
        catalog.create_stream_table(
            stream_table("a"),
            reads(again, second),
            replace=True,
            internal=[(again, reads(orders)), (second, reads(orders))],
        )
        ids = {table.id for table in catalog.stream_tables(internal=True)}
        assert ids == {owner.id, again.id, second.id}

    def test_dropping_by_cascade_takes_the_owner_of_an_internal_reader(self, catalog: Catalog):
        below = catalog.create_stream_table(stream_table("below"), ())
        state = stream_table("__st_a_groups")
        catalog.create_stream_table(
            stream_table("a"), reads(state), internal=[(state, reads(below))]
        )
        with pytest.raises(InUseError):
            catalog.drop_stream_table(below.id)
        dropped = catalog.drop_stream_table(below.id, cascade=True)
        assert [table.name for table in dropped] == ["a", "__st_a_groups", "below"]

    def test_changes_from_many_threads_are_all_kept(self, catalog: Catalog):
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda n: catalog.add_source(source(f"s{n}")), range(24)))
        assert catalog.generation() == 24
        assert len(catalog.sources()) == 24

    def test_of_many_threads_one_gets_the_name(self, catalog: Catalog):
        def attempt(_: int) -> bool:
            try:
                catalog.add_source(source("wanted"))
            except AlreadyExistsError:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(attempt, range(16))) == 1


class LibraryContract:
    def test_views_and_functions_come_back_as_they_were_put(self, catalog: Catalog):
        big, plus = view("Big"), function("plus", deterministic=False)
        for entry in (big, plus):
            catalog.put(LibraryChange(entry, catalog.generation()), at=at(0))
        definitions = catalog.snapshot().definitions
        assert definitions.view("big") == big
        assert definitions.function("PLUS") == plus
        assert (catalog.views(), catalog.functions()) == ((big,), (plus,))

    def test_a_replaced_view_changes_its_users_in_the_same_transaction(self, catalog: Catalog):
        inner = view("inner")
        catalog.put(LibraryChange(inner, 0), at=at(0))
        outer = view("outer", uses=(inner.id,))
        catalog.put(LibraryChange(outer, 1), at=at(0))
        table = catalog.create_stream_table(stream_table("t", uses=(inner.id, outer.id)), ())
        other = dataclasses.replace(inner, query="SELECT 2")
        user = dataclasses.replace(outer, altered_at=at(1))
        changed = Recompiled(table.id, {"defining_query_hash": "other"}, ())
        catalog.put(LibraryChange(other, 3, [user], [changed]), at=at(1))
        assert catalog.views() == (other, user)
        assert catalog.stream_table("t").defining_query_hash == "other"
        assert catalog.stream_table("t").state == "needs-rebuild"

    def test_what_was_compiled_from_other_definitions_is_not_stored(self, catalog: Catalog):
        catalog.add_source(source("orders"))
        with pytest.raises(CommitConflictError):
            catalog.put(LibraryChange(view("v"), 0), at=at(0))
        assert catalog.views() == ()

    def test_a_view_takes_a_name_from_tables_and_a_function_does_not(self, catalog: Catalog):
        catalog.add_source(source("orders"))
        with pytest.raises(AlreadyExistsError, match='the source "orders"'):
            catalog.put(LibraryChange(view("Orders"), 1), at=at(0))
        catalog.put(LibraryChange(view("v"), 1), at=at(0))
        with pytest.raises(AlreadyExistsError, match='the view "v"'):
            catalog.add_source(source("V"))
        catalog.put(LibraryChange(function("v"), 2), at=at(0))
        with pytest.raises(AlreadyExistsError):
            catalog.put(LibraryChange(function("V"), 3), at=at(0))

    def test_what_is_used_stays(self, catalog: Catalog):
        orders = catalog.add_source(source("orders"))
        plus = function("plus")
        catalog.put(LibraryChange(plus, 1), at=at(0))
        big = view("big", uses=(orders.id, plus.id))
        catalog.put(LibraryChange(big, 2), at=at(0))
        uses = (big.id, plus.id)
        catalog.create_stream_table(stream_table("t", uses=uses), reads(orders))
        with pytest.raises(InUseError, match='stream table "t"'):
            catalog.drop_view("big")
        with pytest.raises(InUseError, match='stream table "t", view "big"'):
            catalog.drop_function("plus")
        with pytest.raises(InUseError, match='"big", "t"'):
            catalog.drop_source("orders")
        catalog.drop_stream_table(catalog.stream_table("t").id)
        assert catalog.drop_view("BIG") == big
        assert catalog.drop_function("plus") == plus
        with pytest.raises(NotFoundError):
            catalog.drop_view("big")
        with pytest.raises(NotFoundError):
            catalog.create_stream_table(stream_table("u", uses=uses), ())


class PositionContract:
    def test_a_standing_comes_back_as_it_was_recorded(self, catalog: Catalog):
        table = catalog.create_stream_table(stream_table("a"), ())
        assert catalog.standing(table.id) is None
        there = standing(1, {"orders": 7, "customers": 2})
        assert catalog.adopt_standing(table.id, there)
        assert catalog.standing(table.id) == there
        assert catalog.standings() == {table.id: there}

    def test_a_standing_never_goes_back(self, catalog: Catalog):
        table = catalog.create_stream_table(stream_table("a"), ())
        assert catalog.adopt_standing(table.id, standing(2, {"orders": 7}))
        assert not catalog.adopt_standing(table.id, standing(1, {"orders": 9}))
        assert not catalog.adopt_standing(table.id, standing(2, {"orders": 6}))
        stranger = standing(2, {"orders": 9}, refresh_id=RefreshId("another"))
        assert not catalog.adopt_standing(table.id, stranger)
        assert catalog.standing(table.id) == standing(2, {"orders": 7})
        assert catalog.adopt_standing(table.id, standing(2, {"orders": 8}))
        # A later commit stands for less where another leader moved the frontier without a commit.
        assert catalog.adopt_standing(table.id, standing(3, {"orders": 7}))

    def test_of_many_threads_the_latest_standing_stays(self, catalog: Catalog):
        table = catalog.create_stream_table(stream_table("a"), ())
        with ThreadPoolExecutor(8) as pool:
            list(
                pool.map(
                    lambda n: catalog.adopt_standing(table.id, standing(n, {"orders": n})),
                    range(1, 25),
                )
            )
        assert catalog.standing(table.id) == standing(24, {"orders": 24})

    def test_a_standing_needs_its_table(self, catalog: Catalog):
        with pytest.raises(NotFoundError):
            catalog.adopt_standing(new_id(), standing(1, {}))
        with pytest.raises(NotFoundError):
            catalog.begin_refresh(record(new_id()))


class RefreshContract:
    def test_a_refresh_is_recorded_from_begin_to_end(self, catalog: Catalog):
        table = catalog.create_stream_table(stream_table("a"), ())
        begun = record(table.id)
        catalog.begin_refresh(begun)
        assert catalog.running_refreshes() == (begun,)
        ended = dataclasses.replace(
            begun,
            state="applied",
            mode="differential",
            reason_code="changes",
            to_frontier=Frontier.from_dict({"orders": 3}),
            rows_inserted=2,
            seconds=0.25,
            steps=(Step("apply", 0.1, {"files": 2}),),
            notes=("ünïcode",),
            finished_at=at(0.01),
        )
        assert catalog.finish_refresh(ended, standing(1, {"orders": 3}))
        assert catalog.running_refreshes() == ()
        assert catalog.history(table.id) == (ended,)
        assert catalog.standing(table.id) == standing(1, {"orders": 3})

    def test_a_failed_refresh_leaves_the_standing(self, catalog: Catalog):
        table = catalog.create_stream_table(stream_table("a"), ())
        catalog.adopt_standing(table.id, standing(1, {"orders": 3}))
        assert catalog.finish_refresh(record(table.id, state="failed", error_code="ST-3001"), None)
        assert catalog.standing(table.id) == standing(1, {"orders": 3})

    def test_a_refresh_that_ends_late_keeps_its_record_and_the_newer_standing(
        self, catalog: Catalog
    ):
        table = catalog.create_stream_table(stream_table("a"), ())
        late = record(table.id)
        catalog.begin_refresh(late)
        catalog.adopt_standing(table.id, standing(2, {"orders": 5}))
        late = dataclasses.replace(late, state="applied")
        assert not catalog.finish_refresh(late, standing(1, {"orders": 3}))
        assert catalog.history(table.id) == (late,)
        assert catalog.standing(table.id) == standing(2, {"orders": 5})

    def test_a_refresh_of_a_dropped_table_records_nothing(self, catalog: Catalog):
        table = catalog.create_stream_table(stream_table("a"), ())
        begun = record(table.id)
        catalog.begin_refresh(begun)
        catalog.drop_stream_table(table.id)
        with pytest.raises(NotFoundError):
            catalog.finish_refresh(begun, standing(1, {}))
        with pytest.raises(NotFoundError):
            catalog.record_no_change(record(table.id, state="no-change"))

    def test_a_refresh_begins_once(self, catalog: Catalog):
        table = catalog.create_stream_table(stream_table("a"), ())
        begun = record(table.id)
        catalog.begin_refresh(begun)
        with pytest.raises(InternalError):
            catalog.begin_refresh(begun)

    def test_a_time_without_a_zone_is_a_bug(self, catalog: Catalog):
        with pytest.raises(InternalError):
            catalog.add_source(source("orders", added_at=at(1).replace(tzinfo=None)))

    def test_no_change_can_move_the_frontier(self, catalog: Catalog):
        table = catalog.create_stream_table(stream_table("a"), ())
        catalog.adopt_standing(table.id, standing(1, {"orders": 3}))
        assert catalog.record_no_change(record(table.id, state="no-change"))
        moved = standing(1, {"orders": 4})
        assert catalog.record_no_change(record(table.id, state="no-change"), moved)
        assert catalog.standing(table.id) == moved
        assert len(catalog.history(table.id)) == 2

    def test_many_threads_end_refreshes_of_one_table(self, catalog: Catalog):
        table = catalog.create_stream_table(stream_table("a"), ())

        def refresh(n: int) -> None:
            begun = record(table.id, sequence=n)
            catalog.begin_refresh(begun)
            catalog.finish_refresh(
                dataclasses.replace(begun, state="applied"), standing(n, {"orders": n})
            )

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(refresh, range(1, 33)))
        assert catalog.standing(table.id) == standing(32, {"orders": 32})
        assert len(catalog.history(table.id)) == 32
        assert catalog.running_refreshes() == ()

    def test_running_refreshes_are_found_by_process(self, catalog: Catalog):
        table = catalog.create_stream_table(stream_table("a"), ())
        for process in ("host:1", "host:12", "ho%t:1"):
            catalog.begin_refresh(record(table.id, process=process))
        assert len(catalog.running_refreshes("host:")) == 2
        assert len(catalog.running_refreshes("ho%t:")) == 1
        assert len(catalog.running_refreshes()) == 3

    def test_what_runs_is_asked_to_stop_once_and_forgotten_with_its_record(self, catalog: Catalog):
        a = catalog.create_stream_table(stream_table("a"), ())
        b = catalog.create_stream_table(stream_table("b"), ())
        of_a, of_b = record(a.id), record(b.id)
        for running in (of_a, of_b):
            catalog.begin_refresh(running)
        catalog.record_no_change(record(a.id, state="no-change"))
        ann, bob = Cancellation("user ann", at(1)), Cancellation("user bob", at(2))
        assert catalog.ask_to_cancel([a.id], ann) == (of_a.id,)
        assert set(catalog.ask_to_cancel(None, bob)) == {of_a.id, of_b.id}
        assert catalog.cancellations([of_a.id, of_b.id]) == {of_a.id: ann, of_b.id: bob}
        assert catalog.ask_to_cancel([], bob) == ()
        catalog.finish_refresh(dataclasses.replace(of_a, state="cancelled"), None)
        assert catalog.refresh_states([of_a.id, of_b.id]) == {
            of_a.id: "cancelled",
            of_b.id: "running",
        }
        assert catalog.ask_to_cancel([a.id], bob) == ()
        catalog.prune_history(keep=0)
        assert catalog.cancellations([of_a.id, of_b.id]) == {of_b.id: bob}

    def test_history_is_newest_first_and_pruned_per_table(self, catalog: Catalog):
        a = catalog.create_stream_table(stream_table("a"), ())
        b = catalog.create_stream_table(stream_table("b"), ())
        for minute in range(5):
            catalog.record_no_change(record(a.id, state="no-change", started_at=at(minute)))
        catalog.record_no_change(record(b.id, state="no-change"))
        catalog.begin_refresh(record(a.id, started_at=at(-9)))
        assert [r.started_at for r in catalog.history(a.id, limit=2)] == [at(4), at(3)]
        assert catalog.prune_history(keep=2) == 3
        assert [r.started_at for r in catalog.history(a.id)] == [at(4), at(3), at(-9)]
        assert len(catalog.history(b.id)) == 1

    def test_the_last_refresh_of_each_table_is_found(self, catalog: Catalog):
        a, b, c = (catalog.create_stream_table(stream_table(name), ()) for name in "abc")
        for table in (a, b):
            for minute in (1, 3, 2):
                catalog.begin_refresh(record(table.id, started_at=at(minute)))
        newest = record(b.id, started_at=at(9), state="failed", finished_at=at(10))
        catalog.finish_refresh(newest, None)
        found = catalog.last_refreshes()
        assert set(found) == {a.id, b.id}
        assert c.id not in found
        assert found[a.id] == catalog.history(a.id, 1)[0]
        assert found[b.id] == newest

    def test_refreshes_are_counted_by_minute_and_state(self, catalog: Catalog):
        a, b = (catalog.create_stream_table(stream_table(name), ()) for name in "ab")
        for table, minute, state in (
            (a, 0.9, "applied"),
            (a, 2.1, "applied"),
            (b, 2.9, "applied"),
            (b, 2.5, "failed"),
            (b, 61.0, "running"),
        ):
            catalog.begin_refresh(record(table.id, started_at=at(minute), state=state))
        assert catalog.refreshes_per_minute(at(1)) == [
            (at(2), "applied", 2),
            (at(2), "failed", 1),
            (at(61), "running", 1),
        ]
        assert catalog.refreshes_per_minute(at(62)) == []

    def test_the_mark_moves_with_each_start_and_end(self, catalog: Catalog):
        table = catalog.create_stream_table(stream_table("a"), ())
        marks = [catalog.activity_mark()]
        begun = record(table.id, started_at=at(1))
        catalog.begin_refresh(begun)
        marks.append(catalog.activity_mark())
        catalog.finish_refresh(dataclasses.replace(begun, state="failed", finished_at=at(2)), None)
        marks.append(catalog.activity_mark())
        catalog.set_state(table.id, "paused", "a reason", at=at(3))
        marks.append(catalog.activity_mark())
        assert len(set(marks)) == 4
        assert catalog.activity_mark() == marks[-1]


class PlanRecordContract:
    def test_a_record_comes_back_under_its_whole_name_only(self, catalog: Catalog):
        a = catalog.create_stream_table(stream_table("a"), ())
        b = catalog.create_stream_table(stream_table("b"), ())
        kept = bytes(range(256))
        catalog.put_plan_record(a.id, "one", "facts", kept)
        before = catalog.queries
        assert catalog.plan_record(a.id, "one", "facts") == kept
        assert catalog.queries - before == 1
        assert catalog.plan_record(a.id, "two", "facts") is None
        assert catalog.plan_record(a.id, "one", "query") is None
        assert catalog.plan_record(b.id, "one", "facts") is None

    def test_a_record_takes_the_place_of_the_one_before(self, catalog: Catalog):
        a = catalog.create_stream_table(stream_table("a"), ())
        for kept in (b"old", b"new"):
            catalog.put_plan_record(a.id, "one", "facts", kept)
        assert catalog.plan_record(a.id, "one", "facts") == b"new"
        assert catalog.plan_record_count() == 1

    def test_another_fingerprint_takes_those_of_the_table_away(self, catalog: Catalog):
        a = catalog.create_stream_table(stream_table("a"), ())
        b = catalog.create_stream_table(stream_table("b"), ())
        for part in ("facts", "query"):
            catalog.put_plan_record(a.id, "one", part, b"a")
        catalog.put_plan_record(b.id, "one", "facts", b"b")
        catalog.put_plan_record(a.id, "two", "facts", b"a")
        assert catalog.plan_record(a.id, "one", "query") is None
        assert catalog.plan_record(b.id, "one", "facts") == b"b"
        assert catalog.plan_record_count() == 2

    def test_records_go_with_their_table_and_do_not_come_back(self, catalog: Catalog):
        a = catalog.create_stream_table(stream_table("a"), ())
        catalog.put_plan_record(a.id, "one", "facts", b"a")
        catalog.drop_stream_table(a.id)
        catalog.put_plan_record(a.id, "one", "facts", b"late")
        assert catalog.plan_record_count() == 0

    def test_keeping_and_clearing_records_is_no_change_of_a_definition(self, catalog: Catalog):
        a = catalog.create_stream_table(stream_table("a"), ())
        generation = catalog.generation()
        catalog.put_plan_record(a.id, "one", "facts", b"a")
        assert (catalog.clear_plan_records(), catalog.plan_record_count()) == (1, 0)
        assert catalog.generation() == generation

    def test_processes_that_keep_the_same_at_once_all_succeed(self, catalog: Catalog):
        a = catalog.create_stream_table(stream_table("a"), ())

        def keep(number: int) -> None:
            catalog.put_plan_record(a.id, "one", f"part-{number % 3}", b"a")

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(keep, range(40)))
        assert catalog.plan_record_count() == 3


class SnapshotContract:
    def test_a_snapshot_costs_one_statement_while_nothing_is_defined(self, catalog: Catalog):
        orders = catalog.add_source(source("orders"))
        table = catalog.create_stream_table(stream_table("a"), reads(orders))
        first = catalog.snapshot()
        catalog.adopt_standing(table.id, standing(1, {"orders": 1}))
        before = catalog.queries
        second = catalog.snapshot()
        assert catalog.queries - before == 1
        assert second.definitions is first.definitions
        assert first.standings == {}
        assert second.standings == {table.id: standing(1, {"orders": 1})}

    def test_a_snapshot_after_a_change_costs_two_statements(self, catalog: Catalog):
        catalog.snapshot()
        orders = catalog.add_source(source("orders"))
        table = catalog.create_stream_table(stream_table("a"), reads(orders))
        before = catalog.queries
        snapshot = catalog.snapshot()
        assert catalog.queries - before == 2
        assert snapshot.generation == 2
        assert snapshot.sources == {orders.id: orders}
        assert snapshot.stream_tables == {table.id: table}

    def test_recording_no_change_costs_one_statement_and_its_transaction(self, catalog: Catalog):
        table = catalog.create_stream_table(stream_table("a"), ())
        before = catalog.queries
        catalog.record_no_change(record(table.id, state="no-change"))
        assert catalog.queries - before <= 2
