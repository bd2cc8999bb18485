"""The records of a plan: its facts and programs as bytes, each with a checksum.

    record    sixteen bytes of checksum, then the compressed JSON
    checksum  over the whole name too, so that a record is worth nothing under another one

JSON, and no pickle: what others might have written is read, and never run.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import asdict, dataclass
from typing import Any

from streamtables.compiler.algebra.plain_conditions import PlainCondition
from streamtables.compiler.backend.statement import KeyValues, Lookup, Program, Step
from streamtables.compiler.maintenance import StateColumn, StateShape, VisibleState
from streamtables.compiler.plan_facts import PlanFacts
from streamtables.positions import InputId

FACTS = "facts"
_CHECKSUM_BYTES = 16


@dataclass(frozen=True)
class RecordName:
    """Under what a record is kept: the table, the fingerprint of the basis, and the part."""

    table_id: InputId
    fingerprint: str
    part: str

    @property
    def text(self) -> str:
        """The name in one line."""
        return f"{self.table_id}/{self.fingerprint}/{self.part}"


class DamagedRecordError(Exception):
    """A record is not what was written under its name; it is as if there were none."""


def pack(name: RecordName, value: PlanFacts | Program) -> bytes:
    """Return a value as the record of this name."""
    body = zlib.compress(json.dumps(asdict(value), separators=(",", ":")).encode())
    return _checksum(name, body) + body


def unpack_facts(name: RecordName, record: bytes) -> PlanFacts:
    """Return the facts that a record holds.

    Raises:
        DamagedRecordError: it is not such a record.
    """
    plain = _plain(name, record)
    try:
        plain["key_pairs"] = _pairs(plain["key_pairs"])
        plain["python_functions"] = tuple(plain["python_functions"])
        plain["key"] = None if plain["key"] is None else tuple(plain["key"])
        plain["hidden"] = tuple(plain["hidden"])
        plain["follows"] = None if plain["follows"] is None else tuple(plain["follows"])
        plain["state"] = None if plain["state"] is None else _state(plain["state"])
        return PlanFacts(**plain)
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedRecordError(f"the facts cannot be read: {error}") from error


def unpack_program(name: RecordName, record: bytes) -> Program:
    """Return the program that a record holds.

    Raises:
        DamagedRecordError: it is not such a record.
    """
    plain = _plain(name, record)
    try:
        plain["steps"] = tuple(Step(**step) for step in plain["steps"])
        plain["lookups"] = tuple(_lookup(item) for item in plain["lookups"])
        plain["keys"] = None if plain["keys"] is None else _key_values(plain["keys"])
        plain["columns"] = tuple(plain["columns"])
        return Program(**plain)
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedRecordError(f"the program cannot be read: {error}") from error


def _plain(name: RecordName, record: bytes) -> dict[str, Any]:
    checksum, body = record[:_CHECKSUM_BYTES], record[_CHECKSUM_BYTES:]
    if checksum != _checksum(name, body):
        raise DamagedRecordError("the checksum is wrong")
    try:
        plain = json.loads(zlib.decompress(body))
    except (zlib.error, ValueError) as error:
        raise DamagedRecordError(f"it is no compressed JSON: {error}") from error
    if not isinstance(plain, dict):
        raise DamagedRecordError("it holds no fields")
    return plain


def _checksum(name: RecordName, body: bytes) -> bytes:
    return hashlib.sha256(f"{name.text}\0".encode() + body).digest()[:_CHECKSUM_BYTES]


def _state(plain: dict[str, Any]) -> StateShape:
    copied = plain["copied"]
    return StateShape(
        group=_pairs(plain["group"]),
        states=tuple(StateColumn(**item) for item in plain["states"]),
        copied=None if copied is None else tuple(VisibleState(**item) for item in copied),
        single_row=plain["single_row"],
    )


def _lookup(plain: dict[str, Any]) -> Lookup:
    any_of = tuple(tuple(_key_values(item) for item in one) for one in plain.pop("any_of"))
    conditions = tuple(
        PlainCondition(**{**item, "constants": tuple(item["constants"])})
        for item in plain.pop("conditions")
    )
    columns = tuple(plain.pop("columns"))
    return Lookup(**plain, columns=columns, any_of=any_of, conditions=conditions)


def _key_values(plain: dict[str, Any]) -> KeyValues:
    return KeyValues(**{**plain, "held": _pairs(plain["held"])})


def _pairs(plain: list[list[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((inner, shown) for inner, shown in plain)
