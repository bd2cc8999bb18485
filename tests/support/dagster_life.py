"""Stream tables as assets of Dagster, for a process in its environment; it prints what came."""

from __future__ import annotations

import sys
from pathlib import Path

from dagster import AssetKey, AssetSpec, DagsterInstance, Definitions, materialize

from streamtables.orchestrate.dagster import stream_table_assets
from tests.support.orchestrated import SmallShop


def main(folder: Path) -> None:
    """Materialize, follow a change, and fail."""
    shop = SmallShop(folder)
    assets = stream_table_assets(shop.warehouse, verify=True)
    graph = Definitions(assets=assets).resolve_asset_graph()
    for key in sorted(graph.get_all_asset_keys()):
        node = graph.get(key)
        above = sorted(parent.to_user_string() for parent in node.parent_keys)
        print(key.to_user_string(), node.is_materializable, above, flush=True)
    made = [item for item in assets if not isinstance(item, AssetSpec)]
    with DagsterInstance.ephemeral() as instance:
        for change in ((), (3, "north", 9)):
            if change:
                shop.orders.append(change)
            done = materialize(made, instance=instance)
            for name in ("revenue", "rich"):
                key = AssetKey(["shop", name])
                facts = done.asset_materializations_for_node(f"shop__{name}")[0].metadata
                values = (facts["mode"].value, facts["rows_inserted"].value, facts["reason"].value)
                (check,) = [c for c in done.get_asset_check_evaluations() if c.asset_key == key]
                print(name, done.success, *values, check.passed, flush=True)
        shop.break_it()
        broken = stream_table_assets(shop.warehouse, tables=["shop.broken"])
        made = [item for item in broken if not isinstance(item, AssetSpec)]
        failed = materialize(made, instance=instance, raise_on_error=False)
        error = failed.failure_data_for_node("shop__broken")
        assert error is not None
        assert error.user_failure_data is not None
        print(failed.success, error.user_failure_data.description.split("]")[0] + "]", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
