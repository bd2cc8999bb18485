"""How an operator is added, walked through with one that SQL does not have.

`Odd(X)` shows, once each, the rows that occur an odd number of times in X.  The steps are those of
CONTRIBUTING.md: a node with its delta rule, its SELECT, and the laws on random histories.  SQL has
no word for it, so the front end's part is played by a query of whose plan it becomes the root.

The same node with the wrong rule is found out by the same laws.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from sqlglot import exp

from streamtables.compiler.algebra import Column, Keyed, Node, differentiate, kind_of
from streamtables.compiler.algebra.node import Unary, delta_rule
from streamtables.compiler.backend.operators import Surroundings, render
from streamtables.compiler.backend.select import ref, refs, select
from streamtables.compiler.plan import Plan, compile_sql
from tests.support.choices import Seeded
from tests.support.duckdb_oracle import check_history
from tests.support.histories import KEYS, TABLES, random_history
from tests.support.laws import Trial, check_halves
from tests.support.maintained_table import WAYS, check_maintenance

QUERIES = [
    "SELECT a, s FROM r",
    "SELECT r.a, t.s FROM r JOIN t ON r.a = t.a",
    "SELECT a FROM r UNION ALL SELECT a FROM u",
    "SELECT a, count(*) AS n FROM u GROUP BY a",
]


# 1. Node and delta rule


@dataclass(frozen=True, eq=False)
class Odd(Keyed):
    """The rows that occur an odd number of times, each once.

    What it shows of a row depends on the rows equal to it alone, so the keyed rule on all columns
    is right; it comes with the base class, and nothing has to be registered on `delta_rule`.
    """

    @property
    def key_columns(self) -> tuple[str, ...]:
        return self.input.names

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns


@dataclass(frozen=True, eq=False)
class WronglyKept(Unary):
    """The same rows, by a rule that looks at the changes alone."""

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.input.columns


@delta_rule.register
def delta_wrongly_kept(node: WronglyKept) -> Node:
    """Return the changes as they come: how often a row was there before is forgotten."""
    return differentiate(node.input)


# 2. Back end


@render.register(Odd)
@render.register(WronglyKept)
def _(node: Odd | WronglyKept, around: Surroundings) -> exp.Query:
    query = select(refs(node), around.source(node.input, "t"))
    query.set("group", exp.Group(expressions=[ref(name) for name in node.names]))
    count = exp.Mod(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(2))
    query.set("having", exp.Having(this=exp.EQ(this=count, expression=exp.Literal.number(1))))
    return query


# 3. The laws


def trial(sql: str, operator: type[Odd | WronglyKept], seed: int) -> Trial:
    """Return a query under the operator, and a random history for it."""
    plan = compile_sql(sql, TABLES, KEYS)
    assert plan.root is not None
    # The text has no word for the operator: no law may compare with the text as written.
    above: Plan = replace(plan, root=operator(plan.visible))
    return Trial(above, random_history(Seeded(seed)), deterministic=False)


@pytest.mark.parametrize("sql", QUERIES)
def test_the_operator_is_kept_by_its_changes(sql: str):
    for seed in range(6):
        tried = trial(sql, Odd, seed)
        assert tried.plan.incremental
        check_history(tried.plan, tried.database(), tried.batches)
        check_halves(tried, tried.database())


@pytest.mark.parametrize("way", range(len(WAYS)))
@pytest.mark.parametrize("sql", QUERIES)
def test_a_table_of_it_is_kept_in_every_way(sql: str, way: int):
    for seed in range(2):
        tried = trial(sql, Odd, seed)
        check_maintenance(tried.plan, tried.database(), tried.batches, way)


def test_explain_has_its_kind():
    tried = trial(QUERIES[0], Odd, 0)
    assert tried.plan.root is not None
    assert kind_of(tried.plan.root) == "keyed"


def test_a_wrong_rule_is_found_out():
    def tried() -> None:
        for seed in range(12):
            wrong = trial(QUERIES[0], WronglyKept, seed)
            check_history(wrong.plan, wrong.database(), wrong.batches)

    with pytest.raises(AssertionError):
        tried()
