"""Files that a page shows are read by what reads them: settings, projects, sources, units, images."""

from __future__ import annotations

import configparser
import json
import re
import shlex
from pathlib import Path

import pytest
import yaml

from streamtables.project.source_files import read_sources
from streamtables.project_file import project_in
from streamtables.scheduler.schedule import parse_schedule
from streamtables.settings import load_settings
from tests.e2e.docs.blocks import READ, Block, all_blocks
from tests.e2e.docs.command_lines import read_command, read_export, read_pip, read_streamtables

PROJECT = '[environments.dev]\nwarehouse = "dev"\n[environments.prod]\nwarehouse = "prod"\n'
INSTRUCTIONS = {"FROM", "COPY", "RUN", "ENV", "VOLUME", "STOPSIGNAL", "ENTRYPOINT"}
_SETTINGS = "streamtables.toml"


def files_in(language: str) -> list[Block]:
    return [block for block in all_blocks() if block.language == language]


def read_line(line: str) -> None:
    """Read a command line that names its program by a path."""
    program, *words = shlex.split(line.split(" >")[0])
    assert Path(program).name == "streamtables"
    read_streamtables(words)


def test_every_language_that_is_read_has_its_test():
    tested = {
        name.removeprefix("test_").split("_")[0] for name in globals() if "_on_a_page" in name
    }
    assert tested == READ


@pytest.mark.parametrize("block", files_in("toml"), ids=str)
def test_toml_on_a_page_is_a_file_that_is_understood(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    assert block.file is not None, "its first line says which file it is: # streamtables.toml"
    for name, text in ((_SETTINGS, PROJECT), (block.file, block.text)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    project = project_in(tmp_path)
    if project is None:
        assert block.file == _SETTINGS
        load_settings(tmp_path)
        return
    for environment in project.environments.values():
        load_settings(Path(project.warehouse_of(environment)))
        assert read_sources(project, environment) or block.file == _SETTINGS


@pytest.mark.parametrize("block", files_in("yaml"), ids=str)
def test_yaml_on_a_page_can_be_read(block: Block):
    assert isinstance(yaml.safe_load(block.text), dict)


def test_json_on_a_page_can_be_read():
    for block in files_in("json"):
        json.loads(block.text)


@pytest.mark.parametrize("block", files_in("ini"), ids=str)
def test_ini_on_a_page_is_a_unit_whose_commands_are_understood(block: Block):
    unit = configparser.RawConfigParser(strict=True)
    unit.optionxform = str  # type: ignore[assignment,method-assign]  # names of systemd have case
    unit.read_string(block.text)
    read_line(unit["Service"]["ExecStart"])
    if "Environment" in unit["Service"]:
        read_export([unit["Service"]["Environment"]])


@pytest.mark.parametrize("block", files_in("cron"), ids=str)
def test_cron_on_a_page_has_times_and_commands_that_are_understood(block: Block):
    for line in block.text.splitlines():
        *times, command = line.split(maxsplit=5)
        parse_schedule(f"cron {' '.join(times)}")
        folder, command = command.split(" && ")
        read_command(shlex.split(folder))
        read_line(command)


@pytest.mark.parametrize("block", files_in("dockerfile"), ids=str)
def test_dockerfile_on_a_page_has_commands_that_are_understood(block: Block):
    for line in re.sub(r"^#.*\n", "", block.text, flags=re.MULTILINE).splitlines():
        instruction, rest = line.split(maxsplit=1)
        assert instruction in INSTRUCTIONS
        if instruction == "ENTRYPOINT":
            read_line(shlex.join(json.loads(rest)))
        if instruction == "ENV":
            read_export([rest])
        if instruction == "RUN":
            install, doctor = rest.split(" && ")
            read_pip([word.replace("/opt/project", ".") for word in shlex.split(install)[1:]])
            read_line(doctor)
