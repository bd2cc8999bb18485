"""The project's file: found from below, refused where it means nothing, settings by warehouse."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtables.errors import ConfigError
from streamtables.project_file import find_project, project_in
from streamtables.settings import load_settings
from tests.unit.project.shop_project import PROJECT


def written(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "streamtables.toml").write_text(text, encoding="utf-8")
    return folder


def test_a_project_is_found_from_a_folder_below(tmp_path: Path):
    written(tmp_path / "shop", PROJECT)
    below = tmp_path / "shop" / "tables" / "finance"
    below.mkdir(parents=True)
    project = find_project(below)
    assert project is not None
    assert (project.name, project.folder) == ("shop", tmp_path / "shop")
    assert project.environment().name == "dev"
    assert project.warehouse_of(project.environment("prod")) == str(
        tmp_path / "shop" / "warehouse" / "prod"
    )


def test_a_file_of_settings_on_the_way_is_no_project(tmp_path: Path):
    written(tmp_path / "shop", PROJECT)
    below = written(tmp_path / "shop" / "tables", "history_keep = 5\n")
    project = find_project(below)
    assert project is not None
    assert project.folder == tmp_path / "shop"
    assert project_in(below) is None
    assert find_project(tmp_path) is None


def test_a_file_of_somebody_else_is_believed_in_its_own_folder_alone(tmp_path: Path, monkeypatch):
    written(tmp_path / "shop", PROJECT)
    below = tmp_path / "shop" / "tables"
    below.mkdir()
    monkeypatch.setattr("streamtables.project_file._trusted", frozenset)
    with pytest.raises(ConfigError, match="belongs to somebody else"):
        find_project(below)
    found = find_project(tmp_path / "shop")
    assert found is not None
    assert found.name == "shop"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[environments]\n", "has no environment"),
        ("environments = 3\n", '"environments" of the file'),
        ("[environments]\ndev = 3\n", '"dev" of the file'),
        ("[environments.dev]\n", "names no warehouse"),
        ("[environments.dev]\nwarehouse = 3\n", "is not a text"),
        ("[environments.dev]\nwarehose = 'x'\n", 'unknown key "warehose"'),
        ("history_keep = 3\n" + PROJECT, 'unknown key "history_keep"'),
        (PROJECT.replace('"dev"', '"def"'), 'no environment "def"'),
        (PROJECT.replace("warehouse/prod", "warehouse/dev"), "share one warehouse"),
        (
            '[environments.dev]\nwarehouse = "w"\ncatalog = "postgresql://me:pass@h/db"\n',
            "holds a password",
        ),
        (
            '[settings]\nweb_token = "0123456789abcdef"\n' + PROJECT[PROJECT.index("[") :],
            'the secret "web_token" itself',
        ),
        ("[environments.dev\n", "cannot read the settings file"),
    ],
)
def test_what_a_file_cannot_mean_is_refused(tmp_path: Path, text: str, said: str):
    with pytest.raises(ConfigError) as raised:
        project_in(written(tmp_path, text))
    assert said in raised.value.message


def test_a_password_by_reference_is_welcome(tmp_path: Path):
    text = PROJECT + 'catalog = "postgresql://me:${env:SHOP_PASSWORD}@h/db"\n'
    project = project_in(written(tmp_path, text))
    assert project is not None
    assert project.environment("prod").catalog == "postgresql://me:${env:SHOP_PASSWORD}@h/db"


def test_an_unknown_setting_of_a_project_is_refused_like_any_other(tmp_path: Path, monkeypatch):
    written(tmp_path, PROJECT + "[settings]\nhistory_kep = 3\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="history_kep"):
        load_settings(tmp_path / "warehouse" / "dev", environment={})


def test_settings_are_those_of_the_environment_that_lives_in_the_warehouse(
    tmp_path: Path, monkeypatch
):
    text = PROJECT + "[environments.prod.settings]\nhistory_keep = 7\n"
    text += "[settings]\nhistory_keep = 5\ncompact_after = 9\n"
    below = written(tmp_path, text) / "tables"
    below.mkdir()
    monkeypatch.chdir(below)

    def kept(warehouse: Path) -> tuple[int, int]:
        found = load_settings(warehouse, environment={})
        return found.history_keep, found.compact_after

    assert kept(tmp_path / "warehouse" / "dev") == (5, 9)
    assert kept(tmp_path / "warehouse" / "prod") == (7, 9)
    assert kept(Path("../warehouse/prod")) == (7, 9)
    assert kept(tmp_path / "elsewhere") == (5, 9)
    in_warehouse = written(tmp_path / "warehouse" / "prod", "history_keep = 8\n")
    assert kept(in_warehouse)[0] == 8


def test_a_warehouse_by_reference_is_asked_for_only_where_it_is_used(tmp_path: Path, monkeypatch):
    text = PROJECT.replace('"warehouse/prod"', '"${env:SHOP_LAKE}/prod"')
    project = project_in(written(tmp_path, text))
    assert project is not None
    monkeypatch.delenv("SHOP_LAKE", raising=False)
    assert project.settings_at(tmp_path / "warehouse" / "dev") == {}
    with pytest.raises(ConfigError, match="SHOP_LAKE"):
        project.warehouse_of(project.environment("prod"))
    monkeypatch.setenv("SHOP_LAKE", "/lake")
    assert project.warehouse_of(project.environment("prod")) == "/lake/prod"
