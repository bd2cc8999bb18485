"""range(end), range(start, end[, step[, partitions]]): numbers that stand in the query."""

from __future__ import annotations

from sqlglot import exp

from streamtables.compiler.algebra import Column, Filter, Generate, Node, Project, Projection
from streamtables.compiler.frontend.binding import Binding, column
from streamtables.compiler.frontend.constants import no_from
from streamtables.compiler.frontend.dialect import span_of
from streamtables.compiler.frontend.scope import Relation, Visible
from streamtables.compiler.frontend.whole_numbers import whole_number
from streamtables.compiler.types import BIGINT
from streamtables.errors import SqlTypeError

MOST = 1_000_000
"""Numbers that one row is unfolded to; more are no small table that stands in a query."""


def bind_range(item: exp.Table, binding: Binding) -> tuple[Node, Relation]:
    """Return the numbers of a range as the column `id`."""
    call = item.this
    given = [whole_number(argument) for argument in call.expressions]
    if not 1 <= len(given) <= 4 or (len(given) > 2 and given[2] == 0):
        raise SqlTypeError(
            "range takes an end, or a start, an end and a step that is not zero",
            sql=binding.sql,
            span=span_of(item),
            hint="Write range(10), range(1, 10) or range(1, 10, 2).",
        )
    numbers = [number for number in given if number is not None]
    if len(numbers) < len(given):
        raise binding.unimplemented("a range of anything but whole numbers", item)
    start, end = (0, numbers[0]) if len(numbers) == 1 else (numbers[0], numbers[1])
    step = numbers[2] if len(numbers) > 2 else 1
    count = len(range(start, end, step))
    if count > MOST:
        raise binding.unimplemented(f"a range of more than {MOST} numbers", item)
    last = start + max(count - 1, 0) * step
    sequence = exp.Anonymous(this="sequence", expressions=[_big(n) for n in (start, last, step)])
    name = binding.namer.fresh("id")
    explode = exp.Anonymous(this="explode", expressions=[sequence])
    node: Node = Generate(no_from(binding).parts[0], explode, (Column(name, BIGINT),))
    if not count:
        node = Filter(node, exp.false())
    alias = (item.alias,) if item.alias else ()
    shown = Visible("id", name, BIGINT)
    return Project(node, (Projection(name, column(name), BIGINT),)), Relation(alias, (shown,))


def _big(value: int) -> exp.Expr:
    return exp.cast(exp.Literal.string(str(value)), BIGINT, dialect="spark")
