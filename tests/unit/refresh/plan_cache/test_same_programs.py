"""A plan from the caches gives byte for byte what a plan that was compiled just now gives."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from streamtables.compiler.plan import compile_sql
from streamtables.compiler.plan_facts import PlanFacts
from streamtables.positions import InputId
from streamtables.refresh.plan_cache import Basis, KeptPlan, Levels
from streamtables.refresh.plan_cache.counts import Counts
from streamtables.refresh.plan_cache.shared_file import SharedFile
from tests.golden.golden import Golden
from tests.tpch.queries import NUMBERS, query_text
from tests.tpch.schema import KEYS, TABLES
from tests.unit.refresh.plan_cache.shelf import LIMITS, basis

GOLDEN_FOLDER = Path(__file__).parents[3] / "golden"
GOLDEN = sorted(GOLDEN_FOLDER.rglob("*.sql"))
ID = InputId("table")

Tables = Mapping[str, Mapping[str, str]]
Keys = Mapping[str, Sequence[str]]


def _name(path: Path) -> str:
    return path.relative_to(GOLDEN_FOLDER).with_suffix("").as_posix()


def _changed_sets(tables: Sequence[str]) -> Iterator[frozenset[str]]:
    """Yield each table alone, and all of them."""
    yield from (frozenset({table}) for table in tables)
    if len(tables) > 1:
        yield frozenset(tables)


def _asked(plan: KeptPlan, tables: Sequence[str]) -> list[object]:
    found: list[object] = [plan.facts, plan.stored, plan.query]
    for changed in _changed_sets(tables) if plan.facts.incremental else ():
        found += [plan.changes(changed, small=small) for small in (True, False)]
        found.append(plan.changes(changed, small=True, found=True))
    if plan.facts.state is None:
        return found
    return [*found, plan.state_rows, plan.lost_groups(), plan.lost_groups(found=True)]


def _check(sql: str, tables: Tables, keys: Keys, folder: Path) -> None:
    fresh = compile_sql(sql, tables, keys)
    kept = basis(sql, tables, keys)
    asked = []
    for _ in range(2):
        counts = Counts()
        store = SharedFile(folder, 8)
        plan = KeptPlan(ID, kept, Levels(counts, {"l0": store}), LIMITS)
        asked.append(_asked(plan, fresh.tables))
        store.close()
    assert (counts.parse_count, counts.differentiate_count) == (0, 0)
    assert asked[0] == asked[1]
    assert repr(asked[0]) == repr(asked[1])
    _check_against_fresh(sql, tables, keys, asked[1])
    _check_tree(kept, sql, tables, keys)


def _check_against_fresh(sql: str, tables: Tables, keys: Keys, found: list[object]) -> None:
    """Compare with programs that the compiler makes without any of the caches' code."""
    fresh = compile_sql(sql, tables, keys)
    expected: list[object] = [PlanFacts.of(fresh)]
    if fresh.root is None:
        assert found == [*expected, fresh.query_program(), fresh.query_program()]
        return
    kept = fresh.maintenance
    expected += [kept.full(), fresh.query_program()]
    for changed in _changed_sets(fresh.tables) if fresh.incremental else ():
        before, scans = LIMITS.before(kept.definition), LIMITS.scans
        small = kept.restricted_to(changed, small=True, before=before, scans_at_most=scans)
        # What the facts say once must hold for every set of changed tables.
        assert (small.table.form, small.table.key_pairs) == (kept.form, kept.key_pairs)
        large = kept.restricted_to(changed, small=False, before=before, scans_at_most=scans)
        expected += [small.answer, large.whole_delta, replace(small, found=True).answer]
    if kept.state is not None:
        before, scans = LIMITS.before(kept.definition), LIMITS.scans
        every = kept.restricted_to(
            frozenset(fresh.tables), small=True, before=before, scans_at_most=scans
        )
        looked_up = replace(every, found=True).lost_groups
        expected += [kept.state_rows, every.lost_groups, looked_up]
    assert found == expected


def _check_tree(kept: Basis, sql: str, tables: Tables, keys: Keys) -> None:
    """Compare what is explained, which is compiled anew from the basis."""
    fresh = compile_sql(sql, tables, keys)
    tree = KeptPlan(ID, kept, Levels(Counts()), LIMITS).tree
    assert tree.query_sql() == fresh.query_sql()
    if fresh.incremental:
        assert tree.delta_sql() == fresh.delta_sql()


@pytest.mark.parametrize("path", GOLDEN, ids=_name)
def test_golden_queries(path: Path, tmp_path: Path):
    golden = Golden.read(path)
    _check(golden.sql, golden.tables, golden.keys, tmp_path)


@pytest.mark.parametrize("number", NUMBERS)
def test_tpch_queries(number: int, tmp_path: Path):
    _check(query_text(number, 1), TABLES, KEYS, tmp_path)
