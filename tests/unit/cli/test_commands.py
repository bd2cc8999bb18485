"""Each command asks the API for the right thing and shows what comes back."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pytest

from streamtables.catalog.scheduler_models import Event
from streamtables.errors import CommitConflictError, EnvironmentFaultError, TransientError
from streamtables.refresh.health import HealthFinding
from streamtables.refresh.upkeep import Kept
from tests.unit.cli.fake_database import (
    ApplyPlan,
    Explanation,
    FakeRows,
    Reason,
    Refresh,
    TableStatus,
    Verification,
)

QUERY = "SELECT id FROM orders"


def test_the_warehouse_is_the_folder_of_that_name_by_default(run, db):
    run("status")
    assert db.asked("connect") == [(("warehouse", None), {})]
    assert db.closed


@pytest.mark.parametrize(
    "arguments",
    [("-w", "here", "status"), ("status", "-w", "here"), ("-w", "x", "status", "-w", "here")],
)
def test_the_warehouse_may_be_named_before_or_behind_the_command(run, db, arguments):
    run(*arguments)
    assert db.asked("connect")[0][0][0] == "here"


def test_the_warehouse_may_come_from_the_environment(run, db, monkeypatch):
    monkeypatch.setenv("STREAMTABLES_WAREHOUSE", "there")
    run("status")
    run("--catalog", "postgresql://x/y", "status", "-w", "here")
    assert [args for args, _ in db.asked("connect")] == [
        ("there", None),
        ("here", "postgresql://x/y"),
    ]


def test_source_add_passes_path_and_key_columns(run, db):
    result = run("source", "add", "orders", "--path", "data/orders", "--key", "a,b", "--key", "c")
    assert result.code == 0
    assert result.out == 'source "orders" added\n'
    assert db.asked("add_source") == [
        (
            ("orders",),
            {
                "path": "data/orders",
                "table": None,
                "key": ["a", "b", "c"],
                "enable_change_feed": False,
                "postgres": None,
                "capture": "auto",
                "types": None,
                "progress": None,
                "files": None,
                "format": None,
                "schema": None,
                "pattern": "",
                "options": None,
            },
        )
    ]


def test_source_add_passes_what_is_said_of_files(run, db):
    result = run(
        *("source", "add", "orders", "--files", "landing", "--format", "csv"),
        *("--schema", "id INT", "--pattern", "*.csv", "--option", "sep==", "--option", "quote="),
    )
    assert result.code == 0
    [(_, asked)] = db.asked("add_source")
    names = ("files", "format", "schema", "pattern", "options", "path")
    assert [asked[name] for name in names] == [
        *("landing", "csv", "id INT", "*.csv"),
        {"sep": "=", "quote": ""},
        None,
    ]


@pytest.mark.parametrize("option", ["sep", "=;", " ="])
def test_an_option_without_a_name_is_refused(run, db, option):
    result = run("source", "add", "orders", "--files", "landing", "--option", option)
    assert result.code == 2
    assert "--option NAME=VALUE" in result.err
    assert db.calls == []


@pytest.mark.parametrize(
    "places", [(), ("--path", "a", "--table", "b"), ("--path", "a", "--files", "b")]
)
def test_source_add_takes_exactly_one_place(run, db, places):
    result = run("source", "add", "orders", *places)
    assert result.code == 2
    assert "exactly one of --path, --table and --files" in result.err
    assert db.calls == []


def test_source_list_shows_plain_columns_in_a_pipe(run):
    result = run("source", "list")
    assert result.out == "name    kind   key  from\norders  delta  id   data/orders\n"


def test_source_list_as_json(run):
    assert run("source", "list", "--json").json == [
        {
            "name": "orders",
            "kind": "delta",
            "location": "data/orders",
            "columns": [["id", "bigint"]],
            "key": ["id"],
            "from": "data/orders",
        }
    ]


def test_empty_lists_say_what_to_do(run, db):
    db.source_list, db.tables, db.refreshes = [], [], []
    assert "streamtables source add" in run("source", "list").out
    assert "streamtables create" in run("status").out
    assert "no stream tables" in run("refresh").out
    assert run("status", "--json").json == []


def test_source_drop(run, db):
    assert run("source", "drop", "orders").code == 0
    assert db.asked("drop_source") == [(("orders",), {"leave_server": False})]
    assert db.asked("capture_statements") == []


def test_source_drop_that_leaves_the_server_prints_what_removes_the_rest(run, db):
    shown = run("source", "drop", "orders", "--leave-server")
    assert shown.code == 0
    assert "DROP TABLE IF EXISTS ours;" in shown.out
    assert db.asked("drop_source") == [(("orders",), {"leave_server": True})]


def test_create_passes_every_option(run, db):
    result = run(
        "create", "totals", QUERY, "--schedule", "1 minute", "--mode", "differential",
        "--full", "forbid", "--tier", "warm", "--replace",
        "-o", "merge_strategy=append", "-o", "a = b=c",
    )  # fmt: skip
    assert result.code == 0
    assert db.asked("create") == [
        (
            ("totals", QUERY),
            {
                "schedule": "1 minute",
                "mode": "differential",
                "full": "forbid",
                "tier": "warm",
                "replace": True,
                "if_not_exists": False,
                "options": {"merge_strategy": "append", "a": "b=c"},
            },
        )
    ]


def test_sql_may_come_from_a_file_or_standard_input(run, db, tmp_path: Path, monkeypatch):
    file = tmp_path / "totals.sql"
    file.write_text(QUERY, encoding="utf-8")
    run("create", "a", "--file", str(file))
    monkeypatch.setattr("sys.stdin", io.StringIO(QUERY))
    run("create", "b", "-")
    assert [args for args, _ in db.asked("create")] == [("a", QUERY), ("b", QUERY)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("create", "x"), "the SQL must come from exactly one place"),
        (("create", "x", QUERY, "--file", "a.sql"), "the SQL must come from exactly one place"),
        (("create", "x", "  "), "the SQL is empty"),
        (("create", "x", "--file", "nowhere.sql"), 'cannot read the file "nowhere.sql"'),
        (("create", "x", QUERY, "-o", "novalue"), 'option "novalue" has no value'),
        (("create", "x", QUERY, "-o", "a=1", "-o", "a=2"), 'option "a" is given twice'),
        (("create", "x", QUERY, "--mode", "fast"), "'fast' is not one of"),
        (("create", "x", QUERY, "--full", "maybe"), "'maybe' is not one of"),
        (("create", "x", QUERY, "--tier", "tepid"), "'tepid' is not one of"),
        (("create", "x", QUERY, "--replace", "--if-not-exists"), "contradict each other"),
        (("create",), "missing argument 'NAME'"),
        (("alter", "x"), 'nothing to change in stream table "x"'),
        (("read", "x", "--limit", "0"), "greater than or equal to 1"),
        (("read", "x", "--limit", "many"), "invalid value for '--limit'"),
        (("refresh", "--full"), "need the name of a stream table"),
        (("refresh", "--no-upstream"), "need the name of a stream table"),
        (("apply", "nowhere"), '"nowhere" is not a folder'),
        (("validate",), "the SQL must come from exactly one place"),
        (("sql", "--file", "nowhere.sql"), 'cannot read the file "nowhere.sql"'),
        (("status", "--nonsense"), "no such option: --nonsense"),
        (("nonsense",), "no such command 'nonsense'"),
        (("source",), "missing command"),
        (("source", "nonsense"), "no such command 'nonsense'"),
        (("status", "a", "b"), "unexpected extra argument"),
        (("demo", "--rows", "1"), "greater than or equal to 1000"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_wrong_request_is_refused_before_anything_is_opened(run, db, arguments, message):
    result = run(*arguments)
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith("error[ST-1401]: ")
    assert message in result.err
    assert "hint: " in result.err
    assert len(result.err.splitlines()) <= 3
    assert db.calls == []


def test_alter_passes_only_what_changes(run, db):
    run("alter", "totals", "--schedule", "on change")
    run("alter", "totals", "--query", QUERY, "--mode", "full", "-o", "a=1")
    run("alter", "totals", "--tier", "cold")
    nothing = dict.fromkeys(("query", "schedule", "mode", "full", "tier", "options"))
    assert db.asked("alter") == [
        (("totals",), nothing | {"schedule": "on change"}),
        (("totals",), nothing | {"query": QUERY, "mode": "full", "options": {"a": "1"}}),
        (("totals",), nothing | {"tier": "cold"}),
    ]


def test_a_dry_alter_shows_rows_and_readers_and_changes_nothing(run, db):
    result = run("alter", "totals", "--query", QUERY, "--dry-run")
    assert (result.code, result.out) == (0, '"totals": adds column x\n"star": follows\n')
    assert db.asked("alter") == []
    assert [given for given, _ in db.asked("plan_alter")] == [("totals",)]


def test_repair_takes_a_name(run, db):
    assert run("repair", "totals").code == 0
    assert db.asked("repair") == [(("totals",), {"way": "auto"})]
    assert run("repair", "totals", "--way", "table").code == 0
    assert run("repair", "totals", "--way", "magic").code == 2


@pytest.mark.parametrize(
    ("given", "name", "namespace"),
    [
        (["totals"], "totals", None),
        (["--namespace", "sales"], None, "sales"),
        (["--all"], None, None),
    ],
)
def test_pause_and_resume_take_a_table_a_namespace_or_all(run, db, given, name, namespace):
    assert run("pause", *given, "--reason", "month end").code == 0
    assert db.asked("pause") == [((name, "month end"), {"namespace": namespace})]
    assert run("resume", *given).code == 0
    assert db.asked("resume") == [((name,), {"namespace": namespace})]


def test_pause_waits_for_what_runs_where_it_is_told_to(run, db):
    assert run("pause", "--all", "--wait", "--timeout", "60").code == 0
    waits = {"namespace": None, "wait": True, "timeout": 60.0}
    assert db.asked("pause") == [((None, "paused by a user"), waits)]
    assert run("pause", "--all", "--timeout", "60").code == 2
    db.error = TransientError("1 of the paused tables are still being refreshed")
    assert run("pause", "--all", "--wait").code == 1


@pytest.mark.parametrize("given", [[], ["totals", "--all"], ["totals", "--namespace", "sales"]])
def test_pause_of_nothing_or_of_two_things_is_refused(run, db, given):
    result = run("pause", *given)
    assert result.code == 2
    assert "name one stream table, or --namespace, or --all" in result.err
    assert db.asked("pause") == []


def test_cancel_stops_one_refresh_or_all_and_says_where_nothing_ran(run, db):
    result = run("cancel", "totals")
    assert (result.code, result.out) == (
        0,
        'no refresh of "totals" is running; nothing was cancelled\n',
    )
    db.runs = True
    assert 'the refresh of "totals" is cancelled' in run("cancel", "totals").out
    assert run("cancel", "--all").code == 0
    assert db.asked("cancel") == [(("totals",), {}), (("totals",), {}), ((None,), {})]


@pytest.mark.parametrize("given", [[], ["totals", "--all"]])
def test_cancel_of_nothing_or_of_two_things_is_refused(run, db, given):
    result = run("cancel", *given)
    assert result.code == 2
    assert "name one stream table, or --all" in result.err
    assert db.asked("cancel") == []


def test_run_once_shows_what_was_refreshed_and_fails_with_it(run, db):
    assert run("run", "--once").code == 0
    db.refreshes = [Refresh("totals", outcome="failed")]
    assert run("run", "--once").code == 1


def test_run_shows_every_tick(run, db):
    result = run("run", "--for", "0.01")
    assert result.code == 0
    assert "totals" in result.out
    assert "ended" in result.out


def test_events_are_shown_newest_first_as_they_come(run, db):
    assert "nothing has happened yet" in run("events").out
    db.happened = [Event(datetime(2030, 1, 1, tzinfo=UTC), "held", "a gate", "1", "totals")]
    assert "a gate" in run("events", "totals", "--limit", "5").out
    assert db.asked("events")[-1] == (("totals", 5), {})
    [event] = json.loads(run("events", "--json").out)
    assert (event["kind"], event["subject"]) == ("held", "totals")


def test_gates_and_watermarks(run, db):
    assert run("gate", "close", "orders", "--reason", "the load").code == 0
    assert db.asked("close_gate") == [(("orders", "the load"), {})]
    assert run("gate", "open", "orders").code == 0
    assert run("watermark", "set", "orders", "2030-01-31T06:00+00:00").code == 0
    assert db.asked("set_watermark") == [
        (("orders", datetime(2030, 1, 31, 6, tzinfo=UTC)), {}),
    ]
    assert run("watermark", "set", "orders", "yesterday").code == 2
    assert (
        run("watermark", "group", "shop", "orders", "lines", "--tolerance", "5 minutes").code == 0
    )
    assert db.asked("set_watermark_group") == [(("shop", ["orders", "lines"], "5 minutes"), {})]
    assert run("watermark", "drop-group", "shop").code == 0


def test_a_watermark_group_may_have_a_time_to_reach(run, db):
    given = ["watermark", "group", "close", "orders", "lines", "--until"]
    result = run(*given, "2030-02-01T00:00+00:00")
    assert (result.code, "complete up to 2030-02-01T00:00:00+00:00" in result.out) == (0, True)
    until = datetime(2030, 2, 1, tzinfo=UTC)
    asked = (("close", ["orders", "lines"], "1 minute"), {"until": until})
    assert db.asked("set_watermark_group") == [asked]
    assert run(*given, "tomorrow").code == 2


def test_drop_cascades_only_on_request(run, db):
    run("drop", "totals")
    run("drop", "totals", "--cascade")
    assert [kwargs for _, kwargs in db.asked("drop")] == [{"cascade": False}, {"cascade": True}]


def test_refresh_without_names_refreshes_all(run, db):
    result = run("refresh")
    assert result.code == 0
    assert db.asked("refresh_all")
    assert result.out == (
        "table   outcome  mode          inserted  deleted  seconds  reason\n"
        "totals  applied  differential         2        1    0.340  3 of 1000 rows changed\n"
    )


def test_refresh_names_go_in_the_given_order(run, db):
    run("refresh", "b", "a", "--full", "--no-upstream")
    assert db.asked("refresh") == [
        (("b",), {"full": True, "upstream": False}),
        (("a",), {"full": True, "upstream": False}),
    ]


def test_refresh_shows_steps_and_notes(run, db):
    db.refreshes = [Refresh("totals", notes=("the small hand was off",))]
    out = run("refresh", "--steps").out
    assert "totals: the small hand was off" in out
    assert "compute" in out
    assert "0.300" in out


def test_refresh_as_json_holds_the_whole_record(run):
    assert run("refresh", "totals", "--json").json == [
        {
            "table": "totals",
            "outcome": "applied",
            "mode": "differential",
            "reason": {"code": "small-change", "text": "3 of 1000 rows changed"},
            "rows_inserted": 2,
            "rows_deleted": 1,
            "frontier": {"orders": 7},
            "seconds": 0.34,
            "steps": [{"name": "compute", "seconds": 0.3}, {"name": "apply", "seconds": 0.04}],
            "notes": [],
            "error": None,
        }
    ]


def test_a_failed_refresh_among_others_is_exit_1(run, db):
    error = CommitConflictError("another writer committed first", hint="Try again.")
    db.refreshes = [Refresh("a"), Refresh("b", outcome="failed", error=error)]
    result = run("refresh")
    assert result.code == 1
    assert "b: error[ST-3001]: another writer committed first" in result.out
    assert run("refresh", "--json").json[1]["error"] == {
        "code": "ST-3001",
        "message": "another writer committed first",
        "hint": "Try again.",
    }


def test_an_error_in_the_middle_still_shows_what_was_done(run, db):
    result = run("refresh", "a", "nowhere", "c")
    assert result.code == 2
    assert result.out.splitlines()[1].startswith("a      applied")
    assert result.err == 'error[ST-1302]: stream table "nowhere" does not exist\n'
    assert [args for args, _ in db.asked("refresh")] == [("a",), ("nowhere",)]


def test_status_shows_one_line_per_table(run, db):
    db.tables = [
        TableStatus("totals", changes_pending=True),
        TableStatus(
            "new", state="empty", rows=None, last_mode=None, last_reason=None,
            last_refreshed_at=None, seconds=None,
        ),
    ]  # fmt: skip
    assert run("status").out.splitlines() == [
        "name    state   changes  mode  schedule  rows  last          seconds  when                       reason",
        "totals  active  pending  auto  manual      12  differential    0.500  2026-01-02T03:04:05+00:00  3 of 1000 rows changed",
        "new     empty   none     auto  manual       -  -                   -  -                          -",
    ]


def test_status_of_one_table(run, db):
    db.tables = [TableStatus("a"), TableStatus("b")]
    answer = run("status", "b", "--json").json
    assert [table["name"] for table in answer] == ["b"]
    assert answer[0]["last_refreshed_at"] == "2026-01-02T03:04:05+00:00"
    assert run("status", "c").code == 2


def test_read_shows_data_as_it_is(run, db):
    db.rows = [
        {"id": 1, "price": Decimal("1.50"), "x": 0.1, "name": None, "tags": ["a"], "raw": b"\x01"},
        {
            "id": 22,
            "price": Decimal("2.00"),
            "x": float("nan"),
            "name": "bob",
            "tags": [],
            "raw": b"",
        },
    ]
    assert run("read", "totals").out.splitlines() == [
        "id  price  x    name  tags   raw",
        " 1  1.50   0.1  NULL  ['a']  AQ==",
        "22  2.00   nan  bob   []",
    ]
    assert run("read", "totals", "--json").json[0] == {
        "id": 1,
        "price": "1.50",
        "x": 0.1,
        "name": None,
        "tags": ["a"],
        "raw": "AQ==",
    }
    assert run("read", "totals", "--json").json[1]["x"] == "nan"


def test_read_says_when_there_are_more_rows(run, db):
    db.rows = [{"id": number} for number in range(5)]
    result = run("read", "totals", "--limit", "3")
    assert db.asked("read_rows") == [(("totals", 4), {})]
    assert result.out.splitlines() == [
        "id",
        " 0",
        " 1",
        " 2",
        "(the first 3 rows; more with --limit)",
    ]
    assert len(run("read", "totals", "--limit", "3", "--json").json) == 3


@dataclass(frozen=True)
class Record:
    started_at: datetime = datetime(2026, 1, 2, tzinfo=UTC)
    outcome: str = "applied"
    mode: str = "full"
    rows_inserted: int = 5
    rows_deleted: int = 0
    seconds: float = 1.0
    reason: Reason = field(default_factory=lambda: Reason("first", "first refresh"))


def test_history_shows_when_and_why(run, db):
    db.records = [Record()]
    result = run("history", "totals", "-n", "3")
    assert db.asked("history") == [(("totals", 3), {})]
    assert result.out.splitlines()[1] == (
        "2026-01-02T00:00:00+00:00  applied  full         5        0    1.000  first refresh"
    )
    answer = run("history", "totals", "--json").json
    assert answer[0]["reason"] == {"code": "first", "text": "first refresh"}


def test_history_of_an_unfilled_table(run):
    assert run("history", "totals").out == 'stream table "totals" was never refreshed\n'


def test_explain_and_validate_show_text_or_data(run, db):
    assert run("explain", "totals").out == "Scan orders\nkey: id\n"
    assert run("validate", QUERY, "--json").json == {"key": ["id"]}
    assert db.asked("validate") == [((QUERY,), {})]


@pytest.mark.parametrize("command", [("explain", "totals"), ("validate", QUERY)])
def test_explain_and_validate_write_a_picture(run, tmp_path, command):
    picture = tmp_path / "plan.svg"
    assert run(*command, "--svg", str(picture)).out == "Scan orders\nkey: id\n"
    assert picture.read_text() == "<svg/>"


def test_a_picture_that_cannot_be_written_is_an_error(run, tmp_path):
    result = run("explain", "totals", "--svg", str(tmp_path / "nowhere" / "plan.svg"))
    assert result.code == 2
    assert "error[ST-1401]: cannot write the picture" in result.err


def test_verify_checks_all_tables_and_is_exit_0_when_equal(run, db):
    db.tables = [TableStatus("a"), TableStatus("b")]
    result = run("verify")
    assert result.code == 0
    assert [args for args, _ in db.asked("verify")] == [("a",), ("b",)]


def test_verify_is_exit_1_on_a_difference_and_shows_a_sample(run, db):
    db.verification = Verification("totals", equal=False, missing=1, sample=({"id": 7},))
    result = run("verify", "totals")
    assert result.code == 1
    assert "different" in result.out
    assert "totals: {'id': 7}" in result.out
    assert run("verify", "totals", "--json").code == 1
    assert run("verify", "totals", "--share", "2").code == 2
    assert run("verify", "totals", "--share", "0").code == 2


def test_verify_goes_on_when_one_table_cannot_be_compared(run, db):
    db.tables = [TableStatus("a"), TableStatus("b")]
    db.damaged = {"a"}
    result = run("verify")
    assert result.code == 1
    assert [args for args, _ in db.asked("verify")] == [("a",), ("b",)]
    assert "not verified" in result.out
    assert "a: error[ST-2101]" in result.out
    [first, second] = run("verify", "--json").json
    assert (first["equal"], first["error"]["code"]) == (False, "ST-2101")
    assert (second["equal"], second["error"]) == (True, None)


def test_verify_of_a_table_that_does_not_exist_is_a_wrong_request(run, db):
    result = run("verify", "nowhere")
    assert result.code == 2
    assert 'error[ST-1302]: stream table "nowhere" does not exist' in result.err


def test_apply_shows_the_plan_and_applies_it_on_yes(run, db, tmp_path: Path):
    result = run("apply", str(tmp_path), "--yes", "--prune")
    assert result.code == 0
    assert db.asked("plan_apply") == [((tmp_path,), {"prune": True})]
    assert len(db.asked("apply")) == 1
    assert "create     totals        new file totals.sql" in result.out
    assert result.out.endswith("applied: 1 create, 1 unchanged\n")


def test_apply_does_not_ask_when_nothing_changes(run, db, tmp_path: Path):
    db.plan = ApplyPlan((("unchanged", "regions", ""),))
    assert run("apply", str(tmp_path)).code == 0
    assert db.asked("apply") == []


def test_apply_never_guesses_an_answer(run, db, tmp_path: Path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    result = run("apply", str(tmp_path))
    assert result.code == 2
    assert "--yes" in result.err
    assert db.asked("apply") == []


def test_apply_dry_run_only_shows(run, db, tmp_path: Path):
    answer = run("apply", str(tmp_path), "--dry-run", "--json").json
    assert answer[0] == {"action": "create", "name": "totals", "details": "new file totals.sql"}
    assert db.asked("apply") == []


def test_init_says_what_comes_next(run, db):
    db.tables = []
    result = run("init", "-w", "shop")
    assert result.out.startswith('warehouse "shop" is ready, 0 stream tables\nnext:\n')


@dataclass
class Frame:
    rows: FakeRows

    def limit(self, num: int) -> Frame:
        return Frame(self.rows.slice(0, num))

    def toArrow(self) -> FakeRows:  # noqa: N802 - Spark's name
        return self.rows


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        (None, "done\n"),
        (Explanation(), "Scan orders\nkey: id\n"),
        (Frame(FakeRows([{"n": 1}])), "n\n1\n"),
    ],
    ids=["nothing", "explanation", "rows"],
)
def test_sql_shows_what_the_statement_gives(run, db, result, shown):
    db.sql_result = result
    assert run("sql", "SHOW STREAM TABLES").out == shown


def test_sql_shows_refreshes_and_tables(run, db):
    db.sql_result = Refresh("totals")
    assert "applied" in run("sql", "REFRESH STREAM TABLE totals").out
    assert run("sql", "REFRESH STREAM TABLE totals", "--json").json["table"] == "totals"
    db.sql_result = [TableStatus("totals")]
    assert "active" in run("sql", "SHOW STREAM TABLES").out
    assert run("sql", "SHOW STREAM TABLES", "--json").json[0]["name"] == "totals"


CAPTURE = SimpleNamespace(
    source="orders",
    table="public.orders",
    wish="auto",
    mode="triggers",
    moving_to="wal",
    blocked=("wal_level is replica: ALTER SYSTEM SET wal_level = 'logical';",),
    note="a drain has to pass the start of the WAL",
    lag_bytes=56,
    pending_changes=3,
    pending_estimated=False,
    wal_decoder_pending_records=0,
    drained_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    error=None,
    history=(
        SimpleNamespace(
            at=datetime(2026, 1, 2, tzinfo=UTC), kind="added", reason="captured by triggers"
        ),
    ),
)


def test_wal_status_shows_the_way_and_why_not_another(run, db):
    db.captures = [CAPTURE]
    shown = run("wal", "status")
    assert shown.code == 0
    assert "triggers, moving to wal" in shown.out
    assert "orders: wal_level is replica" in shown.out
    assert "captured by triggers" not in shown.out
    assert "added: captured by triggers" in run("wal", "status", "--history").out
    [first] = run("wal", "status", "--json").json
    assert (first["source"], first["pending_changes"]) == ("orders", 3)
    assert first["wal_decoder_pending_records"] == 0


def test_wal_status_says_where_a_number_is_an_estimate(run, db):
    db.captures = [
        SimpleNamespace(**{**vars(CAPTURE), "pending_changes": 234_567, "pending_estimated": True})
    ]
    assert "about 234,567" in run("wal", "status").out
    [first] = run("wal", "status", "--json").json
    assert (first["pending_changes"], first["pending_estimated"]) == (234_567, True)


def test_caches_status_shows_every_level_and_what_is_wrong_with_it(run, db):
    shown = run("caches", "status")
    assert shown.code == 0
    assert "the catalog" in shown.out
    assert "the disk is read-only" in shown.out
    assert [row["entries"] for row in run("caches", "status", "--json").json] == [0, None, 6]


def test_caches_clear_tells_what_went(run, db):
    shown = run("caches", "clear")
    assert shown.code == 0
    assert "removed 6 entries of this machine, 5 of the catalog" in shown.out
    assert run("caches", "clear", "--json").json == {"l0": 6, "l1": 0, "l2": 5}
    assert len(db.asked("clear_caches")) == 2


def test_wal_status_without_captures_says_so(run, db):
    assert "no PostgreSQL sources yet" in run("wal", "status").out


def test_source_add_takes_a_postgres_table(run, db):
    result = run(
        "source", "add", "orders", "--postgres", "${env:SHOP}", "--table", "public.orders",
        "--capture", "wal", "--type", "price=decimal(20,4)",
    )  # fmt: skip
    assert result.code == 0
    [(_, asked)] = db.asked("add_source")
    assert (asked["postgres"], asked["capture"]) == ("${env:SHOP}", "wal")
    assert asked["types"] == {"price": "decimal(20,4)"}
    wrong = run("source", "add", "x", "--postgres", "u", "--table", "t", "--type", "price")
    assert wrong.code == 2


def test_maintain_tells_each_job_and_fails_when_one_did(run, db):
    assert "nothing to tidy up" in run("maintain").out
    db.kept = [Kept("daily", "compact", "9 files became 1")]
    assert "9 files became 1" in run("maintain", "daily").out
    assert run("maintain", "--json").json == [
        {"table": "daily", "job": "compact", "text": "9 files became 1"}
    ]
    db.kept += [Kept("daily", "remove", "the disk is gone", EnvironmentFaultError("no"))]
    failed = run("maintain")
    assert failed.code != 0
    assert "the disk is gone" in failed.out


def test_health_tells_what_to_do_and_fails_for_errors(run, db):
    assert "nothing is wrong" in run("health").out
    db.health = [HealthFinding("warning", "orphan", "tables/x", "nobody knows it", "Remove it.")]
    shown = run("health")
    assert shown.code == 0
    assert "Remove it." in shown.out
    db.health += [HealthFinding("error", "damaged", "daily", "rows are lost", "Repair it.")]
    assert run("health").code == 1
    assert [item["code"] for item in run("health", "--json").json] == ["orphan", "damaged"]
