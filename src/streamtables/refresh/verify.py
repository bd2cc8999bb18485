"""Checking a stream table against its query, recomputed from the roots.

Every stream table below is computed again from its own query, down to the sources at the table's
base frontier.  So a wrong row, a wrong pin and a mixed moment all show.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from streamtables.catalog.definitions import CatalogSnapshot
from streamtables.catalog.models import StreamTable
from streamtables.catalog.scheduler_models import Event
from streamtables.compiler.algebra import CLOCK_TABLE
from streamtables.compiler.backend.statement import view_name
from streamtables.engine.binding import TableVersion, bind, read_version
from streamtables.engine.compare import compare
from streamtables.engine.handles import Session
from streamtables.engine.programs import run_large
from streamtables.engine.sampling import drawn, hashed_columns
from streamtables.engine.sql_text import identifier
from streamtables.errors import ConfigError, NotFilledError
from streamtables.positions import CLOCK, OF_NO_QUERY, Standing
from streamtables.refresh.adopt import reconciled
from streamtables.refresh.clock import clock_rows
from streamtables.refresh.library import require_registered
from streamtables.refresh.surroundings import Surroundings

DIFFERENT = "verify-difference"


@dataclass(frozen=True)
class Verification:
    """How the stored rows compare with the query at the table's own base frontier."""

    table: str
    equal: bool
    missing: int
    extra: int
    sample: pa.Table
    version: int
    share: float = 1.0
    """The part of the rows that was compared."""


def verify(
    table: StreamTable,
    snapshot: CatalogSnapshot,
    around: Surroundings,
    *,
    share: float = 1.0,
    draw: int = 0,
) -> Verification:
    """Recompute a table and compare it with what is stored, as bags, both ways.

    With a `share` below one only that part is compared, drawn by key; `draw` says which.

    Raises:
        ConfigError: the share is out of bounds.
        NotFilledError: the rows are still those of a query that was altered since, or of a source
            that was made anew.
        TableDamagedError: somebody else wrote to the table, whatever the rows are now.
    """
    _check_share(share)
    standing = stored_standing(table, snapshot, around)
    if found := reconciled(table, standing, around.catalog, around.clock()):
        standing = found.standing
    _require_settled(table, standing, snapshot)
    _require_same_roots(table, standing, snapshot, around)
    plan = around.plans.plan(table, snapshot.definitions)
    require_registered(plan.facts, around.sessions.functions, table.name)
    with around.sessions.lease("bulk", tag=verify_tag(table.name)) as spark:
        _bind_roots(spark, table, snapshot, standing)
        for ancestor in snapshot.definitions.ancestors(table.id):
            below = around.plans.plan(ancestor, snapshot.definitions)
            require_registered(below.facts, around.sessions.functions, ancestor.name)
            bind(spark, view_name(ancestor.name, "after"), run_large(spark, below.query))
        expected = run_large(spark, plan.query)
        stored = read_version(spark, TableVersion(table.location, standing.version))
        stored = stored.select(*map(identifier, expected.columns))
        if share < 1.0 and (columns := hashed_columns(expected, table.key_columns)):
            expected, stored = (drawn(rows, columns, share, draw) for rows in (expected, stored))
        else:
            share = 1.0
        difference = compare(spark, expected, stored, inexact=plan.facts.inexact)
    answer = Verification(
        table=table.name,
        equal=difference.missing == 0 and difference.extra == 0,
        missing=difference.missing,
        extra=difference.extra,
        sample=difference.sample,
        version=int(standing.version),
        share=share,
    )
    _report(table, answer, around)
    return answer


def verify_tag(name: str) -> str:
    """Return the tag by which the Spark jobs of a comparison can be cancelled."""
    return f"verify {name}"


def _check_share(share: float) -> None:
    if not 0.0 < share <= 1.0:
        raise ConfigError(
            f"a share of {share} cannot be compared",
            detail="Permitted: more than 0, at most 1.",
        )


def _require_settled(table: StreamTable, standing: Standing, snapshot: CatalogSnapshot) -> None:
    """Refuse to hold rows against a query that they do not follow yet."""
    standings = {**snapshot.standings, table.id: standing}
    for item in (*snapshot.definitions.ancestors(table.id), table):
        filled = standings.get(item.id)
        if filled is not None and filled.query_hash == OF_NO_QUERY:
            raise _made_anew(f'a table that "{item.name}" reads', table)
        if filled is not None and filled.query_hash != item.defining_query_hash:
            raise NotFilledError(
                f'the altered query of stream table "{item.name}" has not been refreshed yet',
                detail=f'The rows of "{table.name}" follow the query of before.',
                hint=f'Run refresh("{table.name}") first.',
            )


def _require_same_roots(
    table: StreamTable, standing: Standing, snapshot: CatalogSnapshot, around: Surroundings
) -> None:
    """Refuse to read a version of one table as if it were that of another at the same place."""
    roots = snapshot.definitions.roots(table.id)
    around.watch.expect(roots, around.catalog.heads(roots))
    for root in roots:
        source, version = snapshot.sources[root], standing.base_frontier[root]
        anew = version < 0
        if source.kind != "postgres" and not anew:
            anew = around.watch.look(source, version).drift.anew
        if anew:
            raise _made_anew(f'source "{source.name}"', table)


def _made_anew(what: str, table: StreamTable) -> NotFilledError:
    return NotFilledError(
        f'{what} was made anew after the last refresh of "{table.name}"',
        detail="The rows follow a table that is gone.",
        hint=f'Run refresh("{table.name}") first.',
    )


def _report(table: StreamTable, found: Verification, around: Surroundings) -> None:
    around.observer.verified(equal=found.equal)
    if not found.equal:
        text = f"{found.missing:,} rows are missing and {found.extra:,} are too many"
        event = Event(around.clock(), DIFFERENT, text, table.id, table.name)
        around.catalog.record_events([event])


def stored_standing(
    table: StreamTable, snapshot: CatalogSnapshot, around: Surroundings
) -> Standing:
    """Return where a filled table stands; a table without rows yet is an error."""
    standing = snapshot.standings.get(table.id)
    if standing is None:
        found = reconciled(table, None, around.catalog, around.clock())
        standing = found.standing if found else None
    if standing is None:
        raise NotFilledError(
            f'stream table "{table.name}" has not been filled yet',
            hint=f'Run refresh("{table.name}") first.',
        )
    return standing


def _bind_roots(
    spark: Session, table: StreamTable, snapshot: CatalogSnapshot, standing: Standing
) -> None:
    if (moment := standing.base_frontier.get(CLOCK)) is not None:
        bind(spark, view_name(CLOCK_TABLE, "after"), clock_rows(moment))
    for root in snapshot.definitions.roots(table.id):
        source = snapshot.sources[root]
        version = TableVersion(source.location, standing.base_frontier[root])
        bind(spark, view_name(source.name, "after"), version)
