"""The dag answers like plain walks over the edges, however it came about."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import combinations, product
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamtables.catalog import dependencies
from streamtables.errors import CycleError, InUseError, NotFoundError
from streamtables.observe.counts import Counts
from streamtables.positions import InputId
from streamtables.scheduler import dag_rows
from streamtables.scheduler.dag import Dag, DagHolder
from streamtables.scheduler.shared_map import SharedMap

Edges = dict[InputId, tuple[InputId, ...]]

TABLES = tuple(map(InputId, "abcdefg"))
SOURCES = tuple(map(InputId, "xyz"))


def graph(**edges: str) -> Edges:
    """Each table with the inputs it reads, one letter each."""
    return {InputId(table): tuple(map(InputId, inputs)) for table, inputs in edges.items()}


def node(name: str) -> InputId:
    return InputId(name)


DIAMOND = graph(a="x", b="a", c="ay", d="bc", e="y")


def assert_answers(dag: Dag, edges: Mapping[InputId, Collection[InputId]]) -> None:
    """Every answer of the dag is what the edges say."""
    nodes = edges.keys() | {name for inputs in edges.values() for name in inputs}
    above = {name: dependencies.ancestors(edges, name) for name in nodes}
    assert len(dag) == len(dag._names) == len(nodes)
    assert dag.sources == nodes - edges.keys()
    assert sorted(dag.order) == sorted(edges)
    for name in nodes:
        assert dag.ancestors(name) == above[name]
        assert dag.descendants(name) == dependencies.dependants(edges, name)
        assert dag.inputs(name) == tuple(sorted(set(edges.get(name, ()))))
        assert dag.roots(name) == {top for top in above[name] | {name} if top not in edges}
        inputs = set(edges.get(name, ()))
        assert dag.closes_diamond(name) == any(
            (above[one] | {one}) & (above[other] | {other})
            for one, other in combinations(inputs, 2)
        )
    for one, other in product(nodes, repeat=2):
        assert dag.reaches(one, other) == (one in above[other])
        shared = (above[one] | {one}) & (above[other] | {other})
        assert dag.shares_ancestor(one, other) == bool(shared)


def assert_same(dag: Dag, other: Dag) -> None:
    assert dag.levels() == other.levels()
    assert dag.order == other.order
    assert dag.sources == other.sources
    assert dag.diamonds() == other.diamonds()


@st.composite
def acyclic_edges(draw: st.DrawFn) -> Edges:
    """Each table reads some of the sources and of the tables before it."""
    tables = draw(st.permutations(TABLES))
    count = draw(st.integers(0, len(tables)))
    return {
        table: tuple(draw(st.sets(st.sampled_from(SOURCES + tuple(tables[:at])), max_size=4)))
        for at, table in enumerate(tables[:count])
    }


changes = st.lists(
    st.tuples(
        st.sampled_from(TABLES), st.none() | st.sets(st.sampled_from(TABLES + SOURCES), max_size=3)
    ),
    max_size=25,
)


@given(edges=acyclic_edges())
def test_a_built_dag_answers_what_the_edges_say(edges: Edges):
    assert_answers(Dag.build(edges), edges)


@given(edges=acyclic_edges(), changes=changes)
def test_after_any_edits_a_dag_equals_a_full_build(edges: Edges, changes):
    dag = Dag.build(edges)
    for table, inputs in changes:
        if inputs is None:
            dag = dropped(dag, edges, table)
        else:
            dag = altered(dag, edges, table, tuple(inputs))
        assert_same(dag, Dag.build(edges))
        assert_answers(dag, edges)
    assert_same(dag.repacked(), dag)


def dropped(dag: Dag, edges: Edges, table: InputId) -> Dag:
    if table not in edges:
        return dag
    if any(table in inputs for inputs in edges.values()):
        with pytest.raises(InUseError):
            dag.without(table)
        return dag
    del edges[table]
    return dag.without(table)


def altered(dag: Dag, edges: Edges, table: InputId, inputs: tuple[InputId, ...]) -> Dag:
    if dependencies.find_cycle({**edges, table: inputs}):
        with pytest.raises(CycleError):
            dag.with_table(table, inputs)
        return dag
    edges[table] = inputs
    return dag.with_table(table, inputs)


@given(edges=acyclic_edges(), table=st.sampled_from(TABLES), source=st.sampled_from(SOURCES))
def test_an_edit_makes_new_rows_only_for_what_it_concerns(edges: Edges, table, source):
    before = Dag.build(edges)
    after = before.with_table(table, [source])
    below = dependencies.dependants({**edges, table: (source,)}, table)
    concerned = {table, source, *edges.get(table, ()), *below}
    for name, row in before._rows.items():
        if name not in concerned:
            assert after._rows.get(name) is row
    for name, row in after._rows.items():
        known = before._rows.get(name)
        assert known is None or known.position == row.position


@given(edges=acyclic_edges(), table=st.sampled_from(TABLES))
def test_an_edit_leaves_the_dag_that_it_started_from(edges: Edges, table):
    before = Dag.build(edges)
    before.with_table(table, [InputId("new")])
    assert_answers(before, edges)


@given(edges=acyclic_edges(), changed=st.sets(st.sampled_from(TABLES + SOURCES)))
def test_affected_are_all_descendants_each_after_what_it_reads(edges: Edges, changed):
    found = Dag.build(edges).affected(changed)
    assert set(found) == {
        below for name in changed for below in dependencies.dependants(edges, name)
    }
    place = {name: at for at, name in enumerate(found)}
    assert all(
        place[name] < at for table, at in place.items() for name in edges[table] if name in place
    )
    assert len(place) == len(found)


def test_levels_hold_tables_by_name_above_all_that_they_read():
    dag = Dag.build(DIAMOND)
    assert dag.levels() == (("a", "e"), ("b", "c"), ("d",))
    assert dag.order == ("a", "e", "b", "c", "d")


def test_a_table_without_inputs_is_no_source():
    dag = Dag.build(graph(a="", b="a"))
    assert dag.sources == frozenset()
    assert dag.levels() == (("a",), ("b",))


def test_a_diamond_closes_where_two_inputs_stand_on_one_node():
    dag = Dag.build(DIAMOND)
    assert dag.diamonds() == {"d"}
    assert dag.shares_ancestor(node("b"), node("c"))
    assert not dag.shares_ancestor(node("b"), node("e"))


def test_an_input_that_another_input_reads_closes_a_diamond():
    assert Dag.build(graph(a="x", b="xa")).diamonds() == {"b"}


def test_a_cycle_is_shown_as_a_whole_path():
    with pytest.raises(CycleError) as build:
        Dag.build(graph(a="xc", b="a", c="b"))
    assert build.value.message.endswith(": a → c → b → a")
    with pytest.raises(CycleError) as edit:
        Dag.build(graph(a="x", b="a", c="b")).with_table(node("a"), [node("x"), node("c")])
    assert edit.value.message.endswith(": a → c → b → a")
    with pytest.raises(CycleError) as alone:
        Dag.build({}).with_table(node("a"), [node("a")])
    assert alone.value.message.endswith(": a → a")


def test_a_source_goes_with_its_last_reader():
    dag = Dag.build(graph(a="xy", b="x"))
    assert node("y") not in dag.without(node("a"))
    assert node("x") in dag.without(node("a"))
    assert node("x") not in dag.without(node("a")).with_table(node("b"), [node("y")])


def test_a_table_that_is_read_cannot_go_and_says_by_whom():
    with pytest.raises(InUseError, match='"a" is read by 2, first by "b"'):
        Dag.build(DIAMOND).without(node("a"))


def test_a_source_cannot_be_taken_from_its_readers():
    with pytest.raises(InUseError):
        Dag.build(DIAMOND).without(node("x"))


@pytest.mark.parametrize("ask", [Dag.ancestors, Dag.descendants, Dag.roots, Dag.without])
def test_what_is_not_there_is_not_found(ask):
    with pytest.raises(NotFoundError):
        ask(Dag.build(DIAMOND), node("nowhere"))


def test_a_source_that_nobody_reads_affects_nothing():
    assert Dag.build(DIAMOND).affected([node("nowhere")]) == ()


def test_a_walk_ends_where_nothing_changes_any_more():
    """`b` reads `x` already, so only `a` learns of it anew."""
    before = Dag.build(graph(a="y", b="ax", c="b"))
    after = before.with_table(node("a"), [node("y"), node("x")])
    assert after._rows[node("b")] is before._rows[node("b")]
    assert after._rows[node("c")] is before._rows[node("c")]
    edit = before._edit()
    edit.set_inputs(node("a"), (node("x"), node("y")))
    assert edit.rows.keys() == {"a", "x"}


def test_a_descendant_is_settled_after_all_its_inputs_whatever_the_names():
    """`a` reads `c` and comes before `b` by name, but stands on it."""
    dag = Dag.build(graph(c="xy", b="c", a="bc")).with_table(node("c"), [node("y")])
    assert dag.roots(node("a")) == {"y"}
    assert dag.with_table(node("c"), [node("d")]).with_table(node("d"), [node("y")]).levels() == (
        ("d",),
        ("c",),
        ("b",),
        ("a",),
    )


def test_positions_of_dropped_tables_stay_empty_until_a_repack():
    dag = Dag.build({InputId(f"t{n:03}"): (node("x"),) for n in range(300)})
    for table in dag.order[:-5]:
        dag = dag.without(table)
    holder = DagHolder(dag)
    assert holder.needs_repack
    assert holder.repack()
    packed = holder.current
    assert not packed.needs_repack
    assert_same(packed, dag)


def test_a_repack_gives_way_again_and_again_and_a_build_does_not(monkeypatch: pytest.MonkeyPatch):
    turns: list[float] = []
    monkeypatch.setattr(dag_rows, "sleep", turns.append)
    dag = Dag.build({InputId(f"t{n:03}"): (node("x"),) for n in range(300)})
    assert turns == []
    assert_same(dag.repacked(), dag)
    assert len(turns) > 10
    assert set(turns) == {0}


def test_few_empty_positions_are_not_worth_a_repack():
    dag = Dag.build(DIAMOND).without(node("d")).without(node("e"))
    assert not dag.needs_repack


def test_a_repack_does_not_undo_a_change_made_meanwhile():
    changed = Dag.build(graph(b="y"))

    class Slow(Dag):
        def repacked(self) -> Dag:
            holder.replace(changed)
            return Dag.build(DIAMOND)

    holder = DagHolder(Slow.build(DIAMOND))
    assert not holder.repack()
    assert holder.current is changed


def test_a_reader_waits_for_no_lock_of_writers_or_of_metrics():
    holder, counts = DagHolder(Dag.build(DIAMOND)), Counts()
    found: list[tuple[InputId, ...]] = []
    reader = Thread(target=lambda: found.append(tuple(holder.current.affected([node("x")]))))
    with counts._lock, holder._writing:
        reader.start()
        reader.join(10)
        assert not reader.is_alive()
    assert found == [tuple(Dag.build(DIAMOND).affected([node("x")]))]


@given(
    entries=st.dictionaries(st.integers(0, 600), st.integers()),
    edits=st.lists(st.dictionaries(st.integers(0, 600), st.none() | st.integers())),
)
def test_a_shared_map_is_a_dict_that_stays_as_it_was(entries, edits):
    found: SharedMap[int, int] = SharedMap(entries)
    expected = dict(entries)
    for edit in edits:
        before = dict(found.items())
        after = found.edited(edit)
        assert dict(found.items()) == before
        kept = {**expected, **edit}
        expected = {key: value for key, value in kept.items() if value is not None}
        found = after
        assert dict(found.items()) == expected
        assert len(found) == len(expected)
        assert all((key in found) == (key in expected) for key in edit)
