"""What is fuzzed: for each door into the program, inputs and what is done with one of them.

An input is bytes, so that every one can be kept in a file and tried again.  A door may answer or
refuse with an error of our own tree; anything else is a finding, and so is an internal error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis.strategies import SearchStrategy

from streamtables.apply_folder import _statements
from streamtables.catalog import Catalog
from streamtables.catalog.names import check_name
from streamtables.choices import checked_choices
from streamtables.compiler.pipeline_statements import (
    parse_pipeline_statement,
    with_short_names,
    without_stream,
)
from streamtables.compiler.plan import compile_sql
from streamtables.compiler.statements import parse_statement, split_statements
from streamtables.engine.delta_log import DeltaLog, EntryCache
from streamtables.engine.log_entry import parse_entry
from streamtables.errors import InternalError, StreamTablesError
from streamtables.positions import Version
from streamtables.project.sdp.found import Found
from streamtables.project.sdp.python_views import read_python
from streamtables.project.source_files import read_sources
from streamtables.project_file import project_in
from streamtables.settings import SETTINGS, load_settings
from streamtables.sources.postgres.pgoutput import Decoder
from tests.fuzz import inputs
from tests.unit.compiler.tables import KEYS, TABLES

LARGEST = 64 * 1024
"""Longer inputs are cut: what is looked for is a wrong answer, not a slow one."""


@dataclass(frozen=True)
class Target:
    """A door, inputs for it, and what is done with one."""

    name: str
    inputs: SearchStrategy[bytes]
    run: Callable[[bytes], object]
    fails_whole: bool = False
    """Whether a stream that the other side broke is a fault that only we can look into."""

    def accepts(self, data: bytes) -> bool:
        """Try one input; return whether it was taken.  What is no error of ours is raised."""
        try:
            self.run(data[:LARGEST])
        except InternalError:
            if not self.fails_whole:
                raise
            return False
        except StreamTablesError:
            return False
        return True


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _statement(data: bytes) -> None:
    for piece in split_statements(_text(data)):
        parse_statement(piece)


def _query(data: bytes) -> None:
    plan = compile_sql(_text(data), TABLES, KEYS)
    plan.explain()


def _folder(data: bytes) -> None:
    with TemporaryDirectory() as folder:
        Path(folder, "tables.sql").write_bytes(data)
        _statements(Path(folder))


def _settings_file(data: bytes) -> None:
    with TemporaryDirectory() as folder:
        Path(folder, "streamtables.toml").write_bytes(data)
        load_settings(Path(folder), environment={})


def _project_file(data: bytes) -> None:
    with TemporaryDirectory() as folder:
        head = b'[environments.dev]\nwarehouse = "w"\n[settings]\n'
        Path(folder, "streamtables.toml").write_bytes(head + data)
        if (project := project_in(Path(folder))) is not None:
            Path(folder, "sources").mkdir()
            Path(folder, "sources", "s.toml").write_bytes(data)
            read_sources(project, project.environment())


def _pipeline(data: bytes) -> None:
    found = Found()
    read_python(_text(data), "a.py", found)
    for piece in split_statements(_text(data)):
        without_stream(piece)
        with_short_names(piece, [("s",)], ["t"])
        parse_pipeline_statement(piece)


def _environment(data: bytes) -> None:
    with TemporaryDirectory() as folder:
        pairs = [line.partition("=")[::2] for line in _text(data).split("\n")]
        load_settings(Path(folder), environment=dict(pairs))


def _choices(data: bytes) -> None:
    parts = [*_text(data).split("\n"), "", "", ""]
    check_name(parts[0])
    checked_choices(parts[1], "auto", "allow", "hot", {parts[2]: parts[3]})


def _pgoutput(data: bytes) -> None:
    decoder = Decoder()
    for fetch in inputs.unpacked(data):
        decoded = decoder.decode(fetch)
        for change in decoded.changes:
            for tuples in (change.old, change.new):
                for column in tuples.columns:
                    column.text().validate(full=True)


def _log_entry(data: bytes) -> None:
    entry = parse_entry(Version(3), data, written_ms=0)
    assert entry.changed_rows is None or isinstance(entry.changed_rows, int)


def _log_folder(data: bytes) -> None:
    with TemporaryDirectory() as folder:
        Path(folder, "_delta_log").mkdir()
        for number, part in enumerate(data.split(b"\0")[:8]):
            Path(folder, "_delta_log", f"{number:020d}.json").write_bytes(part)
        log = DeltaLog(folder, cache=EntryCache())
        head = log.head()
        assert head is not None
        log.entries(Version(-1), head)


def _catalog(data: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder, "catalog.db")
        path.write_bytes(data)
        with closing(Catalog.open(path)) as catalog:
            catalog.snapshot()
            catalog.events()


def _stamp(data: bytes) -> None:
    line = json.dumps({"commitInfo": {"userMetadata": _text(data)}})
    parse_entry(Version(0), line.encode("utf-8", "surrogatepass"), written_ms=0)


_SETTING_NAMES = tuple(SETTINGS)

TARGETS: Mapping[str, Target] = {
    target.name: target
    for target in (
        Target("statements", inputs.statements(), _statement),
        Target("queries", inputs.queries(), _query),
        Target("folders", inputs.statements(), _folder),
        Target("settings_file", inputs.settings_files(_SETTING_NAMES), _settings_file),
        Target("project_file", inputs.settings_files(_SETTING_NAMES), _project_file),
        Target("pipelines", inputs.statements(), _pipeline),
        Target("environment", inputs.environments(_SETTING_NAMES), _environment),
        Target("choices", inputs.choices(), _choices),
        Target("pgoutput", inputs.fetches(), _pgoutput, fails_whole=True),
        Target("log_entries", inputs.log_entries(), _log_entry),
        Target("log_folders", inputs.log_folders(), _log_folder),
        Target("stamps", inputs.stamps(), _stamp),
        Target("catalogs", inputs.catalogs(), _catalog),
    )
}
