"""Records: what goes in comes out, and nothing else is believed."""

from __future__ import annotations

import pickle
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamtables.compiler.backend.statement import Program, Step
from streamtables.compiler.maintenance import StateColumn, StateShape, VisibleState
from streamtables.compiler.plan_facts import PlanFacts
from streamtables.compiler.types import SqlType
from streamtables.positions import InputId
from streamtables.refresh.plan_cache.records import (
    DamagedRecordError,
    RecordName,
    _checksum,
    pack,
    unpack_facts,
    unpack_program,
)

NAME = RecordName(InputId("table"), "fingerprint", "facts")
STATE = StateShape(
    group=(("g", "shown"),),
    states=(
        StateColumn("__st_rows", SqlType("bigint"), "__st_rows"),
        StateColumn("s", SqlType("decimal(12,2)"), "p", "m"),
    ),
    copied=(VisibleState("shown", "g"), VisibleState("total", "s", "__st_rows")),
    single_row=False,
)
FACTS = PlanFacts(
    True, None, False, False, ("f",), "stored-state", ("g",), (("g", "shown"),), STATE
)
PROGRAM = Program(
    (Step("s", "SELECT 'Zoë'", True, False),), "SELECT 1", True, False, columns=("x",)
)


def test_facts_and_programs_come_back_equal():
    assert unpack_facts(NAME, pack(NAME, FACTS)) == FACTS
    assert unpack_program(NAME, pack(NAME, PROGRAM)) == PROGRAM


@pytest.mark.parametrize("key", [None, (), ("a", "b")])
def test_no_key_and_the_key_of_one_row_stay_different(key: tuple[str, ...] | None):
    facts = PlanFacts(False, "why", True, True, (), None, key, (), None)
    assert unpack_facts(NAME, pack(NAME, facts)) == facts


@given(st.data())
def test_a_record_with_any_other_byte_is_refused(data: st.DataObject):
    record = bytearray(pack(NAME, FACTS))
    place = data.draw(st.integers(0, len(record) - 1))
    record[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(DamagedRecordError):
        unpack_facts(NAME, bytes(record))


@given(st.data())
def test_a_record_that_was_cut_is_refused(data: st.DataObject):
    record = pack(NAME, PROGRAM)
    with pytest.raises(DamagedRecordError):
        unpack_program(NAME, record[: data.draw(st.integers(0, len(record) - 1))])


@pytest.mark.parametrize("part", ["table", "fingerprint", "part"])
def test_a_record_is_worth_nothing_under_another_name(part: str):
    other = RecordName(
        InputId("other" if part == "table" else "table"),
        "other" if part == "fingerprint" else "fingerprint",
        "other" if part == "part" else "facts",
    )
    with pytest.raises(DamagedRecordError):
        unpack_facts(other, pack(NAME, FACTS))


@pytest.mark.parametrize("body", [b"[]", b"{}", b'{"steps": 1}', b'{"sql": "x"}', b"not json"])
def test_a_record_of_another_shape_is_refused(body: bytes):
    packed = zlib.compress(body)
    record = _checksum(NAME, packed) + packed
    for unpack in (unpack_facts, unpack_program):
        with pytest.raises(DamagedRecordError):
            unpack(NAME, record)


class Trap:
    def __reduce__(self) -> tuple[object, ...]:
        return (print, ("a record ran code",))


def test_a_pickle_is_not_run(capsys: pytest.CaptureFixture[str]):
    packed = pickle.dumps(Trap())
    with pytest.raises(DamagedRecordError):
        unpack_facts(NAME, _checksum(NAME, packed) + packed)
    assert capsys.readouterr().out == ""
