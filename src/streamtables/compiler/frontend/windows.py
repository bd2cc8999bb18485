"""Binding of window functions: one node for each set of PARTITION BY columns.

A function that depends on the order of equal rows gets tie-breakers at the end of its ORDER BY;
rank, dense_rank, percent_rank, cume_dist and RANGE frames keep the user's order as it is.  Where
such a function has a RANGE frame, a second node shows all peers what one of them has (`peers`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from streamtables.compiler.algebra import Node, Projection, Window, WindowCall
from streamtables.compiler.frontend import functions
from streamtables.compiler.frontend.binding import Binding, column
from streamtables.compiler.frontend.expressions import check_types, function_name
from streamtables.compiler.frontend.key_types import check_key_type
from streamtables.compiler.frontend.own_aggregates import is_floating, own_type
from streamtables.compiler.frontend.peers import by_rows, identity, own_peers
from streamtables.compiler.frontend.probes import with_column
from streamtables.compiler.frontend.tie_breakers import tie_breakers, without_repeats
from streamtables.compiler.frontend.typing import Types, type_of
from streamtables.compiler.types import (
    BIGINT,
    DOUBLE,
    INT,
    UNKNOWN,
    SqlType,
    has_plain_image,
    is_decimal,
    is_integer,
)
from streamtables.errors import SqlTypeError

_RANKS = frozenset({"rank", "dense_rank", "percent_rank", "cume_dist"})
_BY_POSITION = frozenset({"row_number", "ntile", "lag", "lead", "nth_value"})
_BY_POSITION |= functions.FIRST | functions.LAST
_TIED = functions.TWO_ARGUMENTS | {"mode"}
"""Calls for which rows can be equally good; over groups the ties are broken, here they are not."""
_COLLECTED = functions.ORDER_DEPENDENT - _BY_POSITION
_TYPES: dict[str, SqlType] = {
    "row_number": INT,
    "rank": INT,
    "dense_rank": INT,
    "ntile": INT,
    "percent_rank": DOUBLE,
    "cume_dist": DOUBLE,
}


def windows_in(expression: exp.Expr) -> list[exp.Window]:
    """Return the window calls of an expression."""
    return list(expression.find_all(exp.Window))


def name_windows(select: exp.Select) -> exp.Select:
    """Return a SELECT in which every OVER w is written out."""
    named = {item.this.name.lower(): item for item in select.args.get("windows") or ()}
    if not named:
        return select
    result = select.copy()
    result.set("windows", None)
    for window in list(result.find_all(exp.Window)):
        meant = named.get(window.args["alias"].name.lower()) if window.args.get("alias") else None
        if meant is None:
            continue
        for part in ("partition_by", "order", "spec"):
            if not window.args.get(part) and meant.args.get(part):
                found = meant.args[part]
                copied = [i.copy() for i in found] if isinstance(found, list) else found.copy()
                window.set(part, copied)
        window.set("alias", None)
    return result


def bind_windows(
    node: Node, expressions: list[exp.Expr], binding: Binding
) -> tuple[Node, list[exp.Expr]]:
    """Return the relation with a column for each window call, and the expressions over it."""
    calls: list[exp.Window] = []
    for expression in expressions:
        for window in windows_in(expression):
            if window not in calls:
                calls.append(window)
    if not calls:
        return node, expressions
    rows = node
    specs = []
    for window in calls:
        types = binding.types_of(node)
        spec = _Spec.of(window, binding).without_ties(rows, types, binding)
        node, partition = _with_partition(node, spec, binding)
        specs.append((window, spec, partition))
    named: list[tuple[exp.Window, str]] = []
    grouped: dict[tuple[str, ...], list[WindowCall]] = {}
    shared: dict[tuple[str, ...], list[WindowCall]] = {}
    types = binding.types_of(node)
    for window, spec, partition in specs:
        own = grouped.setdefault(tuple(sorted(partition)), [])
        name = binding.namer.fresh(spec.name if spec.peers is None else f"{spec.name}_by_row")
        call = WindowCall(name, spec.function, spec.order, spec.frame, _type(spec, types))
        own.append(call)
        if spec.peers is not None:
            call = _for_all_peers(call, spec.peers, own, binding)
            shared.setdefault(tuple(sorted(partition)), []).append(call)
        named.append((window, call.name))
        check_types(spec.function, types, binding)
    for partition, found in grouped.items():
        node = Window(node, partition, tuple(found))
        if partition in shared:
            node = Window(node, partition, tuple(shared[partition]))
    return node, [_replaced(expression, named) for expression in expressions]


def _for_all_peers(
    by_row: WindowCall, peers: _Peers, own: list[WindowCall], binding: Binding
) -> WindowCall:
    """Return the call that shows all peers the value of one of them, whose number is found too."""
    number = exp.Anonymous(this="row_number", expressions=[])
    place = WindowCall(binding.namer.fresh("place"), number, by_row.order, None, INT)
    same = [call for call in own if replace(call, name=place.name) == place]
    own.extend([] if same else [place])
    found = column((same or [place])[0].name)
    picked = exp.Anonymous(this=peers.picker, expressions=[column(by_row.name), found])
    name = binding.namer.fresh(by_row.name.removesuffix("_by_row"))
    return WindowCall(name, picked, peers.order, own_peers(), by_row.type)


def _replaced(expression: exp.Expr, named: list[tuple[exp.Window, str]]) -> exp.Expr:
    def put(item: exp.Expr) -> exp.Expr:
        if isinstance(item, exp.Window):
            return column(next(name for window, name in named if window == item))
        return item

    return expression.copy().transform(put)


@dataclass(frozen=True)
class _Peers:
    """The order that rows share, and the aggregate that finds the one whose value all show."""

    order: tuple[exp.Expr, ...]
    picker: str


@dataclass(frozen=True)
class _Spec:
    """A window call taken apart."""

    function: exp.Expr
    partition: tuple[exp.Expr, ...]
    order: tuple[exp.Expr, ...]
    frame: exp.WindowSpec | None
    place: exp.Expr
    peers: _Peers | None = None

    @classmethod
    def of(cls, window: exp.Window, binding: Binding) -> _Spec:
        order = window.args.get("order")
        spec = cls(
            window.this,
            tuple(window.args.get("partition_by") or ()),
            tuple(order.expressions) if order is not None else (),
            window.args.get("spec"),
            window,
        )
        if not spec.order and spec.name in _RANKS | {"row_number", "ntile", "lag", "lead"}:
            raise SqlTypeError(
                f'"{spec.name}" needs an ORDER BY in its window',
                sql=binding.sql,
                span=binding.place_of(window),
                hint="Write OVER (… ORDER BY …).",
            )
        return spec

    @property
    def call(self) -> exp.Expr:
        inner = self.function
        while isinstance(inner, exp.IgnoreNulls | exp.RespectNulls | exp.Filter):
            inner = inner.this
        return inner

    @property
    def name(self) -> str:
        return function_name(self.call) or "window"

    @property
    def by_rows(self) -> bool:
        return self.frame is not None and str(self.frame.args.get("kind")).upper() == "ROWS"

    def without_ties(self, rows: Node, types: Types, binding: Binding) -> _Spec:
        """Return the call in a form whose answer follows from the rows alone."""
        if self.name in _TIED:
            raise binding.unimplemented(f'"{self.name}" as a window function', self.place)
        if self.name in functions.OF_EQUALS and self.call.expressions:
            check_key_type(type_of(self.call.expressions[0], types), self.place, binding)
        ties = tie_breakers(rows)
        if (self._adds_up_floats(types) or self.name in _COLLECTED) and not self.by_rows:
            return self._of_peers(rows, binding) if self.order else self._with_order(ties, _all())
        if self.name in ("last", "last_value") and self.order and self._ends_with_peers:
            # All rows that share an order see the last of them, so that one is chosen first.
            return replace(
                self,
                function=_renamed(self.function, "first_value"),
                partition=self.partition + tuple(item.this for item in self.order),
                order=tie_breakers(rows, descending=True),
                frame=_all(),
            )
        if self.name not in _BY_POSITION and not self.by_rows:
            return self
        frame = self.frame if self.order else self.frame or _all()
        return self._with_order((*self.order, *ties), frame)

    def _of_peers(self, rows: Node, binding: Binding) -> _Spec:
        """Return the call row by row, and who of the peers has the value that all of them show."""
        if self._orders_all(rows):
            return self
        found = by_rows(self.frame)
        # Different variants may have one spelling, and so one place.
        untold = any("variant" in item.type for item in identity(rows))
        if found is None or untold or own_type(self.call) is not None:
            raise binding.unimplemented(f'"{self.name}" over rows that share an order', self.place)
        spec = self._with_order((*self.order, *tie_breakers(rows)), found.frame)
        if found.picker is None:
            return spec
        return replace(spec, peers=_Peers(self.order, found.picker))

    def _orders_all(self, rows: Node) -> bool:
        """Whether no two rows of a partition that differ share a place in the order.

        An order calls 0.0 and -0.0 equal, and different spellings of collated text.
        """
        ordered = [*self.partition, *(item.this for item in self.order)]
        told = {item.unnest().name for item in ordered if isinstance(item.unnest(), exp.Column)}
        return all(has_plain_image(item.type) and item.name in told for item in identity(rows))

    def _adds_up_floats(self, types: Types) -> bool:
        """Whether the last digits depend on the order in which rows are added."""
        if self.name in functions.FLOATING:
            return True
        if (own := own_type(self.call)) is not None:
            return is_floating(own)
        given = [type_of(item, types) for item in self.call.expressions]
        exact = all(is_integer(item) or is_decimal(item) for item in given)
        return self.name in functions.SUMS and not exact

    @property
    def _ends_with_peers(self) -> bool:
        ignoring = isinstance(self.function, exp.IgnoreNulls) or len(self.call.expressions) > 1
        return self.frame is None and not ignoring

    def _with_order(self, order: tuple[exp.Expr, ...], frame: exp.WindowSpec | None) -> _Spec:
        return replace(self, order=without_repeats(order), frame=frame)


def _renamed(function: exp.Expr, name: str) -> exp.Expr:
    new = function.copy()
    new.set("this", name)
    return new


def _all() -> exp.WindowSpec:
    return exp.WindowSpec(
        kind="ROWS",
        start="UNBOUNDED",
        start_side="PRECEDING",
        end="UNBOUNDED",
        end_side="FOLLOWING",
    )


def _with_partition(node: Node, spec: _Spec, binding: Binding) -> tuple[Node, tuple[str, ...]]:
    """Compute PARTITION BY expressions below the window, so that it groups by plain columns."""
    names: dict[str, None] = {}
    for expression in spec.partition:
        types = binding.types_of(node)
        check_key_type(type_of(expression, types), expression, binding)
        bare = expression.unnest()
        if not isinstance(bare, exp.Column):
            name = binding.namer.fresh("partition")
            node = with_column(node, Projection(name, bare, type_of(bare, types)))
            bare = column(name)
        names[bare.name] = None
    return node, tuple(names)


def _type(spec: _Spec, types: Types) -> SqlType:
    if spec.name in _TYPES:
        return _TYPES[spec.name]
    if (own := own_type(spec.call)) is not None:
        return own
    arguments = spec.call.expressions
    if not arguments or isinstance(arguments[0], exp.Star):
        return BIGINT if spec.name == "count" else UNKNOWN
    first = type_of(arguments[0], types)
    if spec.name in ("lag", "lead", "nth_value"):
        return first if len(arguments) < 3 else UNKNOWN
    return functions.aggregate_type(spec.name, first)
