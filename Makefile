# The commands of daily work. `make help` lists them.

BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest
# Tests that need neither Spark nor a server nor a browser, nor a long time.
QUICK := not spark and not postgres and not crash and not slow and not bench and not browser

.DEFAULT_GOAL := help
.PHONY: help setup demo browser test test-connect test-cluster test-dbt test-orchestrators test-tpcds test-all test-long check lint bench bench-postgres bench-scheduler bench-refresh bench-medallion bench-second-process gates golden docs site licences audit dist fuzz constraints clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-21s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## virtual environment, pinned packages, Java, jars
	@scripts/setup.sh

demo: setup ## a small shop with five stream tables, from nothing, on this machine
	@$(BIN)/streamtables demo $(ARGS)

lint: ## format, lint, types, layers, generated pages
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-logo > .venv/layers.log || { cat .venv/layers.log; exit 1; }
	@$(BIN)/python scripts/generate_docs.py --check

check: export STREAMTABLES_SKIP_JAVA = 1
check: setup lint ## what every change must pass: lint and the tests without Spark, a few minutes
	@$(PYTEST) -q -m "$(QUICK)" $(ARGS)

browser: ## a browser for the tests of the web pages, where it can be installed
	@scripts/setup.sh browser

test: export STREAMTABLES_TEST_PICTURES ?= artifacts/pictures
test: setup browser lint ## all but the long cases, Spark included, in two processes; the last line sums up
	@$(BIN)/python scripts/run_tests.py --hypothesis-profile=ci $(ARGS)

# The law of stream tables, whatever Spark they run on.
CORE := $(addprefix tests/integration/spark/test_, cases_on_spark.py stream_tables.py hand_parity.py \
    spark_hand.py whole_way.py random_queries_on_spark.py change_feed.py clock.py sources_that_change.py)

test-connect: setup ## the core of the tests with Spark, behind a Spark Connect server
	@$(PYTEST) -q -m "not long" --spark=connect $(CORE) $(ARGS)
	@$(PYTEST) -q tests/integration/elsewhere/test_connect.py

test-cluster: setup ## the core of the tests with Spark, on a standalone cluster of two workers
	@$(PYTEST) -q -m "not long" --spark=cluster $(CORE) $(ARGS)
	@$(PYTEST) -q tests/integration/elsewhere/test_cluster.py

test-dbt: ## the example project of dbt, in dbt itself
	@scripts/setup.sh dbt
	@$(PYTEST) -q tests/integration/elsewhere/test_dbt.py $(ARGS)

test-orchestrators: ## stream tables in Airflow and in Dagster
	@scripts/setup.sh airflow
	@scripts/setup.sh dagster
	@$(PYTEST) -q tests/integration/elsewhere/test_orchestrators.py $(ARGS)

test-tpcds: ## the 99 queries of TPC-DS, on DuckDB and on Spark
	@scripts/setup.sh tpcds
	@$(PYTEST) -q -m long tests/tpcds $(ARGS)

test-all: test test-connect test-cluster test-dbt test-orchestrators test-tpcds ## all of it, on every kind of Spark and in every framework

test-long: setup ## what takes too long on Spark for every change
	@$(PYTEST) -q -m long --ignore=tests/integration/elsewhere --ignore=tests/tpcds $(ARGS)

bench: setup ## measure against full refresh and a bare Delta commit; JSON and a table
	@$(BIN)/python -m benchmarks $(ARGS)

bench-postgres: setup ## measure PostgreSQL sources: writers, layout, load, first copy; about half an hour
	@$(BIN)/python -m benchmarks.postgres $(ARGS)

bench-scheduler: setup ## measure the scheduler: idle ticks, looks, shared reads, graphs; ARGS=--quick for small sizes
	@$(BIN)/python -m benchmarks.scheduler $(ARGS)

bench-refresh: setup ## measure mode auto against always full and always by changes, at all sizes of change
	@$(BIN)/python -m benchmarks.refresh $(ARGS)

bench-medallion: setup ## measure fifteen tables in three layers after one batch, against full refreshes and bare Spark
	@$(BIN)/python -m benchmarks.medallion $(ARGS)

bench-second-process: setup ## measure what a process that starts parses and takes, with kept plans and without
	@$(BIN)/python -m benchmarks.second_process $(ARGS)

gates: export STREAMTABLES_SKIP_JAVA = 1
gates: setup ## hold a change to the speed of its base, without Spark; ARGS="--base COMMIT" for another base
	@$(BIN)/python -m benchmarks.gates $(ARGS)

golden: setup ## rewrite the golden files; review the difference like code
	@$(PYTEST) -q tests/golden --update-golden $(ARGS)

docs: setup ## rewrite the generated pages
	@$(BIN)/python scripts/generate_docs.py

site: export NO_MKDOCS_2_WARNING = 1
site: setup ## the pages of docs/ as a site, in site/
	@$(BIN)/mkdocs build --strict --quiet

licences: setup ## rewrite docs/licences.md, and refuse licences that cannot be stood on
	@$(BIN)/python scripts/licences.py

audit: setup ## look for known faults in the pinned packages (needs pip-audit and a network)
	@$(BIN)/python scripts/licences.py --check
	@command -v $(BIN)/pip-audit > /dev/null || command -v pip-audit > /dev/null || \
	    { echo "pip-audit is not installed: pip install pip-audit"; exit 1; }
	@PATH="$(BIN):$$PATH" pip-audit --requirement constraints.txt --disable-pip --require-hashes

dist: setup ## the wheel and the source archive, and a bill of materials where cyclonedx-py is installed
	@$(BIN)/python -m hatchling build -d dist
	@if command -v cyclonedx-py > /dev/null; then cyclonedx-py requirements constraints.txt --pyproject pyproject.toml \
	    --output-reproducible -o dist/sbom.json; else echo "no bill of materials: pip install cyclonedx-bom"; fi

fuzz: setup ## try broken inputs for a while; ARGS="--minutes 30 queries" for longer, or for one kind
	@$(BIN)/python -m tests.fuzz $(ARGS)

PINNING := --universal --generate-hashes --no-emit-index-url --custom-compile-command "make constraints" --quiet
constraints: ## pin the newest versions that pyproject.toml allows (needs uv)
	@uv pip compile pyproject.toml --extra demo --extra web --extra connect --extra notebook --extra traces \
	    --extra dev $(PINNING) --upgrade -o constraints.txt
	@for extra in dbt airflow dagster tpcds; do cp constraints.txt constraints-$$extra.txt; \
	    uv pip compile pyproject.toml --extra $$extra $(PINNING) -o constraints-$$extra.txt || exit 1; done

clean: ## remove what runs left behind; the virtual environment stays
	@rm -rf build dist site warehouse spark-warehouse metastore_db derby.log .coverage htmlcov \
	    .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find src tests scripts benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
