"""Hold a change to its base: `python -m benchmarks.gates --base <commit>`, or `make gates`.

Every gate runs on both commits in turn, on this machine and in this run, so that no figure of
another machine is needed.  Exit 0: all within their bounds.  Exit 1: a gate is exceeded.  Exit 2:
the request is wrong.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path

from benchmarks.gates.gate import CPU, Gate, Verdict
from benchmarks.gates.sides import (
    PROJECT,
    NoSuchBaseError,
    Sides,
    base_commit,
    checked_out,
    compare,
    git,
)
from benchmarks.options import positive
from benchmarks.pages import Results, conditions, save
from benchmarks.postgres_report import add_results_option, show_table

MODULE = "benchmarks.gates.catalogue"


def main(arguments: Sequence[str] | None = None, root: Path = PROJECT, module: str = MODULE) -> int:
    """Compare, show and save; 1 when a gate is exceeded, 2 when there is no such base or gate."""
    options = _options(arguments)
    gates = _chosen(importlib.import_module(module).GATES, options.only)
    if not gates:
        print(f"error: no gate is called {' or '.join(options.only)}", file=sys.stderr)
        return 2
    results = conditions() | {"rounds": options.rounds}
    try:
        commit = base_commit(root, options.base)
        results |= {"base": commit, "head": git(root, "rev-parse", "HEAD")}
        with checked_out(root, commit) as base:
            verdicts = compare(gates, Sides(base, root, module).opened, options.rounds)
    except NoSuchBaseError as error:
        print(f"error: {error}\nhint: give another commit with --base", file=sys.stderr)
        return 2
    results["gates"] = [_data(verdict) for verdict in verdicts]
    save(results, options.results, "gates")
    _show(results, verdicts, as_json=options.json)
    wrong = [verdict for verdict in verdicts if verdict.status in ("exceeded", "failed")]
    for verdict in wrong:
        print(f"error: {verdict.sentence()}", file=sys.stderr)
    return 1 if wrong else 0


def _chosen(gates: Sequence[Gate], patterns: Sequence[str]) -> list[Gate]:
    return [gate for gate in gates if any(fnmatchcase(gate.name, item) for item in patterns)]


def _data(verdict: Verdict) -> Results:
    metrics = {item.metric: asdict(item) | {"metric": item.metric} for item in verdict.compared}
    told = {"gate": verdict.gate, "status": verdict.status, "metrics": metrics}
    return told | ({"error": verdict.error} if verdict.error else {})


def _show(results: Results, verdicts: Sequence[Verdict], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(results, indent=2))
        return
    rows = []
    for verdict in verdicts:
        for item in verdict.compared:
            mark = "EXCEEDED" if item.exceeded else "passed"
            sides = [_value(item.metric, item.base), _value(item.metric, item.head)]
            ratio = [f"{item.ratio:.3f}×", f"≤ {item.bound:g}×", mark]
            rows.append([f"{verdict.gate} {item.metric}", *sides, *ratio])
        if not verdict.compared:
            rows.append([verdict.gate, "–", "–", "–", "–", verdict.status])
    print(f"base {results['base'][:10]}, head {results['head'][:10]} with what is not committed")
    show_table(["gate", "base", "head", "ratio", "bound", "verdict"], rows)
    for verdict in verdicts:
        if verdict.status == "new":
            print(f"{verdict.gate} is new, the base has no figure: {verdict.error}")


def _value(metric: str, value: float) -> str:
    return f"{1_000 * value:.3f} ms" if metric == CPU else f"{value:,.0f}"


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gates", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--base", help="the commit to compare with; else where main was left")
    parser.add_argument("--rounds", type=positive, default=5, help="pairs of processes")
    parser.add_argument("--only", nargs="+", default=["*"], help="names or patterns of gates")
    parser.add_argument("--json", action="store_true", help="print JSON and no table")
    add_results_option(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
