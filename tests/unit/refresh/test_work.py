"""What is known of the work of a refresh before it runs."""

from __future__ import annotations

from streamtables.compiler.backend.statement import KeyValues, Lookup
from streamtables.refresh.work import tables_passed


def lookup(view: str, table: str, *held: str) -> Lookup:
    return Lookup(view, table, ("k",), ((KeyValues("k", tuple((item, "k") for item in held)),),))


def test_a_table_is_passed_once_for_each_turn() -> None:
    lookups = [
        lookup("now", "f", "changes"),
        lookup("old", "f", "changes"),
        lookup("names", "d", "now", "changes"),
        lookup("again", "f", "names"),
    ]
    assert tables_passed(lookups) == ["f", "d", "f"]
    assert tables_passed([]) == []
