"""Spark Declarative Pipelines taken over: what each dataset becomes, and nothing of it run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from streamtables.api import StreamTables
from streamtables.compiler.pipeline_statements import (
    PipelineDataset,
    PipelineFlow,
    parse_pipeline_statement,
    with_short_names,
    without_stream,
)
from streamtables.errors import ConfigError, SqlSyntaxError
from streamtables.project.sdp.found import Imported
from streamtables.project.sdp.spec import files_of
from streamtables.project_file import project_in
from tests.unit.project.shop_project import shop, write

# Each of these was given to Spark's own parser, which takes them.
ACCEPTED = {
    "CREATE MATERIALIZED VIEW a AS SELECT 1": PipelineDataset("materialized view", "a", "SELECT 1"),
    "CREATE MATERIALIZED VIEW IF NOT EXISTS a.b (x INT, y STRING COMMENT 'c') USING delta "
    "PARTITIONED BY (x) COMMENT 'd' TBLPROPERTIES ('k'='v') AS SELECT 1": PipelineDataset(
        "materialized view",
        "a.b",
        "SELECT 1",
        "d",
        ("the list of columns", "USING delta", "PARTITIONED BY", "TBLPROPERTIES"),
    ),
    "CREATE MATERIALIZED VIEW a CLUSTER BY (x) AS SELECT 1": PipelineDataset(
        "materialized view", "a", "SELECT 1", "", ("CLUSTER BY",)
    ),
    "CREATE STREAMING TABLE a": PipelineDataset("streaming table", "a", None),
    "CREATE STREAMING TABLE a AS SELECT * FROM STREAM b": PipelineDataset(
        "streaming table", "a", "SELECT * FROM STREAM b"
    ),
    "CREATE FLOW f COMMENT 'x' AS INSERT INTO a BY NAME SELECT * FROM b": PipelineFlow(
        "f", "a", "SELECT * FROM b"
    ),
    "CREATE TEMPORARY VIEW v AS SELECT 1": PipelineDataset("view", "v", "SELECT 1"),
    "CREATE VIEW v COMMENT 'x' AS SELECT 1": PipelineDataset("view", "v", "SELECT 1", "x"),
}
# And these it refuses, when it parses or when it registers the flow.
REFUSED = [
    "CREATE OR REPLACE MATERIALIZED VIEW a AS SELECT 1",
    "CREATE MATERIALIZED VIEW a",
    "CREATE FLOW f AS INSERT INTO a SELECT * FROM STREAM b",
    "CREATE FLOW f AS INSERT INTO a (x, y) SELECT * FROM STREAM b",
    "CREATE FLOW f AS INSERT OVERWRITE a BY NAME SELECT * FROM b",
    "CREATE FLOW f AS AUTO CDC INTO a FROM STREAM b KEYS (id) SEQUENCE BY ts",
    "CREATE LIVE TABLE x AS SELECT 1",
    "DROP TABLE x",
]


@pytest.mark.parametrize("text", ACCEPTED)
def test_statements_that_spark_takes_are_read(text: str):
    assert parse_pipeline_statement(text) == ACCEPTED[text]


@pytest.mark.parametrize("text", REFUSED)
def test_statements_that_spark_refuses_are_refused(text: str):
    with pytest.raises(SqlSyntaxError):
        parse_pipeline_statement(text)


@pytest.mark.parametrize(
    ("query", "read", "count"),
    [
        ("SELECT * FROM STREAM a", "SELECT * FROM a", 1),
        ("SELECT * FROM STREAM(s.a) AS x", "SELECT * FROM s.a AS x", 1),
        ("SELECT * FROM STREAM a JOIN stream `b`", "SELECT * FROM a JOIN `b`", 2),
        ("SELECT stream FROM stream", "SELECT stream FROM stream", 0),
        ("SELECT a FROM stream AS s", "SELECT a FROM stream AS s", 0),
        ("SELECT a FROM stream GROUP BY a", "SELECT a FROM stream GROUP BY a", 0),
        ("SELECT a FROM STREAM range(5)", "SELECT a FROM range(5)", 1),
        ("SELECT 'STREAM a' FROM b", "SELECT 'STREAM a' FROM b", 0),
    ],
)
def test_streams_become_tables(query: str, read: str, count: int):
    assert without_stream(query) == (read, count)


def test_names_of_the_pipeline_lose_their_schema_and_others_keep_it():
    query = "SELECT c.s.a.x, 's.a' FROM c.s.a JOIN s.A JOIN s.other JOIN t.s.a"
    short = "SELECT a.x, 's.a' FROM a JOIN A JOIN s.other JOIN t.s.a"
    assert with_short_names(query, [("s",), ("c", "s")], ["a"]) == short


@pytest.fixture
def db(tmp_path: Path) -> Iterator[StreamTables]:
    shop(tmp_path / "shop")
    with StreamTables(tmp_path / "shop" / "warehouse" / "dev") as opened:
        yield opened


def taken(db: StreamTables, place: Path) -> dict[str, Imported]:
    project = project_in(db.warehouse.parents[1])
    assert project is not None
    done = db.import_pipeline(place, project, project.environment())
    return {item.name: item for item in done.answers}


def test_views_become_stream_tables_with_the_answer_of_the_compiler(
    db: StreamTables, tmp_path: Path
):
    write(
        tmp_path / "pipe",
        **{
            "spark-pipeline_dot_yml": "name: p\nstorage: file:///x\nschema: sales\n"
            "libraries:\n  - glob:\n      include: t/**\n",
            "elsewhere_dot_sql": "CREATE MATERIALIZED VIEW unlisted AS SELECT 1 AS x",
            "t__a_dot_sql": "CREATE MATERIALIZED VIEW top AS SELECT max(total) AS m FROM sales.by_city;"
            "CREATE MATERIALIZED VIEW sales.by_city COMMENT 'By city' AS "
            "SELECT city, sum(amount) AS total FROM orders GROUP BY city;"
            "CREATE MATERIALIZED VIEW lucky AS SELECT id, rand() AS r FROM orders;"
            "CREATE MATERIALIZED VIEW wrong AS SELECT nothing FROM orders;"
            "CREATE MATERIALIZED VIEW far AS SELECT * FROM raw.events;"
            "CREATE MATERIALIZED VIEW further AS SELECT * FROM far;"
            "CREATE TEMPORARY VIEW big AS SELECT * FROM orders WHERE amount > 1;"
            "CREATE MATERIALIZED VIEW on_big AS SELECT city FROM big",
        },
    )
    found = taken(db, tmp_path / "pipe")
    assert {name: item.becomes for name, item in found.items()} == {
        "by_city": "incremental",
        "top": "incremental",
        "lucky": "full",
        "wrong": "refused",
        "far": "unchecked",
        "further": "unchecked",
        "big": "view",
        "on_big": "incremental",
    }
    assert found["by_city"].reason == "a change costs, by source: orders O(changed rows)"
    assert found["lucky"].reason.startswith("ST-1201 ")
    assert found["wrong"].reason.startswith("ST-1102 ")
    assert found["far"].reason == "reads raw.events, which is no source yet"
    tables = tmp_path / "shop" / "tables"
    assert (tables / "by_city.sql").read_text() == (
        "---\nname: by_city\ndescription: By city\n---\n"
        "SELECT city, sum(amount) AS total FROM orders GROUP BY city\n"
    )
    assert (tables / "top.sql").read_text().endswith("SELECT max(total) AS m FROM by_city\n")
    assert not (tables / "wrong.sql").exists()


def test_what_is_written_can_be_applied_and_is_not_written_over(db: StreamTables, tmp_path: Path):
    text = "CREATE MATERIALIZED VIEW a AS SELECT id FROM v; CREATE VIEW v AS SELECT id FROM orders"
    write(tmp_path / "pipe", a_dot_sql=text)
    assert taken(db, tmp_path / "pipe")["a"].written == "tables/a.sql"
    db.apply_project(db.plan_project(tmp_path / "shop"))
    assert sorted(table.name for table in db.stream_tables()) == ["a", "revenue"]
    assert taken(db, tmp_path / "pipe")["a"].written == "tables/a.sql is there"
    (tmp_path / "shop" / "tables" / "a.sql").write_text("SELECT 1 AS x")
    assert taken(db, tmp_path / "pipe")["a"].written == "tables/a.sql is there, and differs"
    assert (tmp_path / "shop" / "tables" / "a.sql").read_text() == "SELECT 1 AS x"


def test_streaming_tables_are_taken_over_where_rows_are_kept_one_by_one(
    db: StreamTables, tmp_path: Path
):
    write(
        tmp_path / "pipe",
        a_dot_sql="CREATE STREAMING TABLE bronze AS SELECT id, city FROM STREAM(orders) WHERE id > 0;"
        "CREATE STREAMING TABLE both;"
        "CREATE FLOW one AS INSERT INTO both BY NAME SELECT city, id FROM STREAM orders;"
        "CREATE FLOW two AS INSERT INTO both BY NAME SELECT id, city FROM STREAM bronze;"
        "CREATE STREAMING TABLE counted AS SELECT city, count(*) AS n FROM STREAM orders GROUP BY city;"
        "CREATE STREAMING TABLE joined AS SELECT a.id FROM STREAM orders a JOIN bronze b ON a.id = b.id;"
        "CREATE STREAMING TABLE once AS SELECT id FROM orders;"
        "CREATE STREAMING TABLE empty;"
        "CREATE STREAMING TABLE unlike AS SELECT id FROM STREAM orders;"
        "CREATE FLOW three AS INSERT INTO unlike BY NAME SELECT city FROM STREAM orders;"
        "CREATE FLOW lost AS INSERT INTO nowhere BY NAME SELECT id FROM STREAM orders;"
        "CREATE STREAMING TABLE late AS SELECT id FROM STREAM orders WATERMARK ts DELAY OF INTERVAL 1 MINUTE;"
        "CREATE STREAMING TABLE unknown AS SELECT id FROM STREAM raw.events;"
        "CREATE MATERIALIZED VIEW mixed AS SELECT id FROM STREAM orders",
    )
    found = taken(db, tmp_path / "pipe")
    assert {name for name, item in found.items() if item.becomes == "incremental"} == {
        "bronze",
        "both",
    }
    assert {item.becomes for name, item in found.items() if name not in ("bronze", "both")} == {
        "refused"
    }
    assert "followed too" in found["bronze"].reason
    assert "joins, groups or orders" in found["counted"].reason
    assert "joins, groups or orders" in found["joined"].reason
    assert "reads no stream" in found["once"].reason
    assert "nothing fills it" in found["empty"].reason
    assert "same columns" in found["unlike"].reason
    assert "raw.events is a source" in found["unknown"].reason
    assert "cannot read a stream" in found["mixed"].reason
    assert (tmp_path / "shop" / "tables" / "both.sql").read_text().count("`city`, `id`") == 2


def test_what_reads_itself_or_has_a_name_that_is_taken_is_refused(db: StreamTables, tmp_path: Path):
    write(
        tmp_path / "pipe",
        a_dot_sql="CREATE MATERIALIZED VIEW a AS SELECT * FROM b;"
        "CREATE MATERIALIZED VIEW b AS SELECT * FROM a;"
        "CREATE MATERIALIZED VIEW c AS SELECT * FROM c;"
        "CREATE MATERIALIZED VIEW twice AS SELECT 1 AS x;"
        "CREATE MATERIALIZED VIEW Twice AS SELECT 1 AS x;"
        "CREATE MATERIALIZED VIEW x.y.z AS SELECT 1 AS x;"
        "CREATE MATERIALIZED VIEW orders AS SELECT 1 AS x",
    )
    found = taken(db, tmp_path / "pipe")
    assert {name: item.reason for name, item in found.items() if item.becomes == "refused"} == {
        "a": "it reads what reads it in turn",
        "c": "it reads itself",
        "twice": "the pipeline defines it twice",
        "Twice": "the pipeline defines it twice",
        "x.y.z": 'ST-1305 "x.y.z" cannot be the name of a source or stream table. '
        "It has 3 parts; at most two are allowed.",
        "orders": "a source of the project has this name",
    }
    assert found["b"].becomes == "unchecked"


PYTHON = '''
from pyspark import pipelines as dp
from pyspark.pipelines import table as streaming
open("ran", "w")

@dp.materialized_view
def plain():
    """What it is."""
    return spark.sql("SELECT id FROM orders")

@dp.materialized_view(name="named", comment="Said", partition_cols=["x"])
def other():
    return spark.sql("""SELECT city FROM orders""")

@streaming
def streamed():
    return spark.sql("SELECT id FROM STREAM orders")

@dp.materialized_view
def frame():
    return spark.range(10)

@dp.materialized_view
def made_up():
    return spark.sql(f"SELECT {1} FROM orders")

@dp.materialized_view
def steps():
    x = 1
    return spark.sql("SELECT id FROM orders")

@dp.materialized_view(name=NAME)
def unnamed():
    return spark.sql("SELECT id FROM orders")

@other.materialized_view
def not_ours():
    return spark.sql("SELECT id FROM orders")

dp.create_streaming_table("target", comment="flows")

@dp.append_flow(target="target")
def flow():
    return spark.sql("SELECT city FROM STREAM orders")

dp.create_sink("sink", "kafka")
dp.create_auto_cdc_flow(target="cdc", source="s", keys=["k"], sequence_by="t")
'''


def test_python_is_read_by_its_syntax_and_never_run(db: StreamTables, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "pipe", a_dot_py=PYTHON, broken_dot_py="def (")
    found = taken(db, tmp_path / "pipe")
    assert {name: item.becomes for name, item in found.items()} == {
        "plain": "incremental",
        "named": "incremental",
        "streamed": "incremental",
        "target": "incremental",
        "frame": "refused",
        "made_up": "refused",
        "steps": "refused",
        "unnamed": "refused",
        "sink": "refused",
        "cdc": "refused",
        "broken.py": "refused",
    }
    assert not (tmp_path / "ran").exists()
    assert found["named"].reason.endswith("not taken over: partition_cols")
    assert "line 20: its body is not a plain" in found["frame"].reason
    assert "row_number()" in found["cdc"].reason


def test_a_pipeline_is_a_folder_a_spec_or_a_file(tmp_path: Path):
    write(tmp_path, a_dot_sql="SELECT 1", b_dot_txt="x")
    assert files_of(tmp_path).files == (tmp_path / "a.sql",)
    assert files_of(tmp_path / "a.sql").files == (tmp_path / "a.sql",)
    for place, said in [("b.txt", "no file of a pipeline"), ("c.sql", "no folder or file")]:
        with pytest.raises(ConfigError, match=said):
            files_of(tmp_path / place)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name: p\nstorage: x\nlibraries:\n  - glob: {include: 'a/*/b.sql'}\n", "pattern"),
        ("name: p\nstorage: x\ncolour: red\n", 'unknown field "colour"'),
        ("name: p\nstorage: x\n", "no files"),
        ("- a\n", "is not a pipeline spec"),
        ("name: p\nstorage: x\ndatabase: 3\n", "is not a pipeline spec"),
        ("a: [", "cannot read"),
    ],
)
def test_a_wrong_spec_is_refused(tmp_path: Path, text: str, said: str):
    write(tmp_path, **{"spark-pipeline_dot_yaml": text})
    with pytest.raises(ConfigError) as raised:
        files_of(tmp_path)
    assert said in raised.value.message
