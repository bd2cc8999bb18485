"""A port that is opened: the command, its token, another process on the same catalog."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from time import sleep

import httpx
import pytest

from streamtables.cli import main
from streamtables.errors import EnvironmentFaultError
from streamtables.web import extra
from streamtables.web.serving import Address, Opened, served_beside
from tests.support.web_warehouse import WebWarehouse

ENVIRONMENT = {**os.environ, "PYTHONUNBUFFERED": "1"}


@contextmanager
def command(
    *words: str, environment: dict[str, str] | None = None
) -> Iterator[tuple[str, list[str]]]:
    """Run a command that serves; give its address and what it printed, and end it by SIGTERM."""
    process = subprocess.Popen(
        [sys.executable, "-m", "streamtables.cli", *words],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=ENVIRONMENT | (environment or {}),
    )  # fmt: skip
    assert process.stdout is not None
    said: list[str] = []
    try:
        for line in process.stdout:
            said.append(line.strip())
            if found := re.search(r"pages at (http://\S+)", line):
                yield found[1], said
                break
        else:
            raise AssertionError("\n".join(said))
    finally:
        process.send_signal(signal.SIGTERM)
        said += [line.strip() for line in process.stdout]
        process.stdout.close()
        assert process.wait(timeout=30) == 0, said


def test_the_command_serves_until_it_is_told_to_stop(own_shop: WebWarehouse):
    where = str(own_shop.db.warehouse)
    with command("serve", "-w", where, "--port", "0") as (url, said):
        assert httpx.get(url).status_code == 200
        names = {table["name"] for table in httpx.get(f"{url}api/status").json()}
        assert "sales.revenue" in names
        own_shop.note("sales.large", reason_text="by another process")
        found = httpx.get(f"{url}api/history/sales.large?limit=1").json()
        assert found[0]["reason_text"] == "by another process"
        assert httpx.get(url, headers={"Host": "elsewhere"}).status_code == 421
    assert said[-1] == "ended: nothing is half done"
    token = next(line for line in said if line.startswith("token for changes"))
    assert len(token.split()[-1]) >= 32


def test_a_token_of_the_settings_is_used_and_not_shown(own_shop: WebWarehouse):
    where, token = str(own_shop.db.warehouse), "a-token-of-the-settings"
    environment = {"STREAMTABLES_WEB_TOKEN": token}
    with command("serve", "-w", where, "--port", "0", environment=environment) as (url, said):
        answer = httpx.post(f"{url}api/wake", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 200
    assert token not in "\n".join(said)


def test_the_scheduler_serves_beside_its_work(own_shop: WebWarehouse):
    own_shop.db.pause(None, "nothing is to start Spark here")
    where = str(own_shop.db.warehouse)
    with command("run", "-w", where, "--serve", "0") as (url, said):
        found = httpx.get(f"{url}api/scheduler_diagnostics").json()
        assert found["stream_tables"] in (None, 9)
        assert httpx.get(f"{url}healthz").text == "ok\n"
    assert said[-1] == "ended: nothing is half done"


def test_pages_are_served_beside_something_else(own_shop: WebWarehouse):
    told: list[Opened] = []
    with served_beside(own_shop.db, Address(port=0), told.append):
        assert httpx.get(told[0].url).status_code == 200
    with pytest.raises(httpx.ConnectError):
        httpx.get(told[0].url)


def test_a_connection_outlives_the_pause_between_two_looks_of_a_page(own_shop: WebWarehouse):
    script = (files("streamtables.web") / "static" / "app.js").read_text(encoding="utf-8")
    found = re.search(r"LOOK_AGAIN_MS = (\d+)", script)
    assert found is not None
    pause = int(found[1]) / 1000 + 0.5
    told: list[Opened] = []
    kept = httpx.Client(limits=httpx.Limits(keepalive_expiry=None))
    with served_beside(own_shop.db, Address(port=0), told.append), kept as client:

        def our_end() -> object:
            stream = client.get(told[0].url + "healthz").extensions["network_stream"]
            return stream.get_extra_info("client_addr")

        first = our_end()
        sleep(pause)
        assert our_end() == first


def test_a_port_in_use_is_refused(own_shop: WebWarehouse, capsys: pytest.CaptureFixture[str]):
    told: list[Opened] = []
    with served_beside(own_shop.db, Address(port=0), told.append):
        port = told[0].url.rstrip("/").rpartition(":")[2]
        assert main(["serve", "-w", str(own_shop.db.warehouse), "--port", port]) == 1
    assert f"cannot listen on 127.0.0.1 port {port}" in capsys.readouterr().err


def test_missing_packages_are_named_with_the_way_out(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(extra, "find_spec", lambda name: None if name == "uvicorn" else object())
    with pytest.raises(EnvironmentFaultError) as missing:
        extra.require_web_packages()
    assert missing.value.detail == "Missing: uvicorn."
    assert missing.value.hint == "Run: pip install 'streamtables[web]'"


@pytest.mark.parametrize("words", [("--port", "70000"), ("--port", "x"), ("--prt", "1")])
def test_a_wrong_option_is_exit_2_and_opens_nothing(tmp_path: Path, words: tuple[str, ...]):
    assert main(["serve", "-w", str(tmp_path / "none"), *words]) == 2
    assert not (tmp_path / "none").exists()


def test_a_short_token_is_refused_and_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("STREAMTABLES_WEB_TOKEN", "hunter2")
    assert main(["serve", "-w", str(tmp_path / "none"), "--port", "0"]) == 2
    said = capsys.readouterr().err
    assert "web_token" in said
    assert "hunter2" not in said


def test_help_imports_no_web_package():
    program = (
        "import sys\n"
        "from streamtables.cli import main\n"
        "main(['serve', '--help'])\n"
        "sys.exit(str([n for n in ('fastapi', 'uvicorn', 'jinja2', 'pygments') if n in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr.strip() == "[]"
