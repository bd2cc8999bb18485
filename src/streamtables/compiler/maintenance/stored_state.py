"""Aggregates at the root that are kept by adding the change to a stored state.

    state′ = state + plus − minus

`plus` and `minus` are sums over the rows that appeared and over those that went: a value is never
multiplied by a weight, which would lose digits of a wide decimal.  Per group there is a row count
(the group lives while it is positive), and for each aggregate what its value follows from:

    COUNT(x)    how many x are not NULL
    SUM(x)      the sum, and how many x are not NULL: a sum of nothing is NULL, not 0
    AVG(x)      the same two
    MIN(x)      the least x, and how many x are not NULL; MAX(x) likewise

Only exact numbers are added; floats are recomputed group by group (touched groups), unless the
user lets them be added within a bound (`float_sums.py`).

An extremum is not added: it improves with the rows that appeared, and stays while none went that
was as good.  A group of which such a row went, and none as good came, is *lost*: what is stored
does not tell its new extremum, and its row is computed from `after` (`ChangedTables.lost_groups`).
The trap: rows that only seem to come and go (a join's terms have such) must be netted first, or an
extremum is taken from a row that nobody ever stored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from streamtables.compiler.algebra import (
    WEIGHT,
    Aggregate,
    AggregateCall,
    Distinct,
    Net,
    Node,
    Project,
    Projection,
    Repeat,
    Unfold,
)
from streamtables.compiler.algebra.node import changes_of
from streamtables.compiler.frontend.binding import column
from streamtables.compiler.maintenance.float_sums import float_parts, is_float_sum
from streamtables.compiler.maintenance.layout import ROWS
from streamtables.compiler.maintenance.root_chain import RootChain
from streamtables.compiler.maintenance.state_shape import (
    Parts,
    StateColumn,
    StateKind,
    StateShape,
    VisibleState,
    moved_count,
    plus_and_minus,
    where_some,
)
from streamtables.compiler.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    MAX_PRECISION,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    SqlType,
    decimal,
    decimal_parts,
    is_decimal,
    is_integer,
)


@dataclass(frozen=True, eq=False)
class StoredState(StateShape):
    """How one aggregate is kept from its changes and its stored rows."""

    visible: tuple[Projection, ...]
    """Every visible and hidden key column as an expression over group and state columns."""
    contributions: Node
    filled: Project
    """The whole result with its state, for a full refresh (over tables as they are now)."""

    @property
    def shape(self) -> StateShape:
        """The columns alone, without any plan."""
        return StateShape(self.group, self.states, self.copied, self.single_row)


def stored_state(root: Node, chain: RootChain) -> StoredState | None:
    """Return the stored-state form of a root, or None where it has none."""
    aggregate = as_aggregate(chain.keyed)
    if chain.filtered or aggregate is None or not isinstance(root, Project):
        return None
    if len(chain.above) != 1 or not all(is_kept(call) for call in aggregate.calls):
        return None
    parts = _all_parts(aggregate)
    states = (StateColumn(ROWS, BIGINT, ROWS), *(s for part in parts for s in part.states))
    values = {call.name: part.value for call, part in zip(aggregate.calls, parts, strict=True)}
    visible = tuple(
        replace(item, expression=_over_state(item.expression, values)) for item in root.projections
    )
    stored_as = {item.passes: item.name for item in root.projections if item.passes}
    return StoredState(
        group=tuple((name, stored_as[name]) for name in aggregate.group),
        states=states,
        copied=_copied(root, aggregate, parts),
        single_row=not aggregate.group,
        visible=visible,
        contributions=_contributions(aggregate, parts),
        filled=_filled(root, aggregate, parts),
    )


def as_aggregate(node: Node) -> Aggregate | None:
    """Return a keyed operator as an aggregate: DISTINCT is one without calls."""
    if isinstance(node, Distinct):
        return Aggregate(node.input, node.key_columns, ())
    return node if isinstance(node, Aggregate) else None


def is_additive(call: AggregateCall) -> bool:
    """Whether an aggregate follows exactly from sums and counts."""
    if call.distinct or call.function not in ("count", "sum", "avg", "mean"):
        return False
    if call.function == "count":
        return True
    argument = call.argument_types[0]
    if call.function == "sum" or is_integer(argument):
        return is_integer(argument) or is_decimal(argument)
    return is_decimal(argument) and _divides_exactly(argument)


def is_extremum(call: AggregateCall) -> bool:
    """Whether an aggregate is a least or greatest value that compares by its bytes."""
    if call.function not in ("min", "max") or len(call.arguments) != 1:
        return False
    (argument,) = call.argument_types
    ordered = argument in (BOOLEAN, DATE, TIMESTAMP, TIMESTAMP_NTZ, STRING)
    return call.type == argument and (ordered or is_integer(argument) or is_decimal(argument))


def is_kept(call: AggregateCall) -> bool:
    """Whether an aggregate at the root can be kept as stored state."""
    return is_additive(call) or is_extremum(call) or is_float_sum(call)


def _divides_exactly(argument: SqlType) -> bool:
    """Whether sum / count keeps enough digits to be rounded as Spark's own AVG rounds."""
    precision, _ = decimal_parts(argument) or (MAX_PRECISION, 0)
    guard_digits = 8
    return (precision + 10) + 4 + guard_digits <= MAX_PRECISION


def _all_parts(aggregate: Aggregate) -> list[Parts]:
    """Take all aggregates apart; what two of them need is kept once."""
    known: dict[str, str] = {"count|*": ROWS}
    found: list[Parts] = []
    for call in aggregate.calls:
        names = [
            known.setdefault(key, f"__st_{stem}_{len(known)}")
            for stem, key in (("count", _counted_key(call)), _value_key(call))
        ]
        taken = {item.name for part in found for item in part.states} | {ROWS}
        found.append(_without(_parts(call, *names), taken))
    return found


def _counted_key(call: AggregateCall) -> str:
    counted = "*" if call.over_star else ",".join(item.sql() for item in call.arguments)
    return f"count|{counted}" + (f"|{call.condition.sql()}" if call.condition is not None else "")


def _value_key(call: AggregateCall) -> tuple[str, str]:
    if is_extremum(call):
        return call.function, f"{call.function}|{_counted_key(call)}"
    # AVG of integers keeps a wider sum than SUM does.
    kept = "float" if is_float_sum(call) else _state_type(call)
    return "sum", f"sum|{kept}|{_counted_key(call)}"


def _without(parts: Parts, taken: set[str]) -> Parts:
    """Leave out what another aggregate contributes already."""
    states = tuple(state for state in parts.states if state.name not in taken)
    moved = {name for state in states for name in (state.name, state.plus, state.minus)}
    return replace(
        parts,
        states=states,
        contributed=tuple(call for call in parts.contributed if call.name in moved),
        filled=tuple(call for call in parts.filled if call.name in moved),
    )


def _parts(call: AggregateCall, count: str, total: str) -> Parts:
    if is_extremum(call):
        return _extremum_parts(call, count, total)
    if is_float_sum(call):
        return float_parts(call, count, total)
    counted = moved_count(call, count)
    counted_state = StateColumn(count, BIGINT, count)
    filled_count = replace(
        call, name=count, function="count", type=BIGINT, argument_types=call.argument_types
    )
    if call.function == "count":
        return Parts((counted_state,), (counted,), (filled_count,), column(count), (count, None))
    total_type = _state_type(call)
    summed = replace(call, function="sum", type=total_type, arguments=(_argument(call),))
    plus, minus = plus_and_minus(summed, total)
    states = (StateColumn(total, total_type, plus.name, minus.name), counted_state)
    return Parts(
        states,
        (plus, minus, counted),
        (replace(summed, name=total), filled_count),
        _value(call, total, count),
        (total, count) if call.function == "sum" else None,
    )


def _extremum_parts(call: AggregateCall, count: str, extremum: str) -> Parts:
    # The least of distinct values is the least of all; how many there are must be of all.
    every = replace(call, distinct=False)
    plus, minus = plus_and_minus(every, extremum)
    kind: StateKind = "min" if call.function == "min" else "max"
    kept = StateColumn(extremum, call.type, plus.name, minus.name, kind, count)
    return Parts(
        (kept, StateColumn(count, BIGINT, count)),
        (plus, minus, moved_count(call, count)),
        (
            replace(every, name=extremum),
            replace(every, name=count, function="count", type=BIGINT),
        ),
        column(extremum),
        (extremum, None),
    )


def _state_type(call: AggregateCall) -> SqlType:
    argument = call.argument_types[0]
    if call.function in ("sum", "count"):
        return call.type
    # AVG of integers never overflows in Spark, so its sum gets all the digits there are.
    precision, scale = decimal_parts(argument) or (MAX_PRECISION, 0)
    return decimal(MAX_PRECISION, 0) if is_integer(argument) else decimal(precision + 10, scale)


def _argument(call: AggregateCall) -> exp.Expr:
    argument = call.arguments[0].copy()
    if call.function != "sum" and is_integer(call.argument_types[0]):
        return exp.cast(argument, "decimal(20,0)", dialect="spark")
    return argument


def _value(call: AggregateCall, total: str, count: str) -> exp.Expr:
    """Return the visible value of SUM or AVG over its state."""
    value: exp.Expr = column(total)
    if call.function != "sum":
        if is_integer(call.argument_types[0]):
            value = exp.Div(this=_cast(total, "double"), expression=_cast(count, "double"))
        else:
            value = exp.Div(this=column(total), expression=_cast(count, "decimal(20,0)"))
        value = exp.cast(value, call.type, dialect="spark")
    return where_some(value, count)


def _cast(name: str, type_: str) -> exp.Expr:
    return exp.cast(column(name), type_, dialect="spark")


def _over_state(expression: exp.Expr, values: dict[str, exp.Expr]) -> exp.Expr:
    def put(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.name in values:
            return exp.paren(values[node.name].copy(), copy=False)
        return node

    return expression.copy().transform(put)


def _copied(
    root: Project, aggregate: Aggregate, parts: list[Parts]
) -> tuple[VisibleState, ...] | None:
    copies = {name: (name, None) for name in aggregate.group}
    for call, part in zip(aggregate.calls, parts, strict=True):
        if part.copy is not None:
            copies[call.name] = part.copy  # type: ignore[assignment]  # a wider tuple type
    found = []
    for item in root.projections:
        if item.passes is None or item.passes not in copies:
            return None
        state, unless_zero = copies[item.passes]
        found.append(VisibleState(item.name, state, unless_zero))
    return tuple(found)


def _contributions(aggregate: Aggregate, parts: list[Parts]) -> Node:
    """Return, per touched group, what its changes add to and take from each state."""
    rows = AggregateCall(ROWS, "sum", (column(WEIGHT),), (BIGINT,), None, BIGINT)
    calls = (rows, *(call for part in parts for call in part.contributed))
    changes = changes_of(aggregate.input)
    if not all(map(is_additive, aggregate.calls)):
        changes = _netted(changes)
    unit = Unfold(Repeat(changes))
    summed = Aggregate(unit, aggregate.group, calls)
    return _zeros_for_nulls(summed, aggregate.group)


def _netted(changes: Node) -> Node:
    """Return changes whose rows were all there, before or after."""
    return changes if isinstance(changes, Net) else Net(changes)


def _zeros_for_nulls(summed: Aggregate, group: tuple[str, ...]) -> Node:
    projections = [Projection(name, column(name), summed.type_of(name)) for name in group]
    projections += [Projection(call.name, _state_value(call), call.type) for call in summed.calls]
    return Project(summed, tuple(projections))


def _state_value(call: AggregateCall) -> exp.Expr:
    """Return a sum or count of nothing as 0; an extremum of nothing stays NULL."""
    return column(call.name) if is_extremum(call) else _or_zero(call.name, call.type)


def _or_zero(name: str, type_: SqlType) -> exp.Expr:
    zero = exp.cast(exp.Literal.number(0), type_, dialect="spark")
    value = exp.Anonymous(this="coalesce", expressions=[column(name), zero])
    return exp.cast(value, type_, dialect="spark")


def _filled(root: Project, aggregate: Aggregate, parts: list[Parts]) -> Project:
    """Return the user's own aggregates beside their states."""
    rows = AggregateCall(ROWS, "count", (exp.Star(),), (BIGINT,), None, BIGINT)
    states = (rows, *(call for part in parts for call in part.filled))
    both = replace(aggregate, calls=aggregate.calls + states)
    kept = tuple(Projection(call.name, _state_value(call), call.type) for call in states)
    return Project(both, root.projections + kept)
