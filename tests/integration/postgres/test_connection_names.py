"""Each connection names its purpose to the server, whose own log says who was let in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

import streamtables
from streamtables.demo.postgres_server import PostgresServer, running_server
from streamtables.errors import TransientError
from streamtables.positions import Sequence
from streamtables.publish.postgres_sink import PostgresSink
from streamtables.sources.postgres import copying, wal
from streamtables.sources.postgres.facts import describe_table, find_table
from streamtables.sources.postgres.health import capture_findings
from streamtables.sources.postgres.server import Server
from streamtables.sources.postgres.status import capture_status
from streamtables.sources.postgres.types import map_columns
from streamtables.sources.postgres.wakeups import Wakeups
from tests.support.postgres_chain import Chain

pytestmark = pytest.mark.postgres

LET_IN = re.compile(r"connection authorized: .* application_name=(.*?)(?: SSL .*)?$", re.MULTILINE)
OPENED = re.compile(r"\.connected\(\s*\"(\w+)\"")
PAGE = Path(__file__).resolve().parents[3] / "docs" / "postgresql.md"


@dataclass
class Watched:
    """A captured table, and the log of its server."""

    server: PostgresServer
    chain: Chain
    writer: psycopg.Connection[Any]

    @contextmanager
    def let_in(self) -> Iterator[list[str]]:
        """Gather the names of the connections that are made meanwhile."""
        log, found = self.server.folder / "server.log", list[str]()
        begin = log.stat().st_size
        yield found
        found += LET_IN.findall(log.read_bytes()[begin:].decode())


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with running_server(fsync="off", log_connections="on") as started:
        yield started


@pytest.fixture
def watched(server: PostgresServer, tmp_path: Path) -> Iterator[Watched]:
    with (
        psycopg.connect(server.url, autocommit=True) as writer,
        Chain(tmp_path / "w", server.url) as chain,
    ):
        writer.execute("DROP TABLE IF EXISTS keyed")
        writer.execute("CREATE TABLE keyed (id int PRIMARY KEY)")
        chain.add("keyed")
        yield Watched(server, chain, writer)
        for source in chain.catalog.sources():
            chain.capture.drop(source)


def without_flushes(names: list[str]) -> list[str]:
    """Leave out what comes and goes: the log happens to be on disk, or it does not."""
    return [name for name in names if name != "streamtables flush"]


@pytest.fixture
def log_lags(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the first look at the server's log find that it is not on disk yet."""
    first, is_flushed = [True], wal.is_flushed

    def late(*arguments: Any) -> bool:
        return not first.pop() if first else is_flushed(*arguments)

    monkeypatch.setattr(wal, "is_flushed", late)


class SparkThatReadsNothing:
    """Gives itself to who wants Spark, and keeps the address that Java would be given."""

    def __init__(self) -> None:
        self.read = self
        self.address = ""

    @contextmanager
    def lease(self, *_: object, **__: object) -> Iterator[Any]:
        yield self

    def option(self, *_: object) -> Any:
        return self

    def jdbc(self, address: str, *_: object, **__: object) -> Any:
        self.address = address
        raise TransientError("nothing is read here")


def _drain(watched: Watched) -> None:
    watched.writer.execute("INSERT INTO keyed VALUES (1)")
    assert watched.chain.drain() == {}


def _look(watched: Watched) -> None:
    watched.chain.capture.looks_quiet(*watched.chain.catalog.captured_databases())


def _status(watched: Watched) -> None:
    [status] = capture_status(watched.chain.catalog, datetime.now(UTC))
    assert status.error is None


def _doctor(watched: Watched) -> None:
    assert not any(finding.fault for finding in capture_findings(watched.chain.catalog))


def _setup(watched: Watched) -> None:
    watched.chain.capture.drop(watched.chain.catalog.source("keyed"))


def _listen(watched: Watched) -> None:
    called = Event()
    ears = Wakeups(called.set)
    known = list(watched.chain.catalog.captured_databases().values())
    sources = frozenset(capture.source_id for capture in known[0].captures)
    try:
        assert ears.want(sources, lambda: known) == []
        # The first call comes when somebody listens.
        assert called.wait(10)
    finally:
        ears.close()


def _publish(watched: Watched) -> None:
    assert PostgresSink("it", "reader", watched.server.url, "public.target").position() is None


def _copy(watched: Watched) -> SparkThatReadsNothing:
    mirror, spark = watched.chain.catalog.source("keyed"), SparkThatReadsNothing()
    table = describe_table(watched.writer, find_table(watched.writer, "keyed"))
    assert table is not None
    with pytest.raises(TransientError, match="nothing is read here"):
        copying.copy_table(
            Server(watched.server.url),
            table,
            map_columns(table),
            mirror,
            Sequence(1),
            head=None,
            parts=1,
            sessions=spark,  # type: ignore[arg-type]  # stands in for Spark
        )
    return spark


CALLS: dict[str, tuple[Callable[[Watched], object], list[str]]] = {
    "drain": (_drain, ["drain"]),
    "look": (_look, ["look"]),
    "status": (_status, ["status"]),
    "doctor": (_doctor, ["doctor"]),
    "setup": (_setup, ["setup"]),
    "listen": (_listen, ["setup", "listen"]),
    "publish": (_publish, ["publish"]),
    "copy": (_copy, ["copy"]),
}


@pytest.mark.parametrize(("call", "names"), CALLS.values(), ids=CALLS)
def test_the_server_sees_what_a_connection_is_for(
    watched: Watched, call: Callable[[Watched], object], names: list[str]
) -> None:
    with watched.let_in() as found:
        call(watched)
    assert without_flushes(found) == [f"streamtables {name}" for name in names]


@pytest.mark.parametrize(
    ("call", "name"), [(_drain, "drain"), (_copy, "copy")], ids=["drain", "copy"]
)
def test_the_server_sees_who_has_its_log_written_out(
    watched: Watched, log_lags: None, call: Callable[[Watched], object], name: str
) -> None:
    with watched.let_in() as found:
        call(watched)
    assert found == [f"streamtables {name}", "streamtables flush"]


def test_a_source_is_added_by_connections_that_all_have_names(watched: Watched) -> None:
    watched.writer.execute("DROP TABLE IF EXISTS other")
    watched.writer.execute("CREATE TABLE other (id int PRIMARY KEY)")
    with watched.let_in() as found:
        watched.chain.add("other")
    wanted = [f"streamtables {name}" for name in ("setup", "copy", "drain")]
    assert without_flushes(found) == wanted


def test_java_is_told_the_name_of_the_copy(watched: Watched) -> None:
    # In the address: Spark would hand it on in lower case, which Java does not know.
    asked = parse_qs(urlsplit(_copy(watched).address.removeprefix("jdbc:")).query)
    assert asked == {"ApplicationName": ["streamtables copy"]}


def test_every_name_that_is_given_is_watched_here_and_on_the_page() -> None:
    package = Path(streamtables.__file__).parent
    given = {name for path in package.rglob("*.py") for name in OPENED.findall(path.read_text())}
    assert given == {*CALLS, "flush"}
    [said] = [
        line
        for line in PAGE.read_text(encoding="utf-8").split("\n\n")
        if line.startswith("Each connection names its purpose")
    ]
    assert set(re.findall(r"`(?:streamtables )?(\w+)`", said)) - {"pg_stat_activity"} == given
