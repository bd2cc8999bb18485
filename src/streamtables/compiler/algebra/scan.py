"""A scan reads some columns of one table, at one version.

    Δscan(T) = net(π_columns(changes of T))

Netting after the columns are cut makes an update of columns that nobody reads vanish by itself.
The trap: netting before the cut would keep both of its halves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from streamtables.compiler.algebra.node import (
    Column,
    Kind,
    Node,
    When,
    delta_rule,
    kind_of,
    may_change,
    node_at,
)
from streamtables.compiler.algebra.plain_conditions import PlainCondition
from streamtables.compiler.algebra.signed import Net
from streamtables.compiler.types import SqlType

Version = Literal["now", "before", "after", "changes"]


@dataclass(frozen=True)
class ScanColumn:
    """A column of a table, under the name it has inside the plan."""

    source: str
    name: str
    type: SqlType


@dataclass(frozen=True, eq=False)
class Scan(Node):
    """The rows of a table; its changes, signed, when the version is `changes`."""

    table: str
    fields: tuple[ScanColumn, ...]
    table_key: tuple[str, ...] | None
    version: Version = "now"
    # Whether a column of the table was left out, so that equal rows may have become more.
    pruned: bool = False
    # Whether the table is known to have no changes in this refresh.
    still: bool = False
    # The lookup whose rows are read in the place of the table; empty for the table itself.
    found: str = ""
    # What whoever reads the rows asks of them; a row that fails need not be found.
    conditions: tuple[PlainCondition, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(Column(field.name, field.type) for field in self.fields)

    @property
    def relation(self) -> str:
        """What is read of the table: a version of it, or the rows that a lookup found."""
        return self.found or self.version

    @property
    def signed(self) -> bool:
        return self.version == "changes"

    @property
    def key(self) -> tuple[str, ...] | None:
        """The declared key, when all of it is read."""
        if self.table_key is None:
            return None
        names = {field.source.lower(): field.name for field in self.fields}
        if any(column.lower() not in names for column in self.table_key):
            return None
        return tuple(names[column.lower()] for column in self.table_key)

    def with_inputs(self, *inputs: Node) -> Node:
        return self


@delta_rule.register
def delta_scan(scan: Scan) -> Node:
    """Return the table's changes, netted when columns were cut."""
    changes = replace(scan, version="changes")
    return Net(changes) if scan.pruned else changes


@node_at.register
def scan_at(scan: Scan, when: When) -> Node:
    """Return the scan of one version."""
    return replace(scan, version=when)


@may_change.register
def _(scan: Scan) -> bool:
    return not scan.still


@kind_of.register
def _(node: Scan) -> Kind:
    return "linear"
