"""Real processes: the second finds what the first made, and a killed one leaves nothing broken."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from streamtables.catalog import Catalog, default_location
from tests.unit.catalog.builders import source
from tests.unit.refresh.plan_cache.shelf import created, plans_of

PLAN = """
import json, sys
from pathlib import Path
from streamtables.catalog import Catalog, default_location
from tests.unit.refresh.plan_cache.shelf import plans_of

warehouse, forbidden = Path(sys.argv[1]), sys.argv[2] == "forbidden"
if forbidden:
    import sqlglot.tokens

    def refused(*_, **__):
        raise AssertionError("this process must not read SQL")

    sqlglot.tokens.Tokenizer.tokenize = refused
with Catalog.open(default_location(warehouse)) as catalog:
    plans = plans_of(catalog, warehouse / "plans")
    definitions = catalog.snapshot().definitions
    plan = plans.plan(catalog.stream_table("totals"), definitions)
    program = plan.changes(frozenset({"orders"}), small=True)
    print(json.dumps([program.sql, plan.stored.sql, plan.state_rows.sql, plans.counts.summary()]))
    plans.close()
"""

WRITE = """
import sys
from pathlib import Path
from streamtables.positions import InputId
from streamtables.refresh.plan_cache.records import RecordName
from streamtables.refresh.plan_cache.shared_file import SharedFile

store = SharedFile(Path(sys.argv[1]), 8)
for number in range(10**9):
    store.save(RecordName(InputId("t"), "f", str(number % 50)), bytes([number % 256]) * 3_000)
    if number == 100:
        print("writing", flush=True)
"""


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )


def test_the_second_process_reads_no_sql(tmp_path: Path):
    with Catalog.open(default_location(tmp_path)) as catalog:
        catalog.add_source(source("orders"))
        created(catalog)
    outputs = []
    for mode in ("allowed", "forbidden"):
        done = run(PLAN, str(tmp_path), mode)
        assert done.returncode == 0, done.stderr
        outputs.append(json.loads(done.stdout))
    first, second = outputs
    assert second[:3] == first[:3]
    assert (first[3]["parse_count"], first[3]["differentiate_count"]) == (1, 1)
    assert (second[3]["parse_count"], second[3]["differentiate_count"]) == (0, 0)
    assert second[3]["l0"]["hits"] == 4


def test_a_process_that_dies_while_writing_leaves_a_whole_file(tmp_path: Path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    for _ in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", WRITE, str(tmp_path)],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        ) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "writing\n"
            writer.send_signal(signal.SIGKILL)
    with Catalog.open(default_location(tmp_path)) as catalog:
        catalog.add_source(source("orders"))
        plans, table = plans_of(catalog, tmp_path), created(catalog)
        plans.plan(table, catalog.snapshot().definitions)
        assert plans.held()[1].entries == 51
        assert plans.counts.of("l0").faults == 0
        plans.close()
