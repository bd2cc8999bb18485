"""Gates of what reads changes: the PostgreSQL log, rows by their values, windows of sources."""

from __future__ import annotations

from atexit import register
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random
from struct import pack
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.gates.gate import Benchmark, Gate

MESSAGES, COLUMNS = 5_000, 10
ROWS = 20_000
READERS = 10
_OID = 16_385


def gates() -> Iterator[Gate]:
    """Yield the gates of reading."""
    yield Gate("pgoutput-decode", _decode)
    yield Gate("hash-rows", _net)
    # Files are opened and read by another language, where the kernel has its say.
    yield Gate("reads-coalesced", partial(_reads, shared=True), {"cpu": 1.5})
    yield Gate("reads-single", partial(_reads, shared=False), {"cpu": 1.5})


def messages(count: int, columns: int) -> list[bytes]:
    """Return a transaction as a logical slot gives it: inserts, updates and deletes."""
    listed = b"".join(
        pack(">B", number == 0) + f"c{number}".encode() + b"\0" + pack(">Ii", 25, -1)
        for number in range(columns)
    )
    table = pack(">I", _OID) + b"public\0orders\0d" + pack(">H", columns) + listed
    found = [b"B" + pack(">qqI", 7, 0, 9), b"R" + table]
    for number in range(count):
        values = [str(number * (place + 1)) for place in range(columns)]
        found.append(_message(b"IIIIIUD"[number % 7 : number % 7 + 1], values))
    return found


def _message(kind: bytes, values: Sequence[str]) -> bytes:
    mark = b"K" if kind == b"D" else b"N"
    told = b"".join(b"t" + pack(">I", len(value)) + value.encode() for value in values)
    return kind + pack(">I", _OID) + mark + pack(">H", len(values)) + told


def _decode() -> Benchmark:
    """Measure messages of the log as columns of text."""
    from streamtables.sources.postgres.pgoutput import Decoder

    stream = messages(MESSAGES, COLUMNS)

    def work(_: Any) -> int:
        decoded = Decoder().decode(stream)
        return sum(len(c.text()) for part in decoded.changes for c in part.new.columns)

    return Benchmark(work)


def _net() -> Benchmark:
    """Measure the net of signed rows, which are told apart by codes of their values."""
    import pyarrow as pa

    from streamtables.engine.arrow_rows import net

    random = Random(1)
    keys = [random.randrange(ROWS // 2) for _ in range(ROWS)]
    values = {
        "id": pa.array(keys, pa.int64()),
        "name": pa.array([f"name {key % 977}" for key in keys]),
        "__st_weight": pa.array([random.choice((1, -1)) for _ in keys], pa.int64()),
    }
    rows = pa.table(values)
    return Benchmark(lambda _: net(rows, ["id", "name"]))


def _reads(*, shared: bool) -> Benchmark:
    """Measure one window of a source for ten tables, and count how often it is read."""
    from streamtables.engine.outcomes import TooLarge
    from streamtables.positions import InputId, Version
    from streamtables.sources.changes import SharedChanges, Window

    location = _changed_source()
    window = Window(InputId("source"), location, Version(0), Version(1))
    columns = ("id", "amount")

    def work(_: Any) -> Any:
        changes = SharedChanges(100_000, {window.input_id: columns}, shared=shared)
        for _reader in range(READERS):
            rows = changes.small(window, columns)
            assert not isinstance(rows, TooLarge)
            assert rows.num_rows > 0
        return changes

    return Benchmark(work, counts=lambda changes: {"reads": changes.reads})


def _changed_source() -> str:
    import pyarrow as pa
    from deltalake import write_deltalake

    folder = TemporaryDirectory(prefix="streamtables-gates-")
    register(folder.cleanup)
    location = str(Path(folder.name) / "source")
    rows = pa.table({"id": pa.array(range(1_000)), "amount": pa.array(range(1_000))})
    write_deltalake(location, rows, configuration={"delta.enableChangeDataFeed": "true"})
    write_deltalake(location, rows, mode="append")
    return location
