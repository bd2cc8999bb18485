"""The metrics of a process on a port."""

from __future__ import annotations

import socket
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from streamtables.api import StreamTables
from streamtables.errors import ConfigError
from tests.unit.observe.scraped import scraped


def test_a_scrape_over_http_is_the_text_of_the_api(tmp_path: Path) -> None:
    with StreamTables(tmp_path) as db:
        port = db.serve_metrics(0)
        with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
            text = answer.read().decode()
            assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        assert scraped(text).keys() == scraped(db.metrics_text()).keys()
        assert scraped(text)["scheduler_leads"] == 0
        with pytest.raises(HTTPError) as refused:
            urlopen(f"http://127.0.0.1:{port}/other", timeout=10)
        assert refused.value.code == 404
        refused.value.close()
    with pytest.raises(OSError, match="refused"):
        urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10)


def test_a_port_that_is_taken_is_refused(tmp_path: Path) -> None:
    with socket.socket() as taken, StreamTables(tmp_path) as db:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(ConfigError, match="port"):
            db.serve_metrics(taken.getsockname()[1])
