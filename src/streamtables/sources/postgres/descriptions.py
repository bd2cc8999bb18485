"""The messages of pgoutput that are not rows: what tables and types are, and truncations.

They are few, so they are read one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from streamtables.errors import InternalError


@dataclass(frozen=True)
class RelationColumn:
    """A column as the stream describes it."""

    name: str
    in_identity: bool
    type_oid: int
    modifier: int
    type_name: str = ""
    """Of a type that is not the system's own: its name, or that of the type a domain stands on."""


@dataclass(frozen=True)
class Relation:
    """A table as the stream describes it, before the first change of it and after each ALTER."""

    oid: int
    schema: str
    name: str
    identity: str
    """`d` the primary key, `i` an index, `f` the whole row, `n` nothing."""
    columns: tuple[RelationColumn, ...]


@dataclass(frozen=True)
class Truncated:
    """Tables that lost all their rows at one point of the stream."""

    message: int
    relations: tuple[int, ...]


def read_truncated(number: int, message: bytes) -> Truncated:
    """Read a truncation, the message of this number."""
    count = int.from_bytes(message[1:5])
    if len(message) < 6 + 4 * count:
        raise cut_off()
    oids = (int.from_bytes(message[a : a + 4]) for a in range(6, 6 + 4 * count, 4))
    return Truncated(number, tuple(oids))


def read_type(message: bytes) -> tuple[int, str]:
    """Read the oid of a type and a name: of a domain, that of the type it stands on."""
    reader = _Reader(message, 1)
    oid, _schema, name = reader.number(4), reader.text(), reader.text()
    return oid, name


def read_relation(message: bytes, type_names: Mapping[int, str]) -> Relation:
    """Read the description of a table, with the types described before it."""
    reader = _Reader(message, 1)
    oid, schema, name = reader.number(4), reader.text(), reader.text()
    identity = chr(reader.number(1))
    columns = tuple(_column(reader, type_names) for _ in range(reader.number(2)))
    # The schema of the system's own tables is written as an empty text.
    return Relation(oid, schema or "pg_catalog", name, identity, columns)


def _column(reader: _Reader, type_names: Mapping[int, str]) -> RelationColumn:
    in_identity = bool(reader.number(1) & 1)
    name, type_oid = reader.text(), reader.number(4)
    modifier = reader.number(4, signed=True)
    return RelationColumn(name, in_identity, type_oid, modifier, type_names.get(type_oid, ""))


def cut_off() -> InternalError:
    """Return the error for a message that ends before it has said all."""
    return InternalError("a message of a slot ends too early")


class _Reader:
    def __init__(self, message: bytes, at: int) -> None:
        self._message = message
        self._at = at

    def number(self, size: int, *, signed: bool = False) -> int:
        if self._at + size > len(self._message):
            raise cut_off()
        value = int.from_bytes(self._message[self._at : self._at + size], signed=signed)
        self._at += size
        return value

    def text(self) -> str:
        end = self._message.find(0, self._at)
        if end < 0:
            raise cut_off()
        try:
            value = self._message[self._at : end].decode()
        except UnicodeDecodeError as error:
            raise InternalError("a name in the stream of a slot is not UTF-8 text") from error
        self._at = end + 1
        return value
