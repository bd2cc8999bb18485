"""Mistakes in what holds refreshes back or starts them: exit 2, a code, what to do, nothing changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.test_bad_input import refuses, run
from tests.support.delta_tables import DeltaTableFile

QUERY = "SELECT id FROM orders"
CRON_FIELDS = (
    "hint: The fields: minute, hour, day of the month, month, day of the week; behind them perhaps "
    "a zone by its name, such as Europe/Berlin."
)
UNITS = "hint: Units: week, day, hour, minute, second."
MEANT = 'hint: Did you mean "orders"?'


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bad-scheduling")
    for name in ("orders", "lines"):
        DeltaTableFile(folder / name, {"id": "bigint"}, [(1,)])
        assert run(folder, "source", "add", name, "--path", str(folder / name)).exit_code == 0
    assert run(folder, "create", "totals", "SELECT count(*) AS n FROM orders").exit_code == 0
    return folder


def refuses_with(folder: Path, code: str, hint: str, *command: str) -> None:
    """Check that nothing changes, and that a line says what to do."""
    refuses(folder, code, *command)
    assert hint in run(folder, *command).stderr.splitlines()


GATES_AND_WATERMARKS = {
    "a gate of an unknown source": (["gate", "close", "ordrs"], "ST-1302", MEANT),
    "an unknown gate that is opened": (["gate", "open", "ordrs"], "ST-1302", MEANT),
    "a gate of a stream table": (
        ["gate", "close", "totals"],
        "ST-1302",
        "hint: There are: lines, orders.",
    ),
    "a watermark of an unknown source": (
        ["watermark", "set", "ordrs", "2030-01-31T06:00+00:00"],
        "ST-1302",
        MEANT,
    ),
    "a watermark that is no time": (
        ["watermark", "set", "orders", "yesterday"],
        "ST-1401",
        "hint: Write it as 2030-01-31T06:00+00:00.",
    ),
    "a watermark without a zone": (
        ["watermark", "set", "orders", "2030-01-31T06:00"],
        "ST-1401",
        "hint: Give it one, such as UTC.",
    ),
    "a group with an unknown source": (
        ["watermark", "group", "shop", "orders", "lins"],
        "ST-1302",
        'hint: Did you mean "lines"?',
    ),
    "a group of one source": (
        ["watermark", "group", "shop", "orders"],
        "ST-1401",
        "hint: Name the sources that are to be read together.",
    ),
    "a tolerance that is no duration": (
        ["watermark", "group", "shop", "orders", "lines", "--tolerance", "soon"],
        "ST-1401",
        UNITS,
    ),
}
SCHEDULES = {
    "a minute that no clock shows": ("cron 61 4 * * *", "hint: The minute is 0 to 59."),
    "a day that is no day": (
        "cron 0 4 * * mod",
        "hint: The day of the week is 0 to 7, or sun to sat; 0 and 7 are sunday.",
    ),
    "a field too few": ("cron 0 4 * *", CRON_FIELDS),
    "a day that never comes": ("cron 0 4 31 2 *", CRON_FIELDS),
    "an unknown zone": (
        "cron 0 4 * * mon Europe/Berln",
        'hint: Did you mean "Europe/Berlin"?',
    ),
    "cron misspelt": ("corn 0 4 * * *", "hint: Write '1 minute' to refresh each minute."),
}
QUOTAS = {
    "none": "sales=0",
    "fewer than none": "finance=2, sales=-1",
}


@pytest.mark.parametrize(
    ("command", "code", "hint"), GATES_AND_WATERMARKS.values(), ids=GATES_AND_WATERMARKS
)
def test_a_gate_or_watermark_that_means_nothing_is_refused_with_what_to_do(
    folder: Path, command: list[str], code: str, hint: str
) -> None:
    refuses_with(folder, code, hint, *command)


@pytest.mark.parametrize(("schedule", "hint"), SCHEDULES.values(), ids=SCHEDULES)
@pytest.mark.parametrize("command", [["create", "fresh", QUERY], ["alter", "totals"]])
def test_a_typo_in_a_cron_is_refused_with_what_is_permitted(
    folder: Path, command: list[str], schedule: str, hint: str
) -> None:
    refuses_with(folder, "ST-1401", hint, *command, "--schedule", schedule)


@pytest.mark.parametrize("command", [["create", "fresh", QUERY], ["alter", "totals"]])
def test_an_unknown_tier_is_refused_with_those_that_there_are(
    folder: Path, command: list[str]
) -> None:
    hint = f"hint: Run 'streamtables {command[0]} --help' to see what it takes."
    refuses_with(folder, "ST-1401", hint, *command, "--tier", "tepid")
    told = run(folder, *command, "--tier", "tepid").stderr
    assert "'hot', 'warm', 'cold', 'frozen'" in told


@pytest.mark.parametrize("quotas", QUOTAS.values(), ids=QUOTAS)
def test_a_quota_below_one_is_refused_before_anything_runs(
    folder: Path, quotas: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STREAMTABLES_WORKER_QUOTAS", quotas)
    told = run(folder, "run", "--once")
    assert told.exit_code == 2
    assert 'error[ST-1401]: the quota of namespace "sales" is' in told.stderr
    assert "hint: Leave the namespace out to give it no slots of its own." in told.stderr
    monkeypatch.delenv("STREAMTABLES_WORKER_QUOTAS")
    assert run(folder, "history", "totals", "--json").stdout.strip() == "[]"
