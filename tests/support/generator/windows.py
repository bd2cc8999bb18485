"""Window functions: ranks, neighbours and running aggregates, over partitions and frames."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.expressions import Typed
from tests.support.generator.core import Generator, Makers
from tests.support.generator.from_clause import from_clause
from tests.support.generator.parts import Item, Query, listed, qualified, shown

ROWS = (
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING",
    "ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING",
)
RANGES = (
    "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
)
NEAR = (
    "RANGE BETWEEN 1 PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "RANGE BETWEEN 1 FOLLOWING AND 2 FOLLOWING",
)


def window_call(gen: Generator, columns: Sequence[Typed]) -> Typed:
    """Return one function over one window."""
    kind = gen.choices.pick(("rank", "number", "neighbour", "edge", "whole", "running", "near"))
    partition = _partition(gen, columns)
    name, type_ = gen.choices.pick(columns)
    if kind == "rank":
        # Ranks tell ties by the user's own order: any order will do.
        keys = _keys(gen, columns)
        functions = ("rank()", "dense_rank()", "percent_rank()", "cume_dist()")
        function = gen.choices.pick(functions)
        whole = function in ("rank()", "dense_rank()")
        return _over(function, partition, keys), "int" if whole else "number"
    if kind == "near":
        return _near(gen, columns, partition)
    if kind == "whole":
        call, result = _aggregate(gen, columns)
        return _over(call, partition, ""), result
    order = gen.order(columns)
    if kind == "number":
        function = gen.choices.pick(("row_number()", "row_number()", "ntile(2)"))
        return _over(function, partition, order), "int"
    if kind == "neighbour":
        literal = gen.expressions.literal(type_)
        calls = [f"lag({name})", f"lead({name})", f"lag({name}, 2, {literal})"]
        calls += [f"lead({name}, 1, {literal})", f"lag({name}) IGNORE NULLS"]
        return _over(gen.choices.pick(calls), partition, order), type_
    if kind == "edge":
        call = gen.choices.pick((f"first_value({name})", f"last_value({name})"))
        call = gen.choices.pick((call, call, f"{call} IGNORE NULLS", f"nth_value({name}, 2)"))
        frame = gen.choices.pick(("", ROWS[0], ROWS[1], RANGES[2]))
        return _over(call, partition, order, frame), type_
    call, result = _aggregate(gen, columns)
    return _over(call, partition, order, gen.choices.pick(ROWS)), result


def _near(gen: Generator, columns: Sequence[Typed], partition: str) -> Typed:
    """An aggregate over the rows that are near by value: ties belong to one frame."""
    floats = [item for item in columns if item[1] == "double"]
    # What floats add up to depends on the order of tied rows, so they come more often here.
    call, result = _aggregate(gen, floats if floats and gen.sometimes(2) else columns)
    whole = [name for name, type_ in columns if type_ in ("int", "bigint")]
    # Without tie-breakers, what floats add up to near by depends on the order of rows.
    if whole and not _adds_floats(call, result) and gen.sometimes(2):
        key = f"{gen.choices.pick(whole)}{gen.choices.pick(('', ' DESC'))}"
        return _over(call, partition, key, gen.choices.pick(NEAR)), result
    return _over(call, partition, _keys(gen, columns), gen.choices.pick(("", *RANGES))), result


def _aggregate(gen: Generator, columns: Sequence[Typed]) -> Typed:
    name, type_ = gen.choices.pick(columns)
    calls: list[Typed] = [("count(*)", "bigint"), (f"count({name})", "bigint")]
    calls += [(f"min({name})", type_), (f"max({name})", type_)]
    if type_ in ("int", "bigint", "decimal(10,2)"):
        calls += [(f"sum({name})", "number"), (f"avg({name})", "number")]
    if type_ == "double":
        calls += [(f"sum({name})", "double"), (f"avg({name})", "double")]
    return gen.choices.pick(calls)


def _adds_floats(call: str, result: str) -> bool:
    return result == "double" and call.startswith(("sum", "avg"))


def _partition(gen: Generator, columns: Sequence[Typed]) -> str:
    count = gen.choices.pick((1, 1, 1, 2, 0))
    return ", ".join(gen.expressions.value(list(columns))[0] for _ in range(count))


def _keys(gen: Generator, columns: Sequence[Typed]) -> str:
    names = [gen.choices.pick(columns)[0] for _ in range(gen.choices.pick((1, 1, 2)))]
    return ", ".join(f"{name}{gen.direction()}" for name in dict.fromkeys(names))


def _over(call: str, partition: str, order: str, frame: str = "") -> str:
    parts = [f"PARTITION BY {partition}"] if partition else []
    if order:
        parts.append(f"ORDER BY {order}")
    return f"{call} OVER ({' '.join([*parts, frame]).strip()})"


def windowed(gen: Generator, depth: int) -> Query:
    """Return rows with one or two window functions beside them, perhaps only some of the rows."""
    source = from_clause(gen, depth)
    items = gen.plain_items(source.columns, gen.choices.number(1, 2))
    calls = _calls(gen, source.columns)
    where = gen.where(source.columns, source.needed)
    qualify = ""
    if gen.sometimes(4):
        call, name, type_ = calls[0]
        test = gen.choices.pick((call, name))
        condition = gen.expressions.condition([(test, type_)], 0)
        qualify = f" QUALIFY {condition}"
    return Query(
        f"SELECT {listed(items + calls)} FROM {source.text}{where}{qualify}", shown(items + calls)
    )


def named_window(gen: Generator, depth: int) -> Query:
    """Return two functions over one window that has a name."""
    source = from_clause(gen, depth)
    name = gen.name("w")
    items = gen.plain_items(source.columns, 1)
    column, type_ = gen.choices.pick(source.columns)
    calls: list[Item] = [
        (f"min({column}) OVER {name}", gen.name("n"), type_),
        (f"row_number() OVER {name}", gen.name("n"), "int"),
    ]
    where = gen.where(source.columns, source.needed)
    partition = _partition(gen, source.columns)
    window = (
        f"{f'PARTITION BY {partition} ' if partition else ''}ORDER BY {gen.order(source.columns)}"
    )
    sql = f"SELECT {listed(items + calls)} FROM {source.text}{where} WINDOW {name} AS ({window})"
    return Query(sql, shown(items + calls))


def over_groups(gen: Generator, depth: int) -> Query:
    """Return groups, and a window function over their aggregates."""
    source = from_clause(gen, depth)
    picked = [gen.choices.pick(source.columns) for _ in range(gen.choices.number(1, 2))]
    groups: list[Item] = [(text, gen.name("c"), type_) for text, type_ in dict.fromkeys(picked)]
    # Only a call by itself may stand inside another call without parentheses.
    alone = [item for item in gen.aggregates(source.columns) if item[0].endswith(")")]
    calls: list[Item] = [item for item in alone if " + " not in item[0]]
    calls = calls or [("count(*)", gen.name("n"), "bigint")]
    text, type_ = window_call(gen, [(text, type_) for text, _, type_ in [*groups, *calls]])
    items = [*groups, *calls, (text, gen.name("n"), type_)]
    keys = ", ".join(text for text, _, _ in groups)
    where = gen.where(source.columns, source.needed)
    sql = f"SELECT {listed(items)} FROM {source.text}{where} GROUP BY {keys}"
    return Query(sql, shown(items))


def first_of_each(gen: Generator, depth: int) -> Query:
    """Return the first few rows of each partition."""
    source = from_clause(gen, depth)
    items = gen.plain_items(source.columns, 2)
    number, alias = gen.name("n"), gen.name("q")
    call = _over("row_number()", _partition(gen, source.columns), gen.order(source.columns))
    where = gen.where(source.columns, source.needed)
    inner = f"SELECT {listed(items)}, {call} AS {number} FROM {source.text}{where}"
    columns = qualified(alias, shown(items))
    shown_items = [(text, gen.name("c"), type_) for text, type_ in columns]
    limit = gen.choices.pick(("= 1", "<= 2", "= 2"))
    sql = f"SELECT {listed(shown_items)} FROM ({inner}) AS {alias} WHERE {alias}.{number} {limit}"
    return Query(sql, shown(shown_items))


def _calls(gen: Generator, columns: Sequence[Typed]) -> list[Item]:
    calls = [window_call(gen, columns) for _ in range(gen.choices.pick((1, 1, 2)))]
    return [(text, gen.name("n"), type_) for text, type_ in calls]


MAKERS = Makers(flat=(windowed, windowed, windowed, named_window, over_groups, first_of_each))
