"""Plans, levels and catalogs with defaults, so that a test names only what it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from streamtables.catalog import Catalog
from streamtables.catalog.models import Column, StreamTable
from streamtables.refresh.define import Choices, define
from streamtables.refresh.limits import limits_of
from streamtables.refresh.plan_cache import Basis
from streamtables.refresh.plan_cache.basis import InputBasis
from streamtables.refresh.plans import Plans
from streamtables.settings import Settings
from tests.unit.catalog.builders import START

TOTALS = "SELECT id % 10 AS bucket, sum(amount) AS total FROM orders GROUP BY id % 10"


def basis(
    sql: str, tables: Mapping[str, Mapping[str, str]], keys: Mapping[str, Sequence[str]]
) -> Basis:
    """Return what a query over plain tables is compiled from."""
    inputs = tuple(
        InputBasis(
            name,
            tuple(Column(column, type_) for column, type_ in columns.items()),
            tuple(keys.get(name, ())),
        )
        for name, columns in tables.items()
    )
    return Basis(sql, "hash", inputs, ())


LIMITS = limits_of(Settings())


def created(catalog: Catalog, name: str = "totals", query: str = TOTALS) -> StreamTable:
    """Define a stream table in a catalog."""
    definitions = catalog.snapshot().definitions
    made = define(name, query, Choices(), definitions, location=f"/warehouse/{name}", at=START)
    return catalog.create_stream_table(made.table, made.inputs)


def plans_of(catalog: Catalog, folder: Path, *, megabytes: int = 8, entries: int = 256) -> Plans:
    """Return plans as a process that has just opened the warehouse has them."""
    settings = Settings(
        plan_cache_dir=folder,
        plan_cache_max_megabytes=megabytes,
        template_cache_max_entries=entries,
    )
    return Plans.of(catalog, settings)
