"""Projects on the command line, on real files and a real catalog; no Spark."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from streamtables.cli import main
from streamtables.cli.invocation import environment_first
from tests.unit.cli.conftest import Result

Run = Callable[..., Result]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("STREAMTABLES_WAREHOUSE", "STREAMTABLES_ENV", "STREAMTABLES_CATALOG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cli(here: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*words: str) -> Result:
        code = main(words)
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run


@pytest.fixture
def project(cli: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    assert cli("init", "shop").code == 0
    monkeypatch.chdir(here / "shop")
    return here / "shop"


def test_init_makes_a_project_that_can_be_applied_as_it_stands(cli: Run, project: Path):
    assert cli("plan").code == 0
    assert cli("apply", "--dry-run").code == 0
    assert not (project / "warehouse").exists()
    assert cli("plan", "--detailed-exitcode").code == 1
    assert cli("apply", "--yes").out.endswith("applied: 3 create\n")
    result = cli("plan", "--detailed-exitcode")
    assert (result.code, result.out.splitlines()[-1]) == (0, "no changes")
    assert [table["name"] for table in cli("status", "--json").json] == ["large_cities", "revenue"]


def test_init_never_writes_over_anything(cli: Run, here: Path):
    (here / "mine" / "tables").mkdir(parents=True)
    mine = here / "mine" / "tables" / "revenue.sql"
    mine.write_text("SELECT 1 AS mine")
    result = cli("init", "mine")
    assert result.code == 2
    assert "error[ST-1303]" in result.err
    assert mine.read_text() == "SELECT 1 AS mine"
    assert not (here / "mine" / "streamtables.toml").exists()
    assert cli("init", "other", "-w", "x").code == 2


def test_every_command_uses_the_warehouse_of_the_environment(
    cli: Run, project: Path, monkeypatch: pytest.MonkeyPatch
):
    cli("apply", "-y", "--env", "prod")
    monkeypatch.chdir(project / "tables")
    assert cli("status", "--json").json == []
    assert len(cli("--env", "prod", "status", "--json").json) == 2
    assert len(cli("status", "--json", "--env=prod").json) == 2
    monkeypatch.setenv("STREAMTABLES_ENV", "prod")
    assert len(cli("status", "--json").json) == 2
    assert cli("status", "--json", "--env", "dev").json == []
    assert cli("status", "--json", "-w", str(project / "elsewhere")).json == []
    assert {table["schedule"] for table in cli("status", "--json").json} == {"5 minutes"}


def test_a_variable_names_the_warehouse_unless_an_environment_is_named(
    cli: Run, project: Path, monkeypatch: pytest.MonkeyPatch
):
    cli("apply", "-y", "--env", "prod")
    monkeypatch.setenv("STREAMTABLES_WAREHOUSE", str(project / "elsewhere"))
    assert cli("status", "--json").json == []
    assert len(cli("status", "--json", "--env", "prod").json) == 2
    monkeypatch.setenv("STREAMTABLES_WAREHOUSE", str(project / "warehouse" / "prod"))
    assert len(cli("status", "--json").json) == 2
    monkeypatch.setenv("STREAMTABLES_CATALOG", str(project / "another.db"))
    assert cli("status", "--json").json == []
    assert len(cli("status", "--json", "--env", "prod").json) == 2


def test_a_warehouse_in_a_store_without_a_catalog_is_a_wrong_request(cli: Run, here: Path):
    result = cli("status", "-w", "s3://lake/shop")
    assert result.code == 2
    assert "needs a catalog that is named" in result.err
    assert list(here.iterdir()) == []
    assert cli("--catalog", "here.db", "status", "-w", "s3://lake/shop", "--json").json == []


def test_environments_are_asked_for_in_projects_alone(
    cli: Run, here: Path, monkeypatch: pytest.MonkeyPatch
):
    for more in ((), ("-w", "elsewhere")):
        result = cli("status", "--env", "prod", *more)
        assert result.code == 2
        assert "there is no project here" in result.err
    assert not (here / "elsewhere").exists()
    monkeypatch.setenv("STREAMTABLES_ENV", "prod")
    assert cli("status", "--json").json == []
    result = cli("plan")
    assert result.code == 2
    assert "there is no project here" in result.err


def test_an_unknown_environment_is_a_wrong_request(cli: Run, project: Path):
    result = cli("plan", "--env", "pord")
    assert result.code == 2
    assert 'Did you mean "prod"?' in result.err


def test_a_plan_as_json_has_steps_drift_and_what_files_tell(cli: Run, project: Path):
    cli("apply", "-y")
    cli("pause", "revenue")
    answer = cli("plan", "--json").json
    assert answer["environment"] == "dev"
    assert [item["action"] for item in answer["items"]] == ["unchanged"] * 3
    assert [item["name"] for item in answer["drift"]] == ["revenue"]
    assert answer["about"]["revenue"] == {
        "file": "tables/revenue.sql",
        "description": "What each city ordered, in all.",
        "tags": ["example"],
    }
    assert cli("plan", "--detailed-exitcode").code == 1


def test_an_error_in_python_changes_nothing(cli: Run, project: Path):
    (project / "tables" / "bad.py").write_text("x = 1\n1 / 0\n")
    for command in (("plan",), ("apply", "-y")):
        result = cli(*command)
        assert result.code == 2
        assert '"tables/bad.py" fails in line 2: ZeroDivisionError' in result.err
        assert "Traceback" not in result.err
    assert not (project / "warehouse").exists()


def test_prune_is_asked_for_and_apply_needs_an_answer(
    cli: Run, project: Path, monkeypatch: pytest.MonkeyPatch
):
    cli("apply", "-y")
    (project / "tables" / "large_cities.py").unlink()
    result = cli("apply", "-y")
    assert "apply --prune drops it" in result.out
    assert len(cli("status", "--json").json) == 2
    result = cli("apply", "--prune")
    assert result.code == 2
    assert "--yes" in result.err
    assert cli("apply", "--prune", "--yes").out.endswith("applied: 2 unchanged, 1 drop\n")
    assert [table["name"] for table in cli("status", "--json").json] == ["revenue"]


def test_a_plain_folder_is_planned_and_applied_as_before(cli: Run, project: Path):
    folder = project.parent / "plain"
    folder.mkdir()
    cli("apply", "-y")
    (folder / "t.sql").write_text("CREATE STREAM TABLE t AS SELECT city FROM orders")
    answer = cli("plan", str(folder), "--json").json
    assert answer == [{"action": "create", "name": "t", "details": "new"}]
    assert cli("apply", str(folder), "-y").code == 0
    assert cli("plan", str(folder), "--detailed-exitcode").code == 0


def test_import_reports_each_view_and_exits_1_when_one_is_refused(cli: Run, project: Path):
    pipeline = project.parent / "pipe.sql"
    pipeline.write_text("CREATE MATERIALIZED VIEW a AS SELECT city FROM orders")
    result = cli("import", "sdp", str(pipeline), "--dry-run", "--json")
    assert result.code == 0
    assert [(v["name"], v["becomes"], v["written"]) for v in result.json["views"]] == [
        ("a", "incremental", "-")
    ]
    assert not (project / "tables" / "a.sql").exists()
    with pipeline.open("a") as file:
        file.write("; CREATE MATERIALIZED VIEW b AS SELECT nothing FROM orders; SET x = 1")
    result = cli("import", "sdp", str(pipeline))
    assert result.code == 1
    assert "ST-1102" in result.out
    assert "not taken over: SET x = 1" in result.out
    assert (project / "tables" / "a.sql").exists()
    assert cli("import", "sdp", "nowhere").code == 2
    assert not (project / "warehouse").exists()


def test_import_needs_a_project(cli: Run, here: Path):
    assert cli("import", "sdp", ".").code == 2


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (["plan", "--env", "a", "-y"], ["--env", "a", "plan", "-y"]),
        (["plan", "--env=a"], ["--env=a", "plan"]),
        (["sql", "--", "--env", "a"], ["sql", "--", "--env", "a"]),
        (["plan", "--env"], ["plan", "--env"]),
        (["plan"], ["plan"]),
    ],
)
def test_the_environment_may_stand_anywhere(words: list[str], first: list[str]):
    assert environment_first(words) == first


def test_the_answer_is_json_whatever_the_project_prints(cli: Run, project: Path):
    path = project / "tables" / "large_cities.py"
    path.write_text("print('hello')\n" + path.read_text())
    assert json.loads(cli("plan", "--json").out)["environment"] == "dev"
