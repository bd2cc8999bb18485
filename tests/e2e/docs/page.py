"""A page that is lived: its blocks run, in their order, in a folder and a warehouse of their own.

What is shown in Python and again on the command line would be done twice in one warehouse, so the
two have one each: `blocks` runs Python, SQL and cells, `commands` what stands after a prompt.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

import streamtables
from streamtables.api import StreamTables
from streamtables.cli import main
from tests.e2e.docs.blocks import Piece, all_blocks, commands, excuse_of
from tests.support.catalogs import with_catalog
from tests.support.delta_tables import DeltaTableFile

if TYPE_CHECKING:
    from streamtables.engine.session import SparkSessions
    from streamtables.settings import Settings

Way = Literal["blocks", "commands"]
LANGUAGES: Mapping[Way, frozenset[str]] = {
    "blocks": frozenset({"python", "py", "sql", "ipython"}),
    "commands": frozenset({"sh"}),
}


def pieces_of(page: str, way: Way) -> list[Piece]:
    """Return what runs of a page."""
    found: list[Piece] = []
    for block in all_blocks():
        if block.page == page and block.language in LANGUAGES[way]:
            found += commands(block) if way == "commands" else [Piece(block, block.text)]
    return [piece for piece in found if not excuse_of(piece)]


class Terminal(io.StringIO):
    """Somebody who says yes."""

    def isatty(self) -> bool:
        return True


class Page:
    """A page, the folder in which it runs, and the warehouse there."""

    def __init__(
        self, name: str, way: Way, folder: Path, spark: SparkSessions, patch: pytest.MonkeyPatch
    ) -> None:
        self.name, self.way, self.folder = name, way, folder
        self.patch = patch
        self.names: dict[str, Any] = {"__name__": "page"}
        self.exit_codes: dict[str, int] = {}
        """What commands answer with that do not answer with 0."""
        self._spark = spark
        self._places = {folder / "warehouse"}
        self._ended = ExitStack()
        self.db = self.connect("warehouse")

    # What a page finds

    def table(self, path: str, columns: Mapping[str, str], *rows: Sequence[Any]) -> DeltaTableFile:
        """Lay a Delta table into the folder."""
        return DeltaTableFile(self.folder / path, columns, rows)

    def source(
        self, name: str, columns: Mapping[str, str], *rows: Sequence[Any], key: str | None = None
    ) -> DeltaTableFile:
        """Lay a Delta table into the folder, and add it as a source."""
        made = self.table(f"data/{name}", columns, *rows)
        self.db.add_source(name, path=made.path, key=key)
        return made

    def filled(self, name: str, query: str) -> None:
        """Create a stream table, and fill it."""
        self.db.create(name, query)
        self.db.refresh(name)

    def write(self, path: str, text: str) -> None:
        """Write a file into the folder."""
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text, encoding="utf-8")

    def at_end(self, work: Callable[[], object]) -> None:
        """Do something when the page has ended."""
        self._ended.callback(work)

    def connect(
        self,
        warehouse: str | Path,
        catalog: str | None = None,
        spark: object = None,
        settings: Settings | None = None,
    ) -> StreamTables:
        """Open a warehouse on the Spark of the tests; one that is nobody's to make, in our folder."""
        place = self.folder / warehouse
        if not place.is_relative_to(self.folder):
            place = self.folder / "warehouse"
        if not place.exists() and catalog is None:
            with_catalog(place)
        self._places.add(place)
        opened = StreamTables(place, catalog=catalog, spark=self._spark.get(), settings=settings)
        return self._ended.enter_context(opened)

    # What it does

    def run(self) -> int:
        """Run what the page shows; return how many pieces that were."""
        found = pieces_of(self.name, self.way)
        for block in all_blocks():
            if block.page == self.name and block.language == "sql" and block.file:
                self.write(block.file, block.text)
        for piece in found:
            try:
                self._run(piece)
            except Exception as error:
                error.add_note(f"at {piece.block}: {piece}")
                raise
        return len(found)

    def _run(self, piece: Piece) -> None:
        self.names["db"] = self.db
        match piece.block.language:
            case "sh":
                self._command(piece)
            case "sql":
                self._statement(piece)
            case "ipython":
                self._cell(piece.text)
            case _:
                # Lines of an error are those of the page.
                text = "\n" * (piece.block.line - 1) + piece.text
                exec(compile(text, piece.block.page, "exec"), self.names)

    def _statement(self, piece: Piece) -> None:
        if piece.block.file:
            return
        if piece.text.lstrip().upper().startswith("SELECT"):
            assert not self.db.validate(piece.text).data["refusals"]
        else:
            self.db.sql(piece.text)

    def _cell(self, text: str) -> None:
        shell = self.names["get_ipython"]()
        shell.user_ns.update(db=self.db)
        shell.run_cell(text).raise_error()

    def _command(self, piece: Piece) -> None:
        program, *words = piece.words
        if program == "cd":
            self.patch.chdir(words[0])
        elif program == "export":
            for word in words:
                self.patch.setenv(*word.split("=", 1))
        else:
            assert program == "streamtables", f"nobody runs {program} here"
            self.patch.setattr("sys.stdin", Terminal("y\n"))
            code = main(words, connect=self.connect)
            assert code == self.exit_codes.get(piece.text, 0), f"exit {code}"

    def assert_equal(self) -> None:
        """Have all that the page left refreshed once more, and compared with its query."""
        for place in sorted(place for place in self._places if place.exists()):
            db = self.db if place == self.db.warehouse else self.connect(place)
            db.resume()
            db.refresh_all()
            active = [table.name for table in db.stream_tables() if table.state == "active"]
            assert [name for name in active if not db.verify(name).equal] == []

    def close(self) -> None:
        """Close what was opened."""
        self._ended.close()


@contextmanager
def opened(
    name: str, way: Way, folder: Path, spark: SparkSessions, patch: pytest.MonkeyPatch
) -> Iterator[Page]:
    """Give a page that is ready to run, in its folder."""
    for variable in ("STREAMTABLES_WAREHOUSE", "STREAMTABLES_CATALOG", "STREAMTABLES_ENV"):
        patch.delenv(variable, raising=False)
    # A Spark that begins now outlives the page, and must not begin in its folder.
    spark.get()
    before = os.getcwd()
    patch.chdir(folder)
    patch.setattr(tempfile, "tempdir", str(folder))
    page = Page(name, way, folder, spark, patch)
    patch.setattr(streamtables, "connect", page.connect)
    try:
        yield page
    finally:
        page.close()
        os.chdir(before)
