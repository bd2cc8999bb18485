"""Settings of Spark that a person gives as one text."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.engine.spark_start import SparkSettings, spark_settings_in, start_spark
from streamtables.errors import ConfigError, EnvironmentFaultError
from streamtables.settings import Settings


def test_settings_are_split_and_secrets_stay_references():
    text = "spark.executor.memory=4g; spark.hadoop.fs.s3a.secret.key=${env:S3_KEY};"
    assert spark_settings_in(Settings(spark_conf=text).spark_conf) == {
        "spark.executor.memory": "4g",
        "spark.hadoop.fs.s3a.secret.key": "${env:S3_KEY}",
    }
    assert spark_settings_in("") == {}


def test_a_secret_that_is_not_there_is_told_when_spark_is_needed(tmp_path: Path):
    settings = Settings(spark_conf="spark.a=${env:NOWHERE_SET}", spark_master="sc://127.0.0.1:1")
    with StreamTables(tmp_path / "w", settings=settings) as db:
        assert db.stream_tables() == []
    with pytest.raises(ConfigError, match="NOWHERE_SET"):
        start_spark(SparkSettings(jars_in(tmp_path), extra=spark_settings_in(settings.spark_conf)))


@pytest.mark.parametrize("master", ["sc://127.0.0.1:1", "sc://127.0.0.1:99999", "sc://"])
def test_a_connect_server_that_is_not_there_is_told_at_once(master: str, tmp_path: Path):
    with pytest.raises(EnvironmentFaultError, match="Connect server") as told:
        start_spark(SparkSettings(tmp_path, master=master))
    assert "spark_master" in told.value.hint


def jars_in(folder: Path) -> Path:
    (folder / "delta-spark.jar").touch()
    return folder


@pytest.mark.parametrize("text", ["executor.memory=4g", "spark.executor.memory", "4g"])
def test_what_is_no_setting_of_spark_is_refused(text: str):
    with pytest.raises(ConfigError):
        Settings(spark_conf=text)
