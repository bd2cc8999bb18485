from __future__ import annotations

import pytest

from streamtables.catalog.names import check_name, name_key, not_found
from streamtables.errors import NameNotAllowedError


@pytest.mark.parametrize(
    "name", ["orders", "Sales.Orders", "_x", "a1", "2024_sales", "select", "after", "x" * 128]
)
def test_names_that_are_allowed(name):
    assert check_name(name) == name


@pytest.mark.parametrize(
    "name", ["", ".", "a.", ".a", "a.b.c", "a b", "a-b", "größe", 'a"b', "a\n", "x" * 129]
)
def test_names_with_a_wrong_form_are_refused_with_a_reason(name):
    with pytest.raises(NameNotAllowedError) as caught:
        check_name(name)
    assert caught.value.detail


@pytest.mark.parametrize(
    "name", ["__st_a", "__ST_a", "ns.__st_a", "__st_.a", "before.a", "After.a", "CHANGES.a"]
)
def test_reserved_names_are_refused_with_a_reason(name):
    with pytest.raises(NameNotAllowedError) as caught:
        check_name(name)
    assert caught.value.detail


def test_internal_tables_may_use_the_reserved_prefix():
    assert check_name("__st_orders_groups", internal=True)
    with pytest.raises(NameNotAllowedError):
        check_name("before.a", internal=True)


def test_names_that_differ_in_case_are_one():
    assert name_key("Sales.Orders") == name_key("sales.ORDERS")


def test_nothing_close_means_no_hint():
    assert not_found("source", "xyz", ["orders", "Customers"]).hint == (
        "There are: Customers, orders."
    )
    assert not_found("source", "xyz", []).hint == "There is no source yet."
    many = [f"t{number}" for number in range(10)]
    assert not_found("stream table", "xyz", many).hint == (
        "There are: t0, t1, t2, t3, t4, t5, t6, t7 and others."
    )
    assert not_found("source", "ORDER", ["Orders"]).hint == 'Did you mean "Orders"?'


def test_a_refusal_says_what_was_to_be_named():
    with pytest.raises(NameNotAllowedError, match="the name of a snapshot"):
        check_name("before-migration", kind="a snapshot")
