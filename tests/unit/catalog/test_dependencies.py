from __future__ import annotations

from itertools import pairwise

from streamtables.catalog.dependencies import (
    Edges,
    ancestors,
    dependants,
    find_cycle,
    roots,
    topological_order,
)
from streamtables.positions import InputId


def graph(**edges: str) -> Edges:
    """Each table with the inputs it reads, one letter each."""
    return {InputId(table): tuple(map(InputId, inputs)) for table, inputs in edges.items()}


DIAMOND = graph(d="bc", c="as", b="a", a="r")


def test_order_puts_every_table_after_what_it_reads():
    assert topological_order(DIAMOND) == ("a", "b", "c", "d")


def test_order_does_not_depend_on_how_the_edges_are_given():
    assert topological_order(dict(reversed(list(DIAMOND.items())))) == topological_order(DIAMOND)


def test_ancestors_and_dependants_reach_through_others():
    assert ancestors(DIAMOND, InputId("d")) == set("abcrs")
    assert dependants(DIAMOND, InputId("r")) == set("abcd")
    assert dependants(DIAMOND, InputId("s")) == set("cd")
    assert dependants(DIAMOND, InputId("d")) == set()


def test_roots_are_the_sources():
    assert roots(DIAMOND, InputId("d")) == set("rs")
    assert roots(DIAMOND, InputId("b")) == set("r")


def test_a_cycle_is_a_path_from_reader_to_read():
    path = find_cycle(graph(a="c", b="a", c="b", x="a"))
    assert path is not None
    assert path[0] == path[-1]
    assert set(pairwise(path)) == {("a", "c"), ("c", "b"), ("b", "a")}


def test_a_table_that_reads_itself_is_a_cycle():
    assert find_cycle(graph(a="a")) == ("a", "a")


def test_no_cycle():
    assert find_cycle(DIAMOND) is None
