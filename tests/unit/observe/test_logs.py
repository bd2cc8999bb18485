"""Log lines: fields, formats, and what stays out."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from streamtables.api import StreamTables
from streamtables.errors import ConfigError
from streamtables.observe.logs import about, end_logs, start_logs
from tests.support.settings import settings_with

LOG = logging.getLogger("streamtables.test")


@contextmanager
def written(form: str = "text", level: str = "info") -> Iterator[io.StringIO]:
    stream = io.StringIO()
    handler = start_logs(stream, level=level, form=form)
    try:
        yield stream
    finally:
        end_logs(handler)


def test_text_has_the_moment_the_level_the_event_and_the_fields():
    with written() as stream:
        LOG.info("refresh ended", extra={"fields": {"table": "t", "text": "two words", "n": 3}})
    moment, _, rest = stream.getvalue().partition(" ")
    assert moment.endswith("Z")
    assert rest == 'info    refresh ended table=t text="two words" n=3\n'


def test_json_has_one_object_for_each_line():
    with written("json") as stream:
        LOG.warning("a\nb", extra={"fields": {"seconds": 0.5, "level": "of the field"}})
        LOG.info("c")
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert first["event"] == "a\nb"
    assert (first["level"], first["seconds"], first["logger"]) == (
        "warning",
        0.5,
        "streamtables.test",
    )
    assert second["event"] == "c"


def test_every_line_of_a_refresh_has_its_table_and_id_and_no_other_threads_line_has():
    def elsewhere() -> None:
        LOG.info("elsewhere")

    with written("json") as stream:
        with about(table="revenue", refresh_id="r-1"):
            LOG.info("inside", extra={"fields": {"way": "merge"}})
            other = Thread(target=elsewhere)
            other.start()
            other.join()
        LOG.info("after")
    inside, other_line, after = map(json.loads, stream.getvalue().splitlines())
    assert (inside["table"], inside["refresh_id"], inside["way"]) == ("revenue", "r-1", "merge")
    assert "table" not in other_line
    assert "table" not in after


def test_lines_below_the_level_and_lines_of_others_stay_out():
    with written(level="warning") as stream:
        LOG.info("too low")
        logging.getLogger("py4j.clientserver").error("noise of Spark")
        LOG.warning("high enough")
    assert stream.getvalue().count("\n") == 1
    assert "high enough" in stream.getvalue()
    LOG.warning("nobody listens any more")
    assert stream.getvalue().count("\n") == 1


def test_the_text_of_an_exception_is_not_written():
    with written() as stream:
        try:
            raise ValueError("CANARY-4711")
        except ValueError:
            LOG.exception("tick failed")
    assert "error_type=ValueError" in stream.getvalue()
    assert "CANARY" not in stream.getvalue()
    assert "Traceback" not in stream.getvalue()


def test_without_being_set_up_a_warning_is_not_printed(capsys: pytest.CaptureFixture[str]):
    assert any(
        isinstance(h, logging.NullHandler) for h in logging.getLogger("streamtables").handlers
    )
    LOG.warning("nobody asked")
    print("the stream works", file=sys.stderr)
    assert "nobody asked" not in capsys.readouterr().err


def test_the_settings_choose_format_and_level(tmp_path: Path):
    stream = io.StringIO()
    settings = settings_with(log_format="json", log_level="error")
    with StreamTables(tmp_path, settings=settings) as db:
        db.write_logs(stream)
        LOG.warning("too low")
        LOG.error("seen")
    LOG.error("closed by now")
    (line,) = stream.getvalue().splitlines()
    assert json.loads(line)["event"] == "seen"
    with pytest.raises(ConfigError):
        settings_with(log_format="xml")
    with pytest.raises(ConfigError):
        settings_with(log_level="loud")
