"""Stream tables over views, SQL functions and Python functions, on Spark."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from streamtables.api import StreamTables
from streamtables.errors import FunctionMissingError, InUseError, SourceUnusableError
from tests.support.delta_tables import DeltaTableFile
from tests.support.spark_oracle import assert_equal_to_query, refreshed

PER_CITY = "SELECT city, sum(worth) AS total, max(size) AS size FROM worthy GROUP BY city"


def size_of(amount: int | None) -> str:
    return "none" if amount is None else "large" if amount > 5 else "small"


@pytest.fixture
def orders(db: StreamTables, tmp_path: Path) -> DeltaTableFile:
    table = DeltaTableFile(
        tmp_path / "orders",
        {"id": "bigint", "city": "string", "amount": "int"},
        [(1, "rome", 2), (2, "rome", 9), (3, "oslo", None), (4, None, 7)],
    )
    db.add_source("orders", path=table.path, key=["id"])
    return table


def define(db: StreamTables) -> None:
    """A view of a view, with a SQL function and a Python function in them."""
    db.register_function("size_of", size_of, returns="string")
    db.sql("CREATE FUNCTION worth_of(x INT, y DECIMAL(10,2)) RETURNS DECIMAL(20,2) RETURN x * y")
    db.sql("CREATE VIEW sized AS SELECT *, size_of(amount) AS size FROM orders WHERE id > 0")
    db.sql("CREATE VIEW worthy AS SELECT city, size, worth_of(amount, 1.5) AS worth FROM sized")


@pytest.mark.parametrize("rows_max", [None, 0], ids=["small", "through-spark"])
def test_a_view_of_a_view_with_both_kinds_of_functions_is_kept(
    spark_sessions, tmp_path: Path, rows_max: int | None
) -> None:
    from tests.support.settings import settings_with

    settings = (
        settings_with()
        if rows_max is None
        else settings_with(driver_rows_max=0, full_threshold=1.0)
    )
    with StreamTables(tmp_path / "w", spark=spark_sessions.get(), settings=settings) as db:
        table = DeltaTableFile(
            tmp_path / "orders",
            {"id": "bigint", "city": "string", "amount": "int"},
            [(1, "rome", 2), (2, "rome", 9), (3, "oslo", None), (4, None, 7)],
        )
        db.add_source("orders", path=table.path, key=["id"])
        define(db)
        db.create("per_city", PER_CITY, mode="differential")
        assert refreshed(db, "per_city").mode == "full"
        table.append((5, "oslo", 1), (6, "rome", 20))
        table.update("id = 2", amount="3")
        table.delete("id = 4")
        result = refreshed(db, "per_city")
        assert (result.mode, result.outcome) == ("differential", "applied")
        table.delete("id > 0")
        assert refreshed(db, "per_city").mode == "differential"
        table.append((7, "bonn", 6))
        refreshed(db, "per_city")
        rows = db.read("per_city").collect()
        assert [(row.city, str(row.total), row.size) for row in rows] == [("bonn", "9.00", "large")]


def test_a_replaced_view_or_function_refreshes_its_readers_fully_once(
    db: StreamTables, orders: DeltaTableFile
) -> None:
    define(db)
    db.create("per_city", PER_CITY)
    db.refresh("per_city")
    db.sql("CREATE OR REPLACE VIEW sized AS SELECT *, size_of(id) AS size FROM orders")
    again = refreshed(db, "per_city")
    assert (again.mode, again.reason.code) == ("full", "query-changed")
    db.sql(
        "CREATE OR REPLACE FUNCTION worth_of(x INT, y DECIMAL(10,2)) "
        "RETURNS DECIMAL(20,2) RETURN x + y"
    )
    assert refreshed(db, "per_city").reason.code == "query-changed"
    assert refreshed(db, "per_city").mode == "no-change"
    orders.append((8, "oslo", 4))
    assert refreshed(db, "per_city").mode == "differential"


def test_a_refused_query_over_views_is_kept_by_full_refreshes(
    db: StreamTables, orders: DeltaTableFile
) -> None:
    define(db)
    db.sql("CREATE VIEW some AS SELECT percentile_approx(worth, 0.5) AS mid FROM worthy -- end")
    db.create("t", "SELECT mid, worth_of(1, 2 /* , */) AS one FROM some")
    assert db.refresh("t").reason.code == "first-fill"
    orders.append((9, "rome", 1))
    assert db.refresh("t").reason.code == "not-incremental"
    assert db.verify("t").equal


def test_a_process_without_the_function_fails_that_table_alone(
    db: StreamTables, orders: DeltaTableFile, tmp_path: Path
) -> None:
    define(db)
    db.create("per_city", PER_CITY)
    db.create("plain", "SELECT count(*) AS n FROM orders")
    db.refresh_all()
    orders.append((5, "oslo", 1))
    with StreamTables(tmp_path / "warehouse", spark=db.spark) as other:
        assert "size_of" in other.explain("per_city").text
        results = {result.table: result for result in other.refresh_all()}
        assert results["plain"].outcome == "applied"
        error = results["per_city"].error
        assert isinstance(error, FunctionMissingError)
        assert "register_function" in error.hint
        with pytest.raises(FunctionMissingError):
            other.verify("per_city")
        other.register_function("size_of", size_of, returns="string")
        assert refreshed(other, "per_city").mode == "differential"


def test_functions_that_pyspark_made_are_taken_with_their_types(
    db: StreamTables, orders: DeltaTableFile
) -> None:
    from pyspark.sql.functions import udf
    from pyspark.sql.pandas.functions import pandas_udf

    def doubled(values: pd.Series) -> pd.Series:
        return values * 2

    assert db.spark is not None
    vectorised = pandas_udf(doubled, "bigint")  # type: ignore[call-overload]  # the usual form
    assert db.register_function("doubled", vectorised).returns == "bigint"
    assert db.register_function("shout", udf(lambda text: text.upper(), "string")).deterministic
    db.create("t", "SELECT id, doubled(id) AS twice, shout(coalesce(city, '')) AS c FROM orders")
    db.refresh("t")
    orders.append((5, "oslo", 1))
    assert refreshed(db, "t").mode == "differential"
    answer = db.sql("SELECT doubled(21) AS n")
    assert answer.collect()[0].n == 42  # type: ignore[attr-defined]


def spread(values: pd.Series) -> int:
    present = values.dropna()
    return int(present.max() - present.min()) if len(present) else -1


def mean_of(values: pd.Series) -> float:
    return float(values.fillna(0.0).mean())


def test_an_aggregate_in_python_is_kept_by_its_groups(
    db: StreamTables, orders: DeltaTableFile
) -> None:
    from pyspark.sql.pandas.functions import pandas_udf

    assert db.spark is not None
    for function, type_ in ((spread, "bigint"), (mean_of, "double")):
        made = pandas_udf(function, type_)  # type: ignore[call-overload]  # the usual form
        known = db.register_function(function.__name__, made)
        assert (known.language, known.returns) == ("python-aggregate", type_)
    queries = {
        "grouped": "SELECT city, spread(amount) AS s, mean_of(id) AS m FROM orders GROUP BY city",
        "some": "SELECT spread(amount + 1) AS s FROM orders GROUP BY city HAVING spread(id) > 0",
        "whole": "SELECT spread(amount) + 1 AS s FROM orders",
        "above": "SELECT max(s) AS m, count(*) AS n FROM "
        "(SELECT spread(amount) AS s FROM orders GROUP BY city)",
        "sets": "SELECT city, spread(amount) AS s FROM orders GROUP BY ROLLUP (city)",
        "over": "SELECT id, spread(amount) OVER (PARTITION BY city) AS s, mean_of(id) OVER "
        "(PARTITION BY city ORDER BY amount ROWS 1 PRECEDING) AS m FROM orders WHERE id <> 3",
    }
    for name, query in queries.items():
        db.create(name, query, mode="differential")
        assert refreshed(db, name).mode == "full"

    def grow() -> None:
        orders.append((5, "oslo", 1), (6, "rome", 20), (7, None, None))
        orders.update("id = 2", amount="3")

    for change in (grow, lambda: orders.delete("id > 0"), lambda: orders.append((8, "bonn", 6))):
        change()
        for name in queries:
            assert refreshed(db, name).mode in ("differential", "no-change"), name
    assert db.verify("grouped").equal


def test_an_aggregate_of_arrow_is_kept_by_its_groups(
    db: StreamTables, orders: DeltaTableFile
) -> None:
    from pyspark.sql.pandas.functions import arrow_udf

    def total(values: pa.Array) -> int:
        return sum(value or 0 for value in values.to_pylist())

    assert db.spark is not None
    db.register_function("total", arrow_udf(total, "bigint"))  # type: ignore[call-overload]  # the usual form
    db.create("t", "SELECT city, total(amount) AS s FROM orders GROUP BY city")
    refreshed(db, "t")
    orders.append((5, "oslo", 1), (6, "bonn", 2))
    assert refreshed(db, "t").mode == "differential"


def test_views_and_functions_can_be_read_in_spark(db: StreamTables, orders: DeltaTableFile) -> None:
    define(db)
    rows = db.sql("SELECT worth_of(2, 3) AS w, sum(worth) AS total FROM worthy").collect()  # type: ignore[attr-defined]
    assert [(str(row.w), str(row.total)) for row in rows] == [("6.00", "27.00")]


def test_a_view_of_spark_becomes_one_of_ours(
    db: StreamTables, orders: DeltaTableFile, tmp_path: Path
) -> None:
    spark = db.spark
    other = DeltaTableFile(tmp_path / "cities", {"city": "string"}, [("rome",)])
    spark.sql(f"CREATE TABLE st_orders USING delta LOCATION '{orders.path}'")
    spark.sql(f"CREATE TABLE st_cities USING delta LOCATION '{other.path}'")
    try:
        spark.sql(
            "CREATE VIEW st_view (town, n) AS SELECT city, count(*) AS c FROM st_orders GROUP BY 1"
        )
        spark.sql("CREATE TEMPORARY VIEW st_temp AS SELECT town, n FROM st_view, st_cities")
        spark.range(3).createOrReplaceTempView("st_frame")
        db.add_source("towns", table="st_view")
        with pytest.raises(SourceUnusableError, match='"st_view", which is not known') as caught:
            db.add_source("some", table="st_temp")
        assert 'add_source("st_view", table="st_view")' in caught.value.hint
        db.add_source("st_view", table="default.st_view")
        with pytest.raises(SourceUnusableError) as caught:
            db.add_source("some", table="st_temp")
        assert 'add_source("st_cities", table="st_cities")' in caught.value.hint
        db.add_source("st_cities", table="st_cities")
        db.add_source("some", table="st_temp")
        with pytest.raises(SourceUnusableError, match="has no text"):
            db.add_source("frame", table="st_frame")
        db.create(
            "t", "SELECT towns.town, towns.n, some.n AS m FROM towns LEFT JOIN some USING (n)"
        )
        db.refresh("t")
        orders.append((5, "oslo", 1))
        assert refreshed(db, "t").mode == "differential"
        assert [source.name for source in db.sources()] == ["orders", "st_cities"]
    finally:
        for statement in (f"VIEW IF EXISTS st_{name}" for name in ("view", "temp", "frame")):
            spark.sql(f"DROP {statement}")
        spark.sql("DROP TABLE IF EXISTS st_orders")
        spark.sql("DROP TABLE IF EXISTS st_cities")


def test_what_is_read_cannot_be_dropped(db: StreamTables, orders: DeltaTableFile) -> None:
    define(db)
    db.create("per_city", PER_CITY)
    db.refresh("per_city")
    with pytest.raises(InUseError, match='stream table "per_city"'):
        db.sql("DROP VIEW sized")
    assert_equal_to_query(db, "per_city")
