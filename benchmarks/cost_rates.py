"""The rates of `refresh/cost_rates.py` on this machine: `python -m benchmarks.cost_rates`.

Seven queries on tables of several sizes, in one warehouse for each way of a refresh; every way
follows changes of several sizes.  What the records say of work and seconds is fitted; the constants
to paste are printed.  Only a machine with nothing else to do gives rates worth keeping.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from unittest.mock import patch

from pyspark.sql import SparkSession

import streamtables
from benchmarks.base import CITIES, PRODUCTS, QUERIES, Base
from benchmarks.cost_fit import Fitted, fit_all
from benchmarks.machine import machine_text
from benchmarks.options import positive
from benchmarks.pages import conditions, save
from benchmarks.postgres_report import add_results_option, show_table
from benchmarks.twins import say
from streamtables.refresh import choosing
from streamtables.refresh.cost_model import WAYS, Sample, Way
from streamtables.refresh.cost_rates import RATES
from streamtables.refresh.costs import samples_of
from streamtables.refresh.decide import Decision, Facts, decide
from streamtables.refresh.results import Reason
from streamtables.settings import Settings

SHAPES = {
    **{name.replace("-", "_"): query for name, query in QUERIES.items()},
    "top": "SELECT product_id, id, amount FROM orders QUALIFY row_number() OVER "
    "(PARTITION BY product_id ORDER BY amount DESC, id) <= 3",
    "semi_join": "SELECT customer_id, city FROM customers c WHERE EXISTS "
    "(SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id AND amount > 50)",
    "twice": "SELECT city, max(total) AS most FROM customers JOIN (SELECT customer_id, "
    "sum(amount) AS total FROM orders GROUP BY customer_id) t USING (customer_id) GROUP BY city",
}
"""Programs of one, two and three statements: otherwise a statement is not told from a refresh."""
_NEVER = 86_400.0
_SETTINGS = {
    "full": Settings(),
    "changes": Settings(choose_from_seconds=_NEVER),
    "merge": Settings(driver_rows_max=0, full_threshold=1.0, choose_from_seconds=_NEVER),
    "whole": Settings(choose_from_seconds=_NEVER),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, fit and print; 1 when a way could not be fitted."""
    options = _options(arguments)
    results = conditions()
    with tempfile.TemporaryDirectory(prefix="streamtables-rates-") as folder:
        samples = measured(Path(folder), options)
    fitted = fit_all(samples, RATES)
    results |= {
        "samples": [asdict(sample) for sample in samples],
        "fitted": {way: asdict(found) for way, found in fitted.items()},
    }
    save(results, options.results, "cost_rates")
    print(machine_text(results["machine"]))
    show(fitted)
    missing = [way for way in WAYS if way not in fitted]
    if missing:
        print(f"error: too few refreshes to fit {', '.join(missing)}", file=sys.stderr)
        print("hint: more --rows or more --changes", file=sys.stderr)
    return 1 if missing else 0


def measured(folder: Path, options: argparse.Namespace) -> list[Sample]:
    """Return what all refreshes took, by every way and size."""
    settings = Settings(spark_driver_memory=options.driver_memory)
    found: list[Sample] = []
    with streamtables.connect(folder / "owner", settings=settings) as owner, ExitStack() as stack:
        labs = []
        for rows in options.rows:
            say(f"tables of {rows:,} rows")
            base = Base(folder / f"rows-{rows}", rows)
            base.make(owner.spark)
            labs.append((base, [stack.enter_context(opened(w, base, owner.spark)) for w in WAYS]))
        for number in range(-options.warm_up, options.rounds):
            for changes in options.changes:
                for base, sides in labs:
                    change(owner.spark, base, min(changes, base.rows // 2))
                    say(f"round {number + 1}: {changes:,} changes of {base.rows:,} rows")
                    taken = [sample for side in sides for sample in side.follow()]
                    found += taken if number >= 0 else []
    return found


def change(spark: SparkSession, base: Base, count: int) -> None:
    """Add so many rows in one commit, which tells their number: the log of an update may not."""
    orders = f"delta.`{base.orders}`"
    spark.sql(
        f"INSERT INTO {orders} SELECT id + (SELECT max(id) + 1 FROM {orders}), "
        f"id * 7919 % {CITIES}, id * 104729 % {PRODUCTS}, CAST(id % 10000 / 100 AS DECIMAL(12, 2)) "
        f"FROM range(0, {count}, 1, 1)"
    )


@dataclass(frozen=True)
class Side:
    """One warehouse, whose refreshes all go one way."""

    way: Way
    db: streamtables.StreamTables

    def follow(self) -> Iterator[Sample]:
        """Refresh every table, and give what its record says."""
        for table in SHAPES:
            with going_whole() if self.way == "whole" else nullcontext():
                self.db.refresh(table, full=self.way == "full")
            yield from (s for s in samples_of(self.db.history(table, limit=1)) if s.way == self.way)


@contextmanager
def opened(way: Way, base: Base, spark: SparkSession) -> Iterator[Side]:
    """Open and fill the warehouse of one way."""
    folder = base.folder / way
    with streamtables.connect(folder, spark=spark, settings=_SETTINGS[way]) as db:
        db.add_source("orders", path=base.orders, key=["id"])
        db.add_source("customers", path=base.customers, key=["customer_id"])
        for name, query in SHAPES.items():
            db.create(name, query, mode="differential")
        for result in db.refresh_all():
            if result.error is not None:
                raise result.error
        yield Side(way, db)


@contextmanager
def going_whole() -> Iterator[None]:
    """Have refreshes compute the query and compare, which no setting asks for."""

    def whole(facts: Facts) -> Decision:
        found = decide(facts)
        open_ = found.way == "changes"
        return Decision("whole", Reason("measured", "this way is measured")) if open_ else found

    with patch.object(choosing, "decide", whole):
        yield


def show(fitted: dict[Way, Fitted]) -> None:
    """Print how well the rates fit, and the constants."""
    rows = [
        [way, str(found.works), f"{100 * found.error:.0f} %", f"{100 * found.error_before:.0f} %"]
        for way, found in fitted.items()
    ]
    show_table(["way", "pieces of work", "fit is off by", "rates in use are off by"], rows)
    print("\nRATES: Mapping[Way, Rates] = {")
    for found in fitted.values():
        print(found.line())
    print("}")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.cost_rates", description=(__doc__ or "").splitlines()[0]
    )
    sizes, changes = [10_000, 100_000, 1_000_000, 5_000_000], [1, 100, 2_000, 20_000]
    parser.add_argument("--rows", type=positive, nargs="+", default=sizes, help="base tables")
    parser.add_argument("--changes", type=positive, nargs="+", default=changes, help="sizes")
    parser.add_argument("--rounds", type=positive, default=3, help="of every size; the median")
    parser.add_argument("--warm-up", type=int, default=1, help="rounds that are not counted")
    parser.add_argument("--driver-memory", default="4g", help="memory of Spark's driver")
    add_results_option(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
