"""A warehouse on S3: the same stream tables, with their rows and their sources in a store."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtables.engine import jars
from streamtables.settings import load_settings
from tests.support.object_store import BUCKET, object_store
from tests.support.spark_servers import output_of

FILLED = ["full/overwrite"] * 2
# Five rows came, four went, and one became another; what both came and went is neither.
END = ["published:11", "left:s", "spooled:0"]


def _followed(way: str) -> list[str]:
    """Return how the groups, and then all rows, follow rows that came and rows that changed."""
    return [f"differential/{how}" for how in (way, "append", way, way)]


@pytest.mark.spark
def test_a_warehouse_in_a_store_lives_like_one_on_disk(tmp_path: Path) -> None:
    jars.resolve(jars.s3_folder(load_settings().jars_dir), jars.S3)
    with object_store() as found:
        place, catalog = f"s3://{BUCKET}/shop", str(tmp_path / "catalog")
        said = output_of(
            ["tests/support/store_life.py", place, catalog],
            more={**found, "STREAMTABLES_SPARK_DRIVER_MEMORY": "1g"},
        )
    small = [*FILLED, *_followed("replace-keys"), *END]
    by_spark = [*FILLED, *_followed("merge"), *END]
    files = ["full/overwrite", "differential/replace-keys", "rows:2", "current"]
    files += ["differential/replace-keys", "rows:1", 'the_file_"day=1/a.csv"_is_gone']
    assert said == small + by_spark + files
