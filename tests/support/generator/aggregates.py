"""Aggregates beyond count, sum, avg, min and max.

Those of floats are rounded, since their last digits depend on the order of the rows; lists are sorted
and joined to text for the same reason.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.expressions import Typed
from tests.support.generator.core import Generator, Makers


def more_aggregates(gen: Generator, columns: Sequence[Typed]) -> Typed:
    """Return one aggregate call."""
    name, type_ = gen.choices.pick(columns)
    other, _ = gen.choices.pick(columns)
    condition = gen.expressions.condition(list(columns), 0)
    calls: list[Typed] = [
        (f"bool_and({condition})", "boolean"),
        (f"bool_or({condition})", "boolean"),
        (f"count_if({condition})", "bigint"),
        (f"count({name}, {other})", "bigint"),
        (f"count(DISTINCT {name}, {other})", "bigint"),
    ]
    match type_:
        case "int" | "bigint":
            calls += [(f"{call}({name})", type_) for call in ("bit_and", "bit_or", "bit_xor")]
            calls += [(f"round({call}({name}), 6)", "number") for call in _SPREADS]
            calls += [(f"median({name})", "number")]
            calls += [(f"percentile_cont(0.25) WITHIN GROUP (ORDER BY {name})", "number")]
            calls += [(f"regr_count({name}, {name})", "bigint")]
            calls += _of_pairs(name, gen.choices.pick(_whole_numbers(columns)))
        case "string":
            calls += [
                (f"listagg({name}, ',') WITHIN GROUP (ORDER BY {name})", "string"),
                (f"listagg(DISTINCT {name}, ',') WITHIN GROUP (ORDER BY {name})", "string"),
                (f"array_join(sort_array(collect_list({name})), ',')", "string"),
                (f"array_join(sort_array(collect_set({name})), ',')", "string"),
            ]
        case _:
            calls += [(f"size(collect_list({name}))", "int"), (f"size(collect_set({name}))", "int")]
    if by_key := _by_key(columns):
        value, value_type, key = gen.choices.pick(by_key)
        present = f"coalesce({value}, {gen.expressions.literal(value_type)})"
        calls += [
            (f"max_by({present}, {key})", value_type),
            (f"min_by({present}, {key})", value_type),
        ]
    if gen.ties and gen.sometimes(6):
        gen.deterministic = False
        present = f"coalesce({name}, {gen.expressions.literal(type_)})"
        calls = [(f"mode({name})", type_), (f"first({name})", type_), (f"any_value({name})", type_)]
        calls += [(f"max_by({present}, {other})", type_), (f"last({name})", type_)]
    return gen.choices.pick(calls)


_SPREADS = ("var_pop", "var_samp", "variance", "stddev", "stddev_pop", "stddev_samp")


_PAIRED = ("covar_pop", "covar_samp", "regr_avgx", "regr_r2", "regr_sxy", "regr_syy")


def _whole_numbers(columns: Sequence[Typed]) -> list[str]:
    return [name for name, type_ in columns if type_ in ("int", "bigint")]


def _of_pairs(name: str, other: str) -> list[Typed]:
    """Return aggregates of pairs; added to 0, what is rounded to -0.0 is 0.0."""
    return [(f"round({call}({name}, {other}), 6) + 0", "number") for call in _PAIRED]


def _by_key(columns: Sequence[Typed]) -> list[tuple[str, str, str]]:
    """Return values of a table beside its key, which decides between all of its rows."""
    found = []
    for key, _ in columns:
        table, _, column = key.rpartition(".")
        if table and column == "id":
            found += [(name, t, key) for name, t in columns if name.startswith(f"{table}.")]
    return found


MAKERS = Makers(aggregates=(more_aggregates, more_aggregates))
