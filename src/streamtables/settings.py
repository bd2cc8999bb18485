"""Every setting, with its type, bounds and a sentence of help; and secrets by reference.

`Settings` is the table: one field per setting, so adding one is adding a line.  A value comes from
the environment (`STREAMTABLES_<NAME>`), else from `streamtables.toml` in the warehouse folder or
in the current one, else from the default.  No other module reads the environment.  The file of a
project (`project_file.py`) holds for its whole folder, with the settings of the environment.

Checked on construction: a `Settings` object that exists is within bounds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import NamedTuple, cast

from streamtables.errors import ConfigError

ENVIRONMENT_PREFIX = "STREAMTABLES_"
FILE_NAME = "streamtables.toml"

# Read by the set-up script, the command line and crash tests; no settings of a connection.
_OTHER_VARIABLES = frozenset(
    {
        "STREAMTABLES_SKIP_JAVA",
        "STREAMTABLES_WAREHOUSE",
        "STREAMTABLES_CATALOG",
        "STREAMTABLES_ENV",
        "STREAMTABLES_FAIL_POINT",
        "STREAMTABLES_TEST_FAULTS",
        "STREAMTABLES_TEST_PICTURES",
        "STREAMTABLES_TEST_POSTGRES_BIN",
    }
)
_REFERENCE = re.compile(r"\$\{(\w*):([^}]*)\}")

_SWITCHES = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}

Value = bool | int | float | str | Path


class Setting(NamedTuple):
    """The type, the bounds and the help of one setting."""

    # Named tuples here, as every command imports this module and they build ten times faster
    # than dataclasses.

    kind: type[Value]
    help: str
    low: float | None = None
    high: float | None = None
    pattern: str | None = None
    form: str = ""
    shown_default: str = ""
    secret: bool = False
    """Whether a value is never shown, not even in the message that refuses it."""

    @property
    def bounds(self) -> str:
        """The permitted values, in words."""
        if self.low is not None and self.high is not None:
            return f"{self.low:,} to {self.high:,}"
        return self.form or "any path"

    def read(self, name: str, value: object) -> Value:
        """Return `value` as this setting's type, or refuse it with the bound."""
        converted = self._converted(value)
        if converted is None or not self._is_within(converted):
            shown = "a value" if self.secret else f"the value {value!r}"
            raise ConfigError(
                f'setting "{name}" has {shown}, which is out of bounds',
                detail=f"Permitted: {self.bounds}.",
                hint=f"Set {ENVIRONMENT_PREFIX}{name.upper()}, or {name} in {FILE_NAME}.",
            )
        return converted

    def _converted(self, value: object) -> Value | None:
        if self.kind is bool:
            return _SWITCHES.get(str(value).strip().lower())
        # A bool is an int to Python, and "true" is no number of rows to anyone.
        if isinstance(value, bool):
            return None
        try:
            if self.kind is int and isinstance(value, int | str):
                return int(value)
            if self.kind is float and isinstance(value, int | float | str):
                return float(value)
            if self.kind is Path and isinstance(value, str | Path):
                return None if "\0" in str(value) else Path(value).expanduser()
        except (ValueError, OverflowError, RuntimeError):  # the last: "~name" of an unknown person
            return None
        return value if self.kind is str and isinstance(value, str) else None

    def _is_within(self, value: Value) -> bool:
        if isinstance(value, int | float):
            # Written so that NaN, which compares false with everything, is refused.
            low = self.low is None or value >= self.low
            return low and (self.high is None or value <= self.high)
        if self.pattern is not None:
            return re.fullmatch(self.pattern, str(value)) is not None
        # An empty text becomes the current folder, which nobody meant.
        return value != Path()


def _whole(default: int, *, low: int, high: int, help: str) -> int:
    setting = Setting(int, help, low, high, shown_default=f"{default:,}")
    return field(default=default, metadata={"setting": setting})


def _fraction(default: float, *, help: str) -> float:
    setting = Setting(float, help, 0, 1, shown_default=str(default))
    return field(default=default, metadata={"setting": setting})


def _seconds(default: float, *, help: str, low: float = 0, high: float = 86_400) -> float:
    setting = Setting(float, help, low, high, shown_default=str(default))
    return field(default=default, metadata={"setting": setting})


def _switch(default: bool, *, help: str) -> bool:
    setting = Setting(bool, help, form="true or false", shown_default=str(default).lower())
    return field(default=default, metadata={"setting": setting})


def _text(default: str, *, pattern: str, form: str, help: str) -> str:
    setting = Setting(str, help, pattern=pattern, form=form, shown_default=default or "none")
    return field(default=default, metadata={"setting": setting})


def _secret(*, pattern: str, form: str, help: str) -> str:
    setting = Setting(str, help, pattern=pattern, form=form, shown_default="none", secret=True)
    return field(default="", repr=False, metadata={"setting": setting})


def _cached_jars() -> Path:
    # Imported on use: only a process that needs the folder pays for finding it.
    from platformdirs import user_cache_path

    return user_cache_path("streamtables") / "jars"


def _cached_plans() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("streamtables") / "plans"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All settings of one connection."""

    adaptive_batch_coalescing: bool = _switch(
        True,
        help="Read and net the changes of a source once per round, for all tables that follow it, "
        "and compute those that read nothing else in one statement.",
    )
    adaptive_merge_strategy: bool = _switch(
        False,
        help="Let Spark merge small changes into tables of which they touch so many files that it "
        "takes less than to write those here.",
    )
    buffer_alert_cycles: int = _whole(
        3,
        low=1,
        high=1_000,
        help="For how many ticks in a row too many changes must wait before people are told.",
    )
    buffer_alert_threshold: int = _whole(
        1_000_000,
        low=0,
        high=10**12,
        help="Changed rows of a source that may wait for its slowest table; 0 does not look.",
    )
    checkpoint_after: int = _whole(
        100,
        low=0,
        high=100_000,
        help="Commits of a stream table after which its log is written in one file; 0 for never.",
    )
    choose_from_seconds: float = _seconds(
        0.5,
        help="Changes that are predicted to take less are followed; from here on the fastest way "
        "is taken.",
    )
    compact_after: int = _whole(
        64,
        low=0,
        high=1_000_000,
        help="Small files of a stream table after which they are put together; 0 for never.",
    )
    cost_cache_capacity: int = _whole(
        256, low=1, high=1_000_000, help="Stream tables whose past timings are kept in memory."
    )
    cost_explore_after: int = _whole(
        20,
        low=0,
        high=100_000,
        help="After how many refreshes another way is measured again, if it may be about as fast; "
        "0 for never.",
    )
    deep_join_l0_scan_threshold: int = _whole(
        8,
        low=1,
        high=1_000,
        help="Inputs that a join may have while its tables before a change are taken as after "
        "minus changes; where Spark reads those of a wider one, it does so at their old version.",
    )
    driver_rows_max: int = _whole(
        10_000,
        low=0,
        high=1_000_000,
        help="Changes up to this many rows, and results up to ten times as many, are read and "
        "written without Spark; 0 puts all through Spark.",
    )
    lookup_bytes_max: int = _whole(
        256_000_000,
        low=0,
        high=1_000_000_000_000,
        help="Rows of a table that a small change names by a key are found without Spark while the "
        "columns that are read for it have about this many bytes in its files; 0 for never.",
    )
    immediate_staging: bool = _switch(
        False,
        help="Whether a written batch rests in a table of its own before tables of mode immediate "
        "follow it, instead of going straight into their plans.",
    )
    write_lock_seconds: float = _seconds(
        60,
        low=1,
        high=3_600,
        help="How long a write keeps its locks without ending; after that others may go on.",
    )
    write_lock_wait_seconds: float = _seconds(
        30, high=3_600, help="How long a write waits for another one that is in its way."
    )
    full_threshold: float = _fraction(
        0.3,
        help="In mode auto, the share of changed rows above which a refresh recomputes the table.",
    )
    history_keep: int = _whole(
        1_000, low=1, high=1_000_000, help="Refresh records that are kept for each stream table."
    )
    jars_dir: Path = field(
        default_factory=_cached_jars,
        metadata={
            "setting": Setting(
                Path,
                "The folder that holds the jars of Delta Lake.",
                shown_default="jars in the user's cache folder",
            )
        },
    )
    lease_seconds: float = _seconds(
        15.0,
        low=1,
        help="For how long a process leads unless it says so again; another takes over after it.",
    )
    log_format: str = _text(
        "text",
        pattern="text|json",
        form="text or json",
        help="How `streamtables run` writes its log to standard error.",
    )
    log_level: str = _text(
        "warning",
        pattern="debug|info|warning|error",
        form="debug, info, warning or error",
        help="From which level on `streamtables run` writes log lines; refreshes are info.",
    )
    part3_max_scan_count: int = _whole(
        60,
        low=1,
        high=100_000,
        help="Tables that one statement of a delta may read, each as often as it is read; beyond "
        "it, parts that are as small as the changes are computed first.",
    )
    plan_cache_dir: Path = field(
        default_factory=_cached_plans,
        metadata={
            "setting": Setting(
                Path,
                "The folder, on a local disk, of the compiled plans that all processes of a "
                "machine share.",
                shown_default="plans in the user's cache folder",
            )
        },
    )
    plan_cache_max_megabytes: int = _whole(
        64,
        low=0,
        high=65_536,
        help="How large the file in that folder may grow; it is emptied when full, 0 has none.",
    )
    poll_seconds: float = _seconds(
        1.0,
        low=0.05,
        high=3_600,
        help="How often the process that leads looks at sources that tables follow.",
    )
    publication_lag_warn: int = _whole(
        1_000,
        low=1,
        high=1_000_000_000,
        help="By how many versions a subscriber of a publication may be behind before a warning.",
    )
    refresh_timeout_seconds: float = _seconds(
        0.0, help="After how long a refresh is cancelled, its Spark jobs included; 0 is never."
    )
    retention_hours: int = _whole(
        168,
        low=0,
        high=1_000_000,
        help="For how long old versions of our own tables stay readable; longer where a reader "
        "needs them; 0 removes nothing.",
    )
    shuffle_partitions_quick: int = _whole(
        4, low=1, high=10_000, help="Shuffle partitions of a refresh with a small change."
    )
    spark_conf: str = _text(
        "",
        pattern=r"(\s*spark\.[\w.-]+=[^;]*(;|$))*",
        form="spark.name=value, separated by semicolons",
        help="More settings of the Spark that is started where no session is given; secrets as "
        "${env:NAME}.",
    )
    spark_driver_memory: str = _text(
        "2g",
        pattern=r"[1-9][0-9]*[mgt]",
        form="a whole number and m, g or t, such as 2g",
        help="Memory of the Spark driver that is started where no session is given.",
    )
    spark_master: str = _text(
        "local[*]",
        pattern=r"local(\[[^\]]+\])?|yarn|[a-z][a-z0-9+.-]*://\S+",
        form="local, local[n], yarn or a master's URL",
        help="Where Spark runs where no session is given.",
    )
    template_cache_max_entries: int = _whole(
        256,
        low=1,
        high=1_000_000,
        help="Compiled plans that a process holds; the least recently used go first.",
    )
    wal_max_changes_per_poll: int = _whole(
        10_000,
        low=100,
        high=1_000_000,
        help="Messages that one fetch from a PostgreSQL slot brings; a drain makes as many fetches "
        "as it needs.",
    )
    wal_max_lag_bytes: int = _whole(
        65_536,
        low=0,
        high=2**50,
        help="A PostgreSQL source counts as caught up when at most this much of the log is unread.",
    )
    slot_max_retained_bytes: int = _whole(
        10_737_418_240,
        low=1_048_576,
        high=2**50,
        help="A slot that holds back more of the log than this is given up, with its reason.",
    )
    snapshot_parts: int = _whole(
        8, low=1, high=1_000, help="Into how many parts the first copy of a table is split."
    )
    web_operators: str = _text(
        "",
        pattern=r"[^\x00-\x1f]*",
        form="names, separated by commas",
        help="Who may change something, of those whom a proxy names; the others may look.",
    )
    web_read_needs_token: bool = _switch(
        False, help="Show pages and answers only to those who bring a token, or whom a proxy names."
    )
    web_token: str = _secret(
        pattern=r"|\$\{(env|file):[^}]+\}|[!-~]{16,200}",
        form="16 to 200 visible characters, or a reference to a secret",
        help="What a request to the web pages must bring to change anything; made at each start "
        "where none is set.",
    )
    web_tokens: str = _text(
        "",
        pattern=r"(\s*[\w-]+:(read|operate)=\$\{(env|file):[^},]+\}\s*(,|$))*",
        form="name:read=${env:NAME} or name:operate=${file:path}, separated by commas",
        help="More tokens, each with a name, which the audit shows, and what it may.",
    )
    web_trusted_peers: str = _text(
        "127.0.0.1, ::1",
        pattern=r"[0-9a-fA-F.:/,\s]*",
        form="addresses or networks, separated by commas",
        help="From which addresses the header with the name of a person is believed.",
    )
    web_trusted_user_header: str = _text(
        "",
        pattern=r"|[A-Za-z][A-Za-z0-9-]{0,63}",
        form="the name of a header, such as X-Forwarded-User",
        help="The header in which a proxy says who asks; none is believed where it is not set.",
    )
    webhook_retries: int = _whole(
        3, low=0, high=100, help="How often a notice to the webhook is tried again."
    )
    webhook_timeout_seconds: float = _seconds(
        5.0, low=0.1, high=300, help="How long an answer of the webhook is waited for."
    )
    webhook_url: str = _secret(
        pattern=r"|\$\{(env|file):[^}]+\}|https?://\S+",
        form="an address, or a reference to one such as ${env:HOOK_URL}; it is never shown",
        help="Where notices are posted as JSON: back-pressure, freshness, suspension, fallback to "
        "full, capture, differences.",
    )
    worker_pool_size: str = _text(
        "auto",
        pattern=r"auto|[0-9]|[1-9][0-9]|1[01][0-9]|12[0-8]",
        form="auto, or a whole number from 0 to 128",
        help="How many refreshes run at a time, on threads that stay; 0 starts one for each.",
    )
    worker_quotas: str = _text(
        "",
        pattern=r"[\w.=,\s-]*",
        form="namespaces and whole numbers, such as finance=2, sales=1",
        help="How many workers a namespace has for itself; what it does not use is lent.",
    )

    def __post_init__(self) -> None:
        for name, setting in SETTINGS.items():
            object.__setattr__(self, name, setting.read(name, getattr(self, name)))

    @property
    def driver_result_rows_max(self) -> int:
        """How many rows a result may have: one changed row may concern all of its group."""
        return 10 * self.driver_rows_max


SETTINGS: Mapping[str, Setting] = {
    entry.name: cast("Setting", entry.metadata["setting"]) for entry in fields(Settings)
}


def load_settings(
    warehouse: Path | str | None = None, *, environment: Mapping[str, str] | None = None
) -> Settings:
    """Return the settings that hold for a warehouse: environment, then file, then defaults.

    A text is the URI of one that is in a store.
    """
    given = _from_file(warehouse) | _from_environment(
        os.environ if environment is None else environment
    )
    checked = {name: SETTINGS[name].read(name, value) for name, value in given.items()}
    return Settings(**checked)  # type: ignore[arg-type]  # each was read as its field's type


def _from_environment(environment: Mapping[str, str]) -> dict[str, object]:
    found: dict[str, object] = {}
    for variable, value in environment.items():
        if variable.startswith(ENVIRONMENT_PREFIX) and variable not in _OTHER_VARIABLES:
            name = variable.removeprefix(ENVIRONMENT_PREFIX).lower()
            found[_known(name, f"the environment variable {variable}")] = value
    return found


def _from_file(warehouse: Path | str | None) -> dict[str, object]:
    from streamtables.project_file import find_project, read_toml

    folders = [warehouse, Path.cwd()] if isinstance(warehouse, Path) else [Path.cwd()]
    path = next((folder / FILE_NAME for folder in folders if (folder / FILE_NAME).is_file()), None)
    values = read_toml(path) if path is not None else {}
    if path is None or "environments" in values:
        project = find_project(path.parent if path is not None else Path.cwd())
        path = project.folder / FILE_NAME if project is not None else path
        values = project.settings_at(warehouse) if project is not None else {}
    return {_known(name, f"the file {path}"): value for name, value in values.items()}


def _known(name: str, place: str) -> str:
    if name in SETTINGS:
        return name
    from difflib import get_close_matches

    close = get_close_matches(name, SETTINGS, n=1)
    raise ConfigError(
        f'there is no setting "{name}"',
        detail=f"It is named by {place}.",
        hint=f'Did you mean "{close[0]}"?' if close else f"Settings: {', '.join(SETTINGS)}.",
    )


class ReferenceRow(NamedTuple):
    """One row of the settings page."""

    name: str
    environment: str
    default: str
    bounds: str
    help: str


def reference() -> Iterator[ReferenceRow]:
    """Yield the rows of the generated settings page, in the table's order."""
    for name, setting in SETTINGS.items():
        variable = ENVIRONMENT_PREFIX + name.upper()
        yield ReferenceRow(name, variable, setting.shown_default, setting.bounds, setting.help)


def resolve_secret(text: str) -> str:
    """Return `text` with each `${env:NAME}` and `${file:path}` replaced by what it refers to.

    Call it where the value is used and keep only the reference: the result is never stored,
    logged or put into a message.
    """
    return _REFERENCE.sub(_referred, text)


def _referred(match: re.Match[str]) -> str:
    kind, place = match.groups()
    if kind == "env":
        value = os.environ.get(place)
        if value is None:
            raise ConfigError(f'the environment variable "{place}" of a secret is not set')
        return value
    if kind == "file":
        try:
            return Path(place).expanduser().read_text(encoding="utf-8").rstrip("\r\n")
        except RuntimeError:
            raise ConfigError(f'the secret file "{place}" is in no known home folder') from None
        except (OSError, ValueError) as exc:
            # The content may be part of a decoding error, so the cause is not chained.
            reason = exc.strerror if isinstance(exc, OSError) else "it is not UTF-8 text"
            raise ConfigError(
                f'cannot read the secret file "{place}"', detail=f"{reason}."
            ) from None
    raise ConfigError(
        f'a secret cannot be referred to by "{kind}"', hint="Write ${env:NAME} or ${file:path}."
    )


def telemetry_environment() -> Mapping[str, str]:
    """Return the standard variables of OpenTelemetry that are set."""
    return {name: value for name, value in os.environ.items() if name.startswith("OTEL_")}


def fail_point() -> str | None:
    """Return the boundary at which a crash test wants this process to die, if there is one."""
    return os.environ.get("STREAMTABLES_FAIL_POINT")
