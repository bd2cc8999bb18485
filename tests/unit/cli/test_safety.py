"""What `doctor` says about safe defaults."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtables.cli.safety import find_safety


def states(folder: Path) -> dict[str, str]:
    return {finding.name: finding.state for finding in find_safety(str(folder))}


@pytest.fixture
def warehouse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "warehouse"
    folder.mkdir(mode=0o755)
    return folder


def test_a_plain_warehouse_is_fine(warehouse: Path):
    assert states(warehouse) == {"rights": "ok"}


def test_a_warehouse_that_everybody_may_write_is_a_fault(warehouse: Path):
    warehouse.chmod(0o777)
    assert states(warehouse)["rights"] == "fault"


def test_a_secret_that_everybody_may_read_is_a_fault(warehouse: Path):
    file = warehouse / "streamtables.toml"
    file.write_text('web_token = "a-secret-of-some-length"\n')
    file.chmod(0o644)
    assert states(warehouse)["secrets"] == "fault"
    assert "a-secret" not in repr(list(find_safety(str(warehouse))))
    file.chmod(0o600)
    assert "secrets" not in states(warehouse)
    file.write_text('web_token = "${env:X}"\n')
    file.chmod(0o644)
    assert "secrets" not in states(warehouse)


@pytest.mark.parametrize(
    ("peers", "state"), [("127.0.0.1", "ok"), ("0.0.0.0/0", "fault"), ("10.0.0.1, ::/0", "fault")]
)
def test_a_header_believed_from_everywhere_is_a_fault(warehouse: Path, peers: str, state: str):
    file = warehouse / "streamtables.toml"
    file.write_text(f'web_trusted_user_header = "X-User"\nweb_trusted_peers = "{peers}"\n')
    assert states(warehouse)["trusted header"] == state
