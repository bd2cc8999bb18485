"""How each operator is written as a SELECT over its inputs.

`Inputs` gives the FROM item of an input: a table, a named step or a subquery.  Names of columns are
unique inside a query, so only the weight ever needs a qualifier.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Protocol

from sqlglot import exp

from streamtables.compiler.algebra import (
    WEIGHT,
    Aggregate,
    Distinct,
    Empty,
    Existence,
    Filter,
    InnerJoin,
    Keys,
    Negate,
    Net,
    Node,
    Project,
    Repeat,
    Restrict,
    Scan,
    Sum,
    TopK,
    Unfold,
    UnionAll,
)
from streamtables.compiler.algebra.expressions import null_of
from streamtables.compiler.backend.aggregate_calls import call_sql
from streamtables.compiler.backend.join_order import JoinStep, join_steps, starts_from_changes
from streamtables.compiler.backend.select import aliased, name, one, ref, refs, select
from streamtables.compiler.binary_image import image
from streamtables.compiler.types import has_plain_image
from streamtables.errors import InternalError


class Surroundings(Protocol):
    """What a rendering may ask of the statement it becomes part of."""

    small_changes: bool
    """Whether changes are few enough to be sent to every task."""
    recursions: dict[str, str]
    """The names that recursive relations have in the statement."""

    def fresh(self, stem: str) -> str:
        """Return a name that the statement has not used yet."""

    def source(self, node: Node, alias: str) -> exp.Expr:
        """Return the FROM item for a relation, under an alias."""

    def naming(self, table: str, version: str) -> exp.Table:
        """Return the table to read for a version of a table."""

    def is_step(self, node: Node) -> bool:
        """Whether a relation has a name of its own in the statement."""

    def may_repeat(self, node: Node) -> bool:
        """Whether nothing minds that the rows of a set are written more than once."""


@singledispatch
def render(node: Node, around: Surroundings) -> exp.Query:
    """Return the query that computes a relation from its inputs."""
    raise InternalError(f"no rendering for {type(node).__name__}")


@render.register
def _(node: Scan, around: Surroundings) -> exp.Query:
    columns = [aliased(ref(field.source), field.name) for field in node.fields]
    if node.signed:
        columns.append(ref(WEIGHT))
    return select(columns, around.naming(node.table, node.relation))


@render.register
def _(node: Empty, around: Surroundings) -> exp.Query:
    # Untyped, a column of no rows could not stand where the operators above need a condition.
    nulls = [exp.Alias(this=null_of(item.type), alias=name(item.name)) for item in node.columns]
    if node.signed:
        nulls.append(exp.Alias(this=one(), alias=name(WEIGHT)))
    return exp.Select(expressions=nulls, where=exp.Where(this=exp.false()))


@render.register
def _(node: Filter, around: Surroundings) -> exp.Query:
    scan = node.input
    if isinstance(scan, Scan) and not around.is_step(scan) and _keeps_names(scan):
        return select(refs(node), around.naming(scan.table, scan.relation), where=node.condition)
    return select(refs(node), around.source(node.input, "t"), where=node.condition)


def _keeps_names(scan: Scan) -> bool:
    return all(field.source == field.name for field in scan.fields)


@render.register
def _(node: Project, around: Surroundings) -> exp.Query:
    columns = [aliased(item.expression.copy(), item.name) for item in node.projections]
    if node.signed:
        columns.append(ref(WEIGHT))
    return select(columns, around.source(node.input, "t"))


@render.register
def _(node: UnionAll, around: Surroundings) -> exp.Query:
    # A branch of `before` may be signed (after − changes) beside one that is plain.
    as_rows = _weighted if node.signed else _rows
    return _union([as_rows(branch, around) for branch in node.branches])


def _rows(node: Node, around: Surroundings) -> exp.Query:
    """Return the query of a relation itself, where a set operation can take it as it is."""
    if not around.is_step(node) and not isinstance(node, Sum | UnionAll | TopK | Existence):
        return render(node, around)
    return select(refs(node), around.source(node, "t"))


@render.register
def _(node: InnerJoin, around: Surroundings) -> exp.Query:
    steps = join_steps(node)
    if around.small_changes and starts_from_changes(node):
        return _walked(node, steps, around)
    aliases = [f"t{index}" for index in range(1, len(steps) + 1)]
    columns: list[exp.Expr] = [ref(item) for item in node.names]
    weights = [
        ref(WEIGHT, alias) for alias, step in zip(aliases, steps, strict=True) if step.part.signed
    ]
    if weights:
        columns.append(aliased(_product(weights), WEIGHT))
    query = select(columns, around.source(steps[0].part, "t1"))
    joins = [
        _join(step, around.source(step.part, alias))
        for alias, step in zip(aliases[1:], steps[1:], strict=True)
    ]
    query.set("joins", joins)
    if steps[0].conditions:
        query.set("where", exp.Where(this=exp.and_(*steps[0].conditions)))
    return query


def _walked(node: InnerJoin, steps: list[JoinStep], around: Surroundings) -> exp.Query:
    """Join outwards from small changes, one input at a time, broadcasting the running result.

    A hint names a relation of its own SELECT, so each step is a SELECT of its own.
    """
    running = around.source(steps[0].part, "t1")
    names, signed = list(steps[0].part.names), steps[0].part.signed
    for step in steps[1:]:
        names += step.part.names
        weights = [ref(WEIGHT, "t1")] if signed else []
        weights += [ref(WEIGHT, "t2")] if step.part.signed else []
        columns: list[exp.Expr] = [ref(item) for item in names]
        columns += [aliased(_product(weights), WEIGHT)] if weights else []
        query = select(columns, running)
        query.set("hint", broadcast("t1"))
        query.set("joins", [_join(step, around.source(step.part, "t2"))])
        running, signed = exp.Subquery(this=query, alias=_alias("t1")), bool(weights)
    ordered: list[exp.Expr] = [ref(item) for item in node.names]
    first = steps[0].conditions
    return select(
        [*ordered, *([ref(WEIGHT)] if node.signed else [])],
        running,
        where=exp.and_(*first) if first else None,
    )


def broadcast(*aliases: str) -> exp.Hint:
    """Return the hint that sends relations to every task."""
    names = [name(alias) for alias in aliases]
    return exp.Hint(expressions=[exp.Anonymous(this="BROADCAST", expressions=names)])


def _join(step: JoinStep, item: exp.Expr) -> exp.Join:
    if not step.conditions:
        return exp.Join(this=item, kind="CROSS")
    return exp.Join(this=item, on=exp.and_(*step.conditions))


def _product(weights: list[exp.Column]) -> exp.Expr:
    product: exp.Expr = weights[0]
    for weight in weights[1:]:
        product = exp.Mul(this=product, expression=weight)
    return product


@render.register
def _(node: Aggregate, around: Surroundings) -> exp.Query:
    columns: list[exp.Expr] = [ref(item) for item in node.group]
    columns += [aliased(call_sql(call), call.name) for call in node.calls]
    query = select(columns, around.source(node.input, "t"))
    if node.group:
        query.set("group", exp.Group(expressions=[ref(item) for item in node.group]))
    return query


@render.register
def _(node: Distinct, around: Surroundings) -> exp.Query:
    query = select(refs(node), around.source(node.input, "t"))
    query.set("distinct", exp.Distinct())
    return query


@render.register
def _(node: Sum, around: Surroundings) -> exp.Query:
    return _union([_weighted(term, around) for term in node.terms])


def _weighted(term: Node, around: Surroundings) -> exp.Query:
    if term.signed:
        return _rows(term, around)
    columns: list[exp.Expr] = [ref(item) for item in term.names]
    columns.append(aliased(one(), WEIGHT))
    return select(columns, around.source(term, "t"))


@render.register
def _(node: Negate, around: Surroundings) -> exp.Query:
    weight = ref(WEIGHT) if node.input.signed else one()
    columns: list[exp.Expr] = [ref(item) for item in node.names]
    columns.append(aliased(exp.Neg(this=weight), WEIGHT))
    return select(columns, around.source(node.input, "t"))


@render.register
def _(node: Net, around: Surroundings) -> exp.Query:
    columns: list[exp.Expr] = []
    groups: list[exp.Expr] = []
    for column in node.columns:
        value = ref(column.name)
        groups.append(image(value.copy(), column.type))
        if has_plain_image(column.type):
            columns.append(value)
        else:
            # All values of a group have one image, so any of them will do.
            columns.append(
                aliased(exp.Anonymous(this="any_value", expressions=[value]), column.name)
            )
    # Spark sums BIGINT to BIGINT; other engines widen, and a weight stays a BIGINT.
    total = exp.cast(
        exp.Anonymous(this="sum", expressions=[ref(WEIGHT)]), "bigint", dialect="spark"
    )
    summed = select([*columns, aliased(total, WEIGHT)], around.source(node.input, "t"))
    if groups:
        summed.set("group", exp.Group(expressions=groups))
    changed = exp.NEQ(this=ref(WEIGHT), expression=exp.Literal.number(0))
    return select(refs(node), exp.Subquery(this=summed, alias=_alias("s")), where=changed)


@render.register
def _(node: Repeat, around: Surroundings) -> exp.Query:
    weight = ref(WEIGHT)
    count: exp.Expr = exp.Anonymous(this="abs", expressions=[weight])
    if node.plain:
        message = exp.Literal.string("streamtables: changes take away rows that were not there")
        count = exp.If(
            this=exp.LT(this=weight.copy(), expression=exp.Literal.number(0)),
            true=exp.cast(
                exp.Anonymous(this="raise_error", expressions=[message]), "bigint", dialect="spark"
            ),
            false=weight.copy(),
        )
    count = exp.cast(count, "bigint", dialect="spark")
    numbers = exp.Anonymous(this="sequence", expressions=[one(), count])
    exploded = exp.Anonymous(this="explode", expressions=[numbers])
    sign = exp.cast(exp.Anonymous(this="sign", expressions=[weight]), "bigint", dialect="spark")
    inner: list[exp.Expr] = [ref(item) for item in node.names]
    inner += [aliased(sign, "__st_sign"), aliased(exploded, "__st_n")]
    present = exp.NEQ(this=weight.copy(), expression=exp.Literal.number(0))
    repeated = select(inner, around.source(node.input, "t"), where=present)
    columns: list[exp.Expr] = [ref(item) for item in node.names]
    if node.signed:
        columns.append(aliased(ref("__st_sign"), WEIGHT))
    return select(columns, exp.Subquery(this=repeated, alias=_alias("s")))


@render.register
def _(node: Unfold, around: Surroundings) -> exp.Query:
    return select([ref(item) for item in node.names], around.source(node.input, "t"))


@render.register
def _(node: Keys, around: Surroundings) -> exp.Query:
    query = select([ref(item) for item in node.key_columns], around.source(node.input, "t"))
    if not around.may_repeat(node):
        query.set("distinct", exp.Distinct())
    if not node.nulls:
        present = [exp.Not(this=exp.Is(this=ref(i), expression=exp.null())) for i in node.names]
        query.set("where", exp.Where(this=exp.and_(*present)))
    return query


@render.register
def _(node: Restrict, around: Surroundings) -> exp.Query:
    query = select(refs(node, "t"), around.source(node.input, "t"))
    same = key_equality(node.keys)
    equal = [same(this=ref(column, "t"), expression=ref(key, "k")) for column, key in node.on]
    keys = around.source(node.keys, "k")
    query.set("joins", [exp.Join(this=keys, side="LEFT", kind="SEMI", on=exp.and_(*equal))])
    if around.small_changes:
        query.set("hint", broadcast("k"))
    return query


def key_equality(keys: Node) -> type[exp.Binary]:
    """Return the comparison that finds the rows of a key set."""
    return exp.EQ if isinstance(keys, Keys) and not keys.nulls else exp.NullSafeEQ


def _union(queries: list[exp.Query]) -> exp.Query:
    result: exp.Query = queries[0]
    for query in queries[1:]:
        result = exp.Union(this=result, expression=query, distinct=False)
    return result


def _alias(text: str) -> exp.TableAlias:
    return exp.TableAlias(this=name(text))
