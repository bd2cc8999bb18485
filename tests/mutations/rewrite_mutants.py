"""Wrong rewrites: what makes a delta cheaper may not make it another one."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from streamtables.compiler.algebra import Filter, Restrict, Scan, Weighed, held_values
from streamtables.compiler.algebra.held_values import Values
from streamtables.compiler.backend import aggregate_calls, operators
from streamtables.compiler.backend.operators import render
from streamtables.compiler.backend.select import ref
from streamtables.compiler.rewrites import (
    count_weights,
    found_as_asked,
    keys_at_hand,
    look_up_rows,
    note_conditions,
    wanted_rows,
    weigh_single_rows,
)
from tests.mutations.mutants import Patches, mutant

ABOVE_AVERAGE = "SELECT id FROM r WHERE b > (SELECT avg(b) FROM u)"


@mutant("a value that changed is weighed by what it is now alone", ABOVE_AVERAGE)
def _(patch: Patches) -> None:
    right = render.dispatch(Weighed)

    def wrong(node: Weighed, around: operators.Surroundings) -> exp.Query:
        coming = exp.GT(this=ref("__st_weight"), expression=exp.Literal.number(0))
        return right(replace(node, single=Filter(node.single, coming)), around)

    patch.rule(render, Weighed, wrong)


@mutant("rows are weighed whether or not they are chosen", ABOVE_AVERAGE)
def _(patch: Patches) -> None:
    patch.function(weigh_single_rows, "columns_in", lambda condition: set())


@mutant(
    "a set in which keys are looked up is joined, and its repetitions count",
    "SELECT r.id, x.n FROM r JOIN (SELECT a, count(*) AS n FROM u GROUP BY a) AS x ON r.a = x.a",
)
def _(patch: Patches) -> None:
    right = render.dispatch(Restrict)

    def wrong(node: Restrict, around: operators.Surroundings) -> exp.Query:
        query = right(node, around)
        query.args["joins"][0].set("side", None)
        query.args["joins"][0].set("kind", "INNER")
        return query

    patch.rule(render, Restrict, wrong)


@mutant(
    "a group of which all rows went is counted as one of none",
    "SELECT r.id, x.n FROM r JOIN (SELECT a, count(*) AS n FROM u GROUP BY a) AS x ON r.a = x.a",
)
def _(patch: Patches) -> None:
    patch.function(count_weights, "Filter", lambda rows, condition: rows)


@mutant(
    "NULLs are counted like values",
    "SELECT r.id FROM r WHERE r.a = (SELECT count(b) FROM u)",
)
def _(patch: Patches) -> None:
    patch.function(count_weights, "_is_present", lambda argument: exp.true())


def _read_the_first_lookup(patch: Patches) -> None:
    """Have every scan of a table read the rows of the first lookup in it."""
    right = wanted_rows.LookupBook.found

    def wrong(book: wanted_rows.LookupBook, scan: Scan, wanted: wanted_rows.AnyOf) -> Scan:
        found = right(book, scan, wanted)
        return replace(found, found=f"{found.found[:-1]}1")

    patch.function(wanted_rows.LookupBook, "found", wrong)


LOOKED_UP = "SELECT r.id, u.b FROM r LEFT JOIN u ON r.a = u.a"


@mutant("rows are looked up by the keys of one of several changes", LOOKED_UP)
def _(patch: Patches) -> None:
    patch.function(held_values, "_united", lambda parts: next(iter(parts)))


@mutant(
    "rows that were found for one set of keys are read for another",
    "SELECT r.id, (SELECT max(b) FROM u WHERE u.a = r.a) AS m, "
    "(SELECT min(u.b) FROM u WHERE u.b = r.b) AS n FROM r",
)
def _(patch: Patches) -> None:
    _read_the_first_lookup(patch)


TWO_CONDITIONS = (
    "SELECT r.id, p.b AS p, q.b AS q FROM r JOIN u p ON r.a = p.a AND p.b <= 1 "
    "JOIN u q ON r.a = q.a AND q.b >= 1"
)


@mutant("rows that were found under one condition are read under another", TWO_CONDITIONS)
def _(patch: Patches) -> None:
    _read_the_first_lookup(patch)


@mutant(
    "a condition on what a projection makes is asked of the column of that name",
    "SELECT r.id, t.b FROM r JOIN (SELECT a, 1 - b AS b FROM u) t ON r.a = t.a WHERE t.b >= 1",
)
def _(patch: Patches) -> None:
    patch.function(note_conditions, "_of_input", lambda node, asked: asked)


@mutant(
    "left rows of an outer join are found by their matches",
    "SELECT r.id, u.b, x.n FROM r LEFT JOIN u ON r.a = u.a AND u.b >= 1 "
    "JOIN (SELECT a, count(*) AS n FROM r GROUP BY a) AS x ON r.a = x.a",
)
def _(patch: Patches) -> None:
    patch.function(look_up_rows, "_keeps_matches_alone", lambda probe: True)


@mutant("rows as they are now are read for those of before", LOOKED_UP)
def _(patch: Patches) -> None:
    right = wanted_rows.LookupBook.found

    def wrong(book: wanted_rows.LookupBook, scan: Scan, wanted: wanted_rows.AnyOf) -> Scan:
        return right(book, replace(scan, version="after"), wanted)

    patch.function(wanted_rows.LookupBook, "found", wrong)


@mutant(
    "a restriction is left out though the keys have fewer values than were looked up",
    "SELECT r.a, count(*) AS n FROM r JOIN u ON r.a = u.a WHERE r.b > 1 GROUP BY r.a "
    "HAVING count(*) > 0",
)
def _(patch: Patches) -> None:
    patch.function(found_as_asked, "has_every_value", lambda keys, name: True)


@mutant(
    "a row without a match is looked for by the values of matches alone",
    "SELECT r.id, x.n FROM r LEFT JOIN u ON r.a = u.a "
    "LEFT JOIN (SELECT b, count(*) AS n FROM u GROUP BY b) AS x ON u.b <=> x.b",
)
def _(patch: Patches) -> None:
    patch.function(held_values, "Values", lambda columns=frozenset(), **_: Values(columns))


@mutant("keys are taken from the first of the columns that they come from", LOOKED_UP)
def _(patch: Patches) -> None:
    patch.function(keys_at_hand, "Sum", lambda terms: terms[0])


@mutant(
    "a pair with a NULL in it counts",
    "SELECT c, count(*) AS k FROM (SELECT a, round(covar_pop(b, n), 6) + 0 AS c FROM pair GROUP BY a) "
    "GROUP BY c",
)
def _(patch: Patches) -> None:
    patch.function(aggregate_calls, "_present", lambda value: exp.true())
