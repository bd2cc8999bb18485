"""Messages of a logical slot, read back from what a server would have written."""

from __future__ import annotations

from collections.abc import Sequence
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamtables.errors import InternalError
from streamtables.sources.postgres.descriptions import RelationColumn
from streamtables.sources.postgres.pgoutput import Decoder, Tuples

UNCHANGED = object()
Value = object
"""A text, None, or UNCHANGED."""


def begin(xid: int, *, lsn: int = 7, micros: int = 0) -> bytes:
    return b"B" + pack(">qqI", lsn, micros, xid)


def relation(
    oid: int,
    *columns: str,
    name: str = "t",
    identity: str = "d",
    types: Sequence[int] = range(20, 99),
) -> bytes:
    listed = b"".join(
        pack(">B", number == 0) + column.encode() + b"\0" + pack(">Ii", kind, -1)
        for number, (column, kind) in enumerate(zip(columns, types, strict=False))
    )
    head = pack(">I", oid) + b"shop\0" + name.encode() + b"\0" + identity.encode()
    return b"R" + head + pack(">H", len(columns)) + listed


def row(*values: Value) -> bytes:
    return pack(">H", len(values)) + b"".join(map(_value, values))


def _value(value: Value) -> bytes:
    if value is None or value is UNCHANGED:
        return b"n" if value is None else b"u"
    data = str(value).encode()
    return b"t" + pack(">I", len(data)) + data


def insert(oid: int, *values: Value) -> bytes:
    return b"I" + pack(">I", oid) + b"N" + row(*values)


def update(oid: int, new: Sequence[Value], old: Sequence[Value] | None = None) -> bytes:
    before = b"" if old is None else b"O" + row(*old)
    return b"U" + pack(">I", oid) + before + b"N" + row(*new)


def delete(oid: int, *key: Value) -> bytes:
    return b"D" + pack(">I", oid) + b"K" + row(*key)


def rows(tuples: Tuples) -> list[tuple[object, ...]]:
    columns = [column.text().to_pylist() for column in tuples.columns]
    return list(zip(tuples.messages.tolist(), *columns, strict=True))


def test_nothing_is_nothing() -> None:
    nothing = Decoder().decode([])
    assert nothing.changes == ()
    assert nothing.transactions.xids.tolist() == []


def test_a_table_is_described_with_its_identity_and_types() -> None:
    stream = [relation(5, "id", "größe"), insert(5, "1", "a")]
    [change] = Decoder().decode(stream).changes
    table = change.relation
    assert (table.oid, table.schema, table.name, table.identity) == (5, "shop", "t", "d")
    assert table.columns == (
        RelationColumn("id", True, 20, -1),
        RelationColumn("größe", False, 21, -1),
    )


def test_inserts_updates_and_deletes_keep_their_order() -> None:
    stream = [
        begin(9),
        relation(5, "id", "s"),
        insert(5, "1", "one"),
        update(5, ("1", None)),
        update(5, ("2", "two"), old=("1", None)),
        delete(5, "2", None),
    ]
    [change] = Decoder().decode(stream).changes
    assert rows(change.new) == [(2, "1", "one"), (3, "1", None), (4, "2", "two")]
    assert rows(change.old) == [(4, "1", None), (5, "2", None)]
    assert change.updated.tolist() == [3, 4]


def test_values_that_were_not_sent_are_told_from_null() -> None:
    [change] = (
        Decoder()
        .decode([relation(5, "id", "doc"), update(5, ("1", UNCHANGED)), update(5, ("2", None))])
        .changes
    )
    assert change.new.columns[1].unchanged.tolist() == [True, False]
    assert change.new.columns[1].text().to_pylist() == [None, None]


def test_transactions_have_their_commit_in_time_and_in_the_log() -> None:
    far = 0x16_B374D848
    found = Decoder().decode([begin(77, lsn=12, micros=1_000_000), begin(2**32 - 1, lsn=far)])
    begun = found.transactions
    assert begun.xids.tolist() == [77, 2**32 - 1]
    assert begun.commit_lsns.tolist() == [12, far]
    assert begun.commit_times_us.tolist() == [946_684_801_000_000, 946_684_800_000_000]
    assert begun.messages.tolist() == [0, 1]


def test_a_type_that_is_not_the_system_s_has_its_name() -> None:
    domain = b"Y" + pack(">I", 21) + b"pg_catalog\0int4\0"
    [change] = Decoder().decode([domain, relation(5, "id", "small"), insert(5, "1", "2")]).changes
    assert [column.type_name for column in change.relation.columns] == ["", "int4"]


def test_a_truncation_names_all_its_tables() -> None:
    [cut] = Decoder().decode([b"T" + pack(">IBII", 2, 1, 5, 6)]).truncations
    assert (cut.message, cut.relations) == (0, (5, 6))


def test_a_table_that_is_altered_on_the_way_has_two_shapes() -> None:
    stream = [
        relation(5, "id"),
        insert(5, "1"),
        relation(5, "id", "new"),
        insert(5, "2", "x"),
    ]
    first, second = Decoder().decode(stream).changes
    assert rows(first.new) == [(1, "1")]
    assert rows(second.new) == [(3, "2", "x")]


def test_a_description_holds_for_later_fetches() -> None:
    decoder = Decoder()
    decoder.decode([relation(5, "id")])
    [change] = decoder.decode([insert(5, "1")]).changes
    assert rows(change.new) == [(0, "1")]
    with pytest.raises(InternalError, match="not described"):
        Decoder().decode([insert(5, "1")])


@pytest.mark.parametrize(
    "wrong",
    [
        insert(5, "1", "too many"),
        b"I" + pack(">I", 5) + b"N" + pack(">H", 1) + b"b" + pack(">I", 1) + b"1",
        b"U" + pack(">I", 5) + b"X" + row("1"),
    ],
    ids=["width", "binary", "no row"],
)
def test_what_the_format_does_not_allow_is_not_guessed(wrong: bytes) -> None:
    with pytest.raises(InternalError):
        Decoder().decode([relation(5, "id"), wrong])


VALUES = st.one_of(
    st.none(), st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
)


@given(st.lists(st.tuples(st.sampled_from([5, 6]), VALUES, VALUES), max_size=30))
def test_rows_of_tables_in_turn_come_back_as_they_were(given_rows) -> None:
    stream = [relation(5, "a", "b"), relation(6, "a", "b", name="other")]
    stream += [insert(oid, a, b) for oid, a, b in given_rows]
    found = {change.relation.oid: rows(change.new) for change in Decoder().decode(stream).changes}
    for oid in (5, 6):
        expected = [(n, a, b) for n, (o, a, b) in enumerate(given_rows, start=2) if o == oid]
        assert found.get(oid, []) == expected
