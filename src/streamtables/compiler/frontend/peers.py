"""Window aggregates that depend on the order of rows, over frames that take peers together.

Peers are rows that share the user's order.  All of them see one value, so the order among them must
be chosen: the rows are added up one by one in an order without ties, and every peer shows what
stands at the last of them (at the first, where a frame begins with the current row).

    sum(x) OVER (PARTITION BY g ORDER BY d)
      =  max_by(s, n) OVER (PARTITION BY g ORDER BY d RANGE BETWEEN CURRENT ROW AND CURRENT ROW)
    where s, n = sum(x), row_number() OVER (PARTITION BY g ORDER BY d, ties ROWS ...)

The trap: who is a peer is the user's order's business alone (NULLs are, 0.0 and -0.0 are, spellings
of collated text are), while the order among peers must tell such values apart.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from streamtables.compiler.algebra import Column, Node

_Bounds = tuple[str, str]

_UP_TO_HERE: _Bounds = ("UNBOUNDED PRECEDING", "CURRENT ROW")
_FROM_HERE: _Bounds = ("CURRENT ROW", "UNBOUNDED FOLLOWING")
_ALL: _Bounds = ("UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING")
_OWN: _Bounds = ("CURRENT ROW", "CURRENT ROW")
_PICKERS: dict[_Bounds, str | None] = {_UP_TO_HERE: "max_by", _FROM_HERE: "min_by", _ALL: None}


@dataclass(frozen=True)
class ByRows:
    """A frame of peers, row by row."""

    frame: exp.WindowSpec
    picker: str | None
    """What finds the peer whose value all show; None where all rows of a partition show one."""


def by_rows(frame: exp.WindowSpec | None) -> ByRows | None:
    """Return the frame of rows that has, at one of the peers, the rows of a frame of peers.

    There is none for frames that begin or end in a distance from the current row.
    """
    bounds = _UP_TO_HERE if frame is None else (_bound(frame, "start"), _bound(frame, "end"))
    return ByRows(_frame("ROWS", bounds), _PICKERS[bounds]) if bounds in _PICKERS else None


def _bound(frame: exp.WindowSpec, which: str) -> str:
    # A frame of one bound ends with the current row.
    value, side = frame.args.get(which) or "CURRENT ROW", frame.args.get(f"{which}_side") or ""
    return f"{value} {side}".strip().upper()


def _frame(kind: str, bounds: _Bounds) -> exp.WindowSpec:
    (start, start_side), (end, end_side) = map(_value_and_side, bounds)
    return exp.WindowSpec(kind=kind, start=start, start_side=start_side, end=end, end_side=end_side)


def _value_and_side(bound: str) -> tuple[str, str | None]:
    value, _, side = bound.partition(" ")
    return (bound, None) if bound == "CURRENT ROW" else (value, side)


def own_peers() -> exp.WindowSpec:
    """Return the frame of a row and its peers."""
    return _frame("RANGE", _OWN)


def identity(node: Node) -> tuple[Column, ...]:
    """Return the columns that tell the rows of a relation apart: its key, else all of them."""
    key = node.key
    return tuple(item for item in node.columns if key is None or item.name in key)
