"""Changes of one table, folded into what its mirror applies, against plain rows in Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from struct import pack

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamtables.errors import TableDamagedError
from streamtables.sources.postgres.captured import Captured, Gathering, complete
from streamtables.sources.postgres.descriptions import Relation, RelationColumn
from streamtables.sources.postgres.facts import PgColumn, PgType
from streamtables.sources.postgres.pgoutput import Decoder, RowChanges
from streamtables.sources.postgres.reshaped import what_changed
from streamtables.sources.postgres.row_events import MirrorShape
from streamtables.sources.postgres.spool import Spool
from streamtables.sources.postgres.types import MirrorColumn
from tests.unit.sources.test_pgoutput import UNCHANGED, delete, insert, relation, update

INT4, TEXT = PgType(23, "int4", "integer", "b"), PgType(25, "text", "text", "b")
COLUMNS = (
    MirrorColumn("id", PgColumn("id", INT4, 1), "INT", pa.int32()),
    MirrorColumn("doc", PgColumn("doc", TEXT, 2), "STRING", pa.string()),
    MirrorColumn("n", PgColumn("n", TEXT, 3), "STRING", pa.string()),
)
KEYED, WHOLE = MirrorShape(COLUMNS, ("id",)), MirrorShape(COLUMNS)
TRUNCATE = b"T" + pack(">IBI", 1, 0, 5)
Row = tuple[object, ...]


def described(*, identity: str = "d", columns: Sequence[str] = ("id", "doc", "n")) -> bytes:
    return relation(5, *columns, identity=identity, types=(23, 25, 25, 25))


def captured(
    *messages: bytes, shape: MirrorShape = KEYED, identity: str = "d", fetch: int = 100
) -> Captured:
    stream = [described(identity=identity), *messages]
    decoder, gathering = Decoder(), Gathering(shape, Spool())
    for first in range(0, len(stream), fetch):
        found = decoder.decode(stream[first : first + fetch])
        cuts = [cut.message + first for cut in found.truncations]
        gathering.add([numbered(part, first) for part in found.changes], cuts)
    return gathering.captured()


def numbered(part: RowChanges, first: int) -> RowChanges:
    old = replace(part.old, messages=part.old.messages + first)
    new = replace(part.new, messages=part.new.messages + first)
    return replace(part, old=old, new=new)


def rows(table: pa.Table) -> list[Row]:
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def stored(*given_rows: Row) -> pa.Table:
    columns = zip(*given_rows, strict=True) if given_rows else ((), (), ())
    return pa.table(
        [pa.array(c, t) for c, t in zip(columns, WHOLE.schema.types, strict=True)],
        schema=WHOLE.schema,
    )


def test_nothing_happened() -> None:
    assert captured().empty
    assert captured(shape=WHOLE, identity="f").empty


def test_with_a_key_the_last_row_counts() -> None:
    found = captured(
        insert(5, 1, "a", "x"),
        update(5, (1, "b", "x")),
        insert(5, 2, "c", None),
        delete(5, 2, None, None),
    )
    assert rows(found.rows) == [(1, "b", "x", 1)]
    assert found.replaced is not None
    assert rows(found.replaced) == [(1,), (2,)]


def test_without_a_key_all_rows_count_with_their_sign() -> None:
    found = captured(
        insert(5, 1, "a", "x"),
        update(5, (1, "b", "x"), old=(1, "a", "x")),
        shape=WHOLE,
        identity="f",
    )
    assert sorted(rows(found.rows), key=str) == [
        (1, "a", "x", -1),
        (1, "a", "x", 1),
        (1, "b", "x", 1),
    ]
    assert found.replaced is None
    assert rows(complete(found, stored(), ())) == [(1, "b", "x", 1)]


def test_a_whole_old_row_has_what_the_new_one_does_not_repeat() -> None:
    change = update(5, (1, UNCHANGED, "y"), old=(1, "big", "x"))
    for shape, last in (
        (WHOLE, {(1, "big", "x", -1), (1, "big", "y", 1)}),
        (KEYED, {(1, "big", "y", 1)}),
    ):
        found = captured(change, shape=shape, identity="f")
        assert set(rows(found.rows)) == last
        assert found.unsent == {}


def test_a_value_is_followed_through_keys_to_the_mirror() -> None:
    found = captured(
        update(5, (2, UNCHANGED, "x"), old=(1, None, None)),
        update(5, (2, UNCHANGED, "y")),
        update(5, (3, UNCHANGED, "z"), old=(2, None, None)),
    )
    assert rows(found.unsent["doc"].keys) == [(1,)]
    signed = complete(found, stored((1, "big", "w")), ("id",))
    assert sorted(rows(signed)) == [(1, "big", "w", -1), (3, "big", "z", 1)]


def test_a_value_is_followed_to_the_row_that_had_the_key_then() -> None:
    found = captured(
        insert(5, 1, "first", "x"),
        update(5, (9, UNCHANGED, "x"), old=(1, None, None)),
        insert(5, 1, "second", "x"),
        update(5, (9, UNCHANGED, "y")),
        update(5, (1, UNCHANGED, "y")),
    )
    assert found.unsent == {}
    assert sorted(rows(found.rows)) == [(1, "second", "y", 1), (9, "first", "y", 1)]


def test_a_long_chain_is_followed_to_its_end() -> None:
    moves = (update(5, (n + 1, UNCHANGED, "x"), old=(n, None, None)) for n in range(50))
    found = captured(insert(5, 0, "big", "x"), *moves, fetch=7)
    assert found.unsent == {}
    assert rows(found.rows) == [(50, "big", "x", 1)]


def test_what_comes_before_a_truncation_is_void() -> None:
    for fetch in (1, 2, 100):
        found = captured(insert(5, 1, "a", "x"), TRUNCATE, insert(5, 2, "b", "x"), fetch=fetch)
        assert found.cleared
        assert rows(found.rows) == [(2, "b", "x", 1)]
        assert rows(complete(found, stored((7, "old", None)), ("id",))) == [
            (2, "b", "x", 1),
            (7, "old", None, -1),
        ]


def test_a_change_back_is_no_change() -> None:
    found = captured(update(5, (1, "b", "x")), update(5, (1, "a", "x")))
    assert complete(found, stored((1, "a", "x")), ("id",)).num_rows == 0


def test_a_row_that_the_mirror_lacks_is_damage() -> None:
    found = captured(update(5, (1, UNCHANGED, "x")))
    with pytest.raises(TableDamagedError, match="lacks rows"):
        complete(found, stored((2, "a", "x")), ("id",))


def test_a_table_that_is_altered_is_reported_once_and_for_all() -> None:
    found = captured(
        insert(5, 1, "a", "x"),
        described(columns=("id", "doc", "n", "more")),
        insert(5, 2, "a", "x", "y"),
        TRUNCATE,
        described(),
        insert(5, 3, "a", "x"),
    )
    assert found.reshaped == 'The table shop.t was altered: "more" added.'
    assert rows(found.rows) == [(1, "a", "x", 1)]
    assert not found.cleared


@pytest.mark.parametrize(
    ("identity", "named", "key", "said"),
    [
        ("d", {"id"}, ("id",), ""),
        ("f", {"id", "doc", "n"}, ("id",), ""),
        ("f", {"id", "doc", "n"}, (), ""),
        ("d", {"id"}, (), "as whole rows"),
        ("i", {"doc"}, ("id",), 'by "id"'),
        ("n", set(), ("id",), 'by "id"'),
    ],
)
def test_old_rows_have_to_come_as_the_mirror_needs_them(identity, named, key, said) -> None:
    listed = zip(COLUMNS, (23, 25, 25), strict=True)
    columns = tuple(RelationColumn(c.name, c.name in named, oid, -1) for c, oid in listed)
    found = what_changed(Relation(5, "shop", "t", identity, columns), COLUMNS, key)
    assert (said in found) if said else (found == "")


# A step: a key that is written, another one, whether the big value is written, and to what.
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["insert", "update", "move", "delete", "truncate"]),
        st.integers(0, 4),
        st.integers(0, 4),
        st.sampled_from([None, "a", "b", "same"]),
    ),
    max_size=25,
)


class Table:
    """A table with a key that sends its changes; a value that stays the same is not sent."""

    def __init__(self, start: dict[int, Row], identity: str) -> None:
        self.rows = dict(start)
        self.identity = identity
        self.sent: list[bytes] = []

    def step(self, what: str, key: int, other: int, doc: str | None) -> None:
        number = str(len(self.sent))
        if what == "truncate":
            self.rows.clear()
            self.sent.append(TRUNCATE)
        elif what == "insert" and key not in self.rows:
            self.rows[key] = (key, doc, number)
            self.sent.append(insert(5, key, doc, number))
        elif what == "delete" and key in self.rows:
            gone = self.rows.pop(key)
            old = gone if self.identity == "f" else (key, None, None)
            self.sent.append(delete(5, *old))
        elif what == "update" and key in self.rows:
            self._update(key, key, doc, number)
        elif what == "move" and key in self.rows and other not in self.rows:
            self._update(key, other, doc, number)

    def _update(self, key: int, to: int, doc: str | None, number: str) -> None:
        before = self.rows.pop(key)
        same = doc == "same"
        self.rows[to] = (to, before[1] if same else doc, number)
        new = (to, UNCHANGED if same and before[1] is not None else self.rows[to][1], number)
        whole = before if self.identity == "f" else (key, None, None)
        self.sent.append(update(5, new, old=whole if key != to or self.identity == "f" else None))


@given(
    st.dictionaries(st.integers(0, 4), st.sampled_from([None, "s", "t"])),
    st.lists(STEPS, min_size=1, max_size=3),
    st.sampled_from(["d", "f", "whole"]),
    st.sampled_from([1, 3, 100]),
)
def test_the_mirror_is_the_table_after_every_drain(start, drains, identity, fetch) -> None:
    table = Table(
        {key: (key, doc, "-") for key, doc in start.items()}, identity[0].replace("w", "f")
    )
    shape = WHOLE if identity == "whole" else KEYED
    mirror: dict[Row, int] = dict(Counter(table.rows.values()))
    for steps in drains:
        table.sent.clear()
        for step in steps:
            table.step(*step)
        found = captured(*table.sent, shape=shape, identity=table.identity, fetch=fetch)
        touched = {key for (key,) in rows(found.replaced)} if found.replaced is not None else set()
        read = [r for r in Counter(mirror).elements() if found.cleared or r[0] in touched]
        for *changed, weight in rows(complete(found, stored(*read), shape.key)):
            mirror[tuple(changed)] = mirror.get(tuple(changed), 0) + int(str(weight))
        assert all(weight >= 0 for weight in mirror.values())
        assert +Counter(mirror) == Counter(table.rows.values())
