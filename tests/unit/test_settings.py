from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from streamtables import settings as module
from streamtables.errors import ConfigError
from streamtables.settings import SETTINGS, Settings, load_settings, reference, resolve_secret


@pytest.fixture(autouse=True)
def _empty_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("current"))


def test_defaults_are_within_their_bounds():
    settings = load_settings(environment={})
    assert settings == Settings()
    assert settings.driver_rows_max == 10_000
    assert settings.jars_dir.name == "jars"


def test_environment_wins_over_file_and_file_over_default(tmp_path: Path):
    (tmp_path / "streamtables.toml").write_text("history_keep = 5\nfull_threshold = 1\n")
    environment = {"STREAMTABLES_HISTORY_KEEP": "7", "PATH": "x", "STREAMTABLES_SKIP_JAVA": "1"}
    settings = load_settings(tmp_path, environment=environment)
    assert settings.history_keep == 7
    assert settings.full_threshold == 1.0
    assert settings.spark_master == "local[*]"


def test_the_file_of_the_warehouse_comes_before_that_of_the_current_folder(tmp_path: Path):
    Path("streamtables.toml").write_text("history_keep = 5")
    assert load_settings(tmp_path, environment={}).history_keep == 5
    (tmp_path / "streamtables.toml").write_text("history_keep = 6")
    assert load_settings(tmp_path, environment={}).history_keep == 6
    assert load_settings(environment={}).history_keep == 5


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("driver_rows_max", "-1"),
        ("driver_rows_max", "1000001"),
        ("driver_rows_max", "many"),
        ("full_threshold", "1.01"),
        ("full_threshold", "nan"),
        ("history_keep", "0"),
        ("jars_dir", ""),
        ("shuffle_partitions_quick", "2.5"),
        ("spark_driver_memory", "2 gigabytes"),
        ("spark_master", "somewhere"),
    ],
)
def test_a_value_out_of_bounds_is_refused_with_name_value_and_bound(name: str, value: str):
    with pytest.raises(ConfigError) as caught:
        load_settings(environment={f"STREAMTABLES_{name.upper()}": value})
    assert f'"{name}"' in caught.value.message
    assert repr(value) in caught.value.message
    assert SETTINGS[name].bounds in caught.value.detail


@pytest.mark.parametrize("text", ["history_keep = true", "history_keep = 2.0", "history_keep = []"])
def test_a_value_of_another_type_is_refused(text: str):
    Path("streamtables.toml").write_text(text)
    with pytest.raises(ConfigError, match="history_keep"):
        load_settings(environment={})


def test_a_setting_that_does_not_exist_is_refused_with_the_closest():
    with pytest.raises(ConfigError) as caught:
        load_settings(environment={"STREAMTABLES_DRIVER_ROW_MAX": "1"})
    assert caught.value.hint == 'Did you mean "driver_rows_max"?'
    Path("streamtables.toml").write_text("colour = 'red'")
    with pytest.raises(ConfigError, match='no setting "colour"'):
        load_settings(environment={})


def test_a_file_that_is_not_toml_is_refused():
    Path("streamtables.toml").write_text("history_keep =")
    with pytest.raises(ConfigError, match=r"streamtables\.toml"):
        load_settings(environment={})


def test_settings_made_by_hand_are_checked_too():
    with pytest.raises(ConfigError):
        Settings(driver_rows_max=-1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().history_keep = 1  # type: ignore[misc]  # the point of the test


def test_every_setting_is_in_the_reference_with_help():
    rows = list(reference())
    assert [row.name for row in rows] == [field.name for field in dataclasses.fields(Settings)]
    assert all(row.help.endswith(".") and row.bounds and row.default for row in rows)
    assert "STREAMTABLES_DRIVER_ROWS_MAX" in [row.environment for row in rows]


@pytest.mark.parametrize(("given", "means"), [("true", True), ("OFF", False), ("0", False)])
def test_a_switch_takes_the_usual_words(given: str, means: bool):
    variable = "STREAMTABLES_ADAPTIVE_BATCH_COALESCING"
    assert load_settings(environment={variable: given}).adaptive_batch_coalescing is means
    with pytest.raises(ConfigError) as caught:
        load_settings(environment={variable: "maybe"})
    assert "true or false" in caught.value.detail


@pytest.mark.parametrize("given", ["-1", "129", "many"])
def test_a_pool_of_an_impossible_size_is_refused(given: str):
    with pytest.raises(ConfigError) as caught:
        load_settings(environment={"STREAMTABLES_WORKER_POOL_SIZE": given})
    assert "auto, or a whole number from 0 to 128" in caught.value.detail


def test_secrets_come_from_the_environment_and_from_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("SHOP_PASSWORD", "p${env:HOME}w")
    (tmp_path / "user").write_text("ann\n")
    text = f"postgresql://${{file:{tmp_path}/user}}:${{env:SHOP_PASSWORD}}@host/shop"
    # What a reference gives is not looked at again.
    assert resolve_secret(text) == "postgresql://ann:p${env:HOME}w@host/shop"
    assert resolve_secret("no reference: $5 {x}") == "no reference: $5 {x}"


@pytest.mark.parametrize("text", ["${env:NOT_THERE_AT_ALL}", "${file:/not/there}", "${vault:x}"])
def test_a_reference_to_nothing_is_refused(text: str):
    with pytest.raises(ConfigError):
        resolve_secret(text)


def test_a_secret_file_that_is_no_text_stays_out_of_the_error(tmp_path: Path):
    (tmp_path / "key").write_bytes(b"geheim\xff")
    with pytest.raises(ConfigError) as caught:
        resolve_secret(f"${{file:{tmp_path}/key}}")
    assert caught.value.__cause__ is None
    assert "geheim" not in caught.value.message + caught.value.detail


def test_importing_settings_loads_nothing_heavy():
    # A bare package stands in for ours, whose public names have imports of their own.
    program = (
        "import sys, types; package = types.ModuleType('streamtables'); "
        f"package.__path__ = [{str(Path(module.__file__).parent)!r}]; "
        "sys.modules['streamtables'] = package; import streamtables.settings; "
        "print({'sqlalchemy', 'sqlglot', 'platformdirs', 'tomllib'} & set(sys.modules))"
    )
    output = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert output.stdout.strip() == "set()"
