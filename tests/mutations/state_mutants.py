"""Wrong rules of stored state: sums, counts and extremes that follow from changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from streamtables.compiler.algebra import (
    Keys,
    Node,
    Repeat,
    at,
)
from streamtables.compiler.backend.operators import render
from streamtables.compiler.maintenance import forms, state_shape, stored_state
from streamtables.engine import combine_state
from tests.mutations.mutants import Patches, mutant

STATE = "SELECT a, sum(b) AS s, count(b) AS n FROM u GROUP BY a"
EXTREMES = "SELECT a, min(b) AS l, max(b) AS h, count(b) AS n FROM u GROUP BY a"
EXTREMES_OF_PAIRS = """SELECT x.a % 2 AS g, max(x.b * y.b) AS m, min(x.b - y.b) AS n
    FROM u AS x JOIN u AS y ON x.a = y.a GROUP BY x.a % 2"""


@mutant("a stored sum ignores what is taken away", STATE)
def _(patch: Patches) -> None:
    right = stored_state._parts

    def wrong(*arguments: Any) -> Any:
        parts = right(*arguments)
        return replace(parts, states=tuple(replace(s, minus=None) for s in parts.states))

    patch.function(stored_state, "_parts", wrong)


@mutant("a stored count counts NULL", STATE)
def _(patch: Patches) -> None:
    patch.function(state_shape, "is_not_null", lambda argument: exp.true())


@mutant("a row of weight two contributes once", STATE)
def _(patch: Patches) -> None:
    right = render.dispatch(Repeat)

    def wrong(node: Repeat, around: Any) -> exp.Query:
        query = right(node, around)
        for call in list(query.find_all(exp.Anonymous)):
            if call.this == "sequence":
                call.set("expressions", [call.expressions[0], call.expressions[0].copy()])
        return query

    patch.rule(render, Repeat, wrong)


@mutant("an extremum is taken from rows that only seem to come", EXTREMES_OF_PAIRS)
def _(patch: Patches) -> None:
    patch.function(stored_state, "_netted", lambda changes: changes)


@mutant("values that went count as values that came", EXTREMES)
def _(patch: Patches) -> None:
    right = state_shape.signed
    other = {exp.GT: exp.LT, exp.LT: exp.GT}
    patch.function(state_shape, "signed", lambda call, sign: right(call, other[sign]))


@mutant("a greatest value is kept as a least one", EXTREMES)
def _(patch: Patches) -> None:
    right = stored_state._extremum_parts

    def wrong(*arguments: Any) -> Any:
        parts = right(*arguments)
        kept, count = parts.states
        return replace(parts, states=(replace(kept, kind="min"), count))

    patch.function(stored_state, "_extremum_parts", wrong)


@mutant("an extremum that went stays", EXTREMES)
def _(patch: Patches) -> None:
    right = combine_state._improved

    def wrong(*arguments: Any) -> Any:
        found = right(*arguments)
        return replace(found, lost=pc.and_(found.lost, False))

    patch.function(combine_state, "_improved", wrong)


@mutant("a value as good as the extremum takes nothing with it", EXTREMES)
def _(patch: Patches) -> None:
    def wrong(value: pa.ChunkedArray, than: pa.ChunkedArray, kind: str) -> pa.ChunkedArray:
        compared = pc.less(value, than) if kind == "min" else pc.greater(value, than)
        return pc.and_(pc.is_valid(value), pc.fill_null(compared, True))

    patch.function(combine_state, "_is_as_good", wrong)


@mutant("the extremum of no values is the last one", EXTREMES)
def _(patch: Patches) -> None:
    right = combine_state._improved

    def wrong(item: Any, contributions: pa.Table, stored: Any, sums: Any) -> Any:
        some = {name: pc.add(values, 1) for name, values in sums.items()}
        return right(item, contributions, stored, some)

    patch.function(combine_state, "_improved", wrong)


@mutant("lost groups are computed as they were before", EXTREMES)
def _(patch: Patches) -> None:
    right = forms.ChangedTables._filled

    def wrong(programs: forms.ChangedTables, keys: Keys | None) -> Node:
        return at("before", right(programs, keys))

    patch.function(forms.ChangedTables, "_filled", wrong)
