"""Stream tables as assets of Dagster.

    defs = Definitions(assets=stream_table_assets("warehouse"))

Each stream table is an asset that depends on what it reads; sources are assets that others make.
To materialize one is to refresh it, and its metadata say how that was done and why.
"""

# Dagster reads the annotations of an asset's function as values, so they are no texts here.

from collections.abc import Mapping, Sequence
from typing import Any

from dagster import (
    AssetCheckResult,
    AssetCheckSpec,
    AssetExecutionContext,
    AssetKey,
    AssetsDefinition,
    AssetSpec,
    Failure,
    MaterializeResult,
    MetadataValue,
    asset,
)

from streamtables.api import StreamTables
from streamtables.errors import StreamTablesError, UserError
from streamtables.graph import Graph
from streamtables.orchestrate.told import facts_of, opened, refreshed, sentence_of

_VERIFIED = "equal_to_its_query"


def stream_table_assets(
    warehouse: str,
    *,
    catalog: str | None = None,
    tables: Sequence[str] | None = None,
    verify: bool = False,
    group_name: str = "stream_tables",
) -> list[AssetsDefinition | AssetSpec]:
    """Return an asset for each stream table, or for some, and one for each source that they read.

    With `verify` every asset has a check that computes its query anew and compares.
    """
    with opened(warehouse, catalog) as db:
        graph = db.graph()
        texts = {table.name: table.query for table in db.stream_tables()}
    reads = _reads(graph)
    chosen = [name for name in texts if tables is None or name in tables]
    read = {name for table in chosen for name in reads.get(table, ())}
    sources = [AssetSpec(_key(name), group_name=group_name) for name in sorted(read - set(texts))]
    made = [
        _asset(name, texts[name], reads.get(name, ()), (warehouse, catalog), group_name, verify)
        for name in chosen
    ]
    return [*sources, *made]


def _asset(
    name: str,
    query: str,
    reads: Sequence[str],
    place: tuple[str, str | None],
    group_name: str,
    verify: bool,
) -> AssetsDefinition:
    key = _key(name)
    checks = [AssetCheckSpec(_VERIFIED, asset=key)] if verify else None

    @asset(
        key=key,
        deps=[_key(item) for item in reads],
        group_name=group_name,
        kinds={"deltalake", "spark"},
        description=f"```sql\n{query.strip()}\n```",
        check_specs=checks,
    )
    def refreshed_asset(context: AssetExecutionContext) -> MaterializeResult:
        try:
            with opened(*place) as db:
                result = refreshed(db, [name], full=False)[-1]
                equal = _check(db, name) if verify else None
        except StreamTablesError as error:
            raise Failure(
                f"[{error.code}] {error}",
                metadata={"hint": error.hint},
                allow_retries=not isinstance(error, UserError),
            ) from error
        context.log.info(sentence_of(result))
        return MaterializeResult(
            metadata=_metadata(facts_of(result)), check_results=[equal] if equal else []
        )

    return refreshed_asset


def _check(db: StreamTables, name: str) -> AssetCheckResult:
    found = db.verify(name)
    return AssetCheckResult(
        passed=found.equal,
        check_name=_VERIFIED,
        metadata={"missing": found.missing, "extra": found.extra},
    )


def _metadata(facts: Mapping[str, Any]) -> dict[str, Any]:
    known = {key: value for key, value in facts.items() if value is not None}
    return {**known, "dagster/row_count_change": MetadataValue.int(_balance(facts))}


def _balance(facts: Mapping[str, Any]) -> int:
    return int(facts["rows_inserted"]) - int(facts["rows_deleted"])


def _reads(graph: Graph) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for read, reader in graph.edges:
        found.setdefault(reader, []).append(read)
    return found


def _key(name: str) -> AssetKey:
    return AssetKey(name.split("."))
