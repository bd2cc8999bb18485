"""The current time: filters that rows enter and leave because time moves, and values of the moment."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support.expressions import Typed
from tests.support.generator.core import Generator, Makers
from tests.support.generator.parts import Query, listed, qualified, shown
from tests.support.generator.subqueries import of_type
from tests.support.histories import TABLES

# As the histories have it, so that rows stand on the edge: see `histories.STEPS`.
INTERVALS = ("1 DAY", "30 MINUTES", "12 HOURS", "31 DAYS")


def temporal(gen: Generator, columns: Sequence[Typed]) -> str:
    """Return a condition on the current time, over dates and times where there are any."""
    now, today = _now(gen), _today(gen)
    amount, days = gen.choices.pick(INTERVALS), gen.choices.pick((1, 0, 31))
    options: list[str] = []
    for time in of_type(columns, "timestamp"):
        options += [
            f"{time} > {now} - INTERVAL {amount}",
            f"{time} <= {now}",
            f"{time} + INTERVAL {amount} >= {now}",
            f"{time} BETWEEN {now} - INTERVAL {amount} AND {now}",
            f"CAST({time} AS DATE) = {today}",
        ]
    for date in of_type(columns, "date"):
        options += [
            f"{date} >= {today} - INTERVAL {days} DAYS",
            f"{date} > date_sub({today}, {days})",
            f"datediff({today}, {date}) < {days}",
            f"{date} = {today}",
        ]
    if not options or gen.sometimes(6):
        # All rows or none, whichever the moment.
        options += [f"{today} > DATE '2024-02-29'", f"hour({now}) < 12", f"month({today}) = 2"]
    return gen.choices.pick(options)


def moment(gen: Generator, columns: Sequence[Typed]) -> Typed:
    """Return a value that changes with the moment."""
    options: list[Typed] = [
        (_today(gen), "date"),
        (f"CASE WHEN {temporal(gen, columns)} THEN 1 ELSE 0 END", "int"),
        (f"hour({_now(gen)})", "int"),
    ]
    for date in of_type(columns, "date"):
        options.append((f"datediff({_today(gen)}, {date})", "int"))
    return gen.choices.pick(options)


def recent(gen: Generator, depth: int) -> Query:
    """Return the rows of the last while."""
    alias = gen.name("q")
    columns = qualified(alias, list(TABLES["ev"].items()))
    items = gen.plain_items(columns, gen.choices.number(1, 2))
    where = f"{temporal(gen, columns)}{gen.choices.pick(('', f' AND {gen.condition(columns)}'))}"
    return Query(f"SELECT {listed(items)} FROM ev AS {alias} WHERE {where}", shown(items))


def _now(gen: Generator) -> str:
    return gen.choices.pick(("current_timestamp()", "now()", "current_timestamp"))


def _today(gen: Generator) -> str:
    return gen.choices.pick(("current_date()", "current_date"))


MAKERS = Makers(flat=(recent,), conditions=(temporal,), values=(moment,))
