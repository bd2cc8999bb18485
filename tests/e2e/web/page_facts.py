"""What each page shows by the names of its facts, and what the JSON API says of the same.

A fact has a subject (a table, a source, a refresh; empty where it is the page itself) and a name.
Numbers are compared as they are written, moments by themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

from playwright.sync_api import Page

from streamtables.web.conditions import WORDS
from streamtables.web.pages.overview import health
from streamtables.web.rendering import number, seconds

Facts = Mapping[tuple[str, str], str]
Api = Callable[[str], Any]

NOTHING = "–"
_COLLECTED = """() => [...document.querySelectorAll("main [data-fact]")].map((shown) => {
  const subject = shown.closest("[data-of], [data-name]")?.dataset;
  const moment = shown.querySelector("time")?.dateTime;
  return [subject?.of ?? subject?.name ?? "", shown.dataset.fact, moment ?? shown.textContent.trim()];
})"""


def shown_facts(page: Page) -> Facts:
    """Return every fact that a page shows."""
    found = page.evaluate(_COLLECTED)
    return {(subject, name): text for subject, name, text in found}


def moment(value: str | None) -> str:
    """Return a moment of the API as pages name it."""
    return datetime.fromisoformat(value).isoformat() if value else NOTHING


def last_refresh(table: Mapping[str, Any]) -> str:
    """Return what pages say of the last refresh of a table."""
    running = table["last_outcome"] == "running"
    return "running" if running else moment(table["last_refreshed_at"])


def overview(api: Api) -> Facts:
    """Return what the first page has to show."""
    tables, lags = api("status"), api("lags")
    counts = Counter(item["condition"] for item in api("conditions"))
    lag_of = {lag["name"]: lag["lag_seconds"] for lag in lags}
    unled = api("scheduler_diagnostics")["leader"] is None
    said = {
        ("", "health"): health(counts, len(tables), unled=unled)[1],
        ("", "worst-lag"): seconds(max(lag or 0.0 for lag in lag_of.values())),
        ("", "lacking"): number(sum(lag["standing"] == "behind" for lag in lags)),
        ("", "refreshes"): number(sum(n["refreshes"] for n in api("refreshes_per_minute"))),
        ("", "all-tables"): number(len(tables)),
    }
    said |= {(word, "tables"): number(counts[word]) for word in WORDS}
    for table in tables:
        stands = table["state"] in ("paused", "suspended", "damaged")
        said |= _of(table["name"], {
            "lag": seconds(lag_of[table["name"]]),
            "rows": number(table["rows"]),
            "last": last_refresh(table),
            "mode": table["last_mode"] or NOTHING,
            "took": seconds(None if table["last_outcome"] == "running" else table["seconds"]),
            "schedule": table["schedule"],
            "next": NOTHING if stands else moment(table["next_due_at"]),
        })  # fmt: skip
    return said


def graph(api: Api) -> Facts:
    """Return what the graph has to show."""
    nodes, known = api("graph")["nodes"], {item["name"]: item for item in api("conditions")}
    said = {("", "shown"): number(len(nodes)), ("", "total"): number(len(nodes))}
    for node in nodes:
        note = "source"
        if found := known.get(node["name"]):
            lag = f" · lag {seconds(found['lag_seconds'])}" if found["lag_seconds"] else ""
            note = found["condition"] + lag
        said[node["name"], "note"] = note
    return said


def table(api: Api, name: str) -> Facts:
    """Return what the page of a table has to show."""
    status = _named(api("status"), name)
    definition, lag = _named(api("stream_tables"), name), _named(api("lags"), name)
    said = {
        ("", "rows"): number(status["rows"]),
        ("", "version"): number(status["version"]),
        ("", "lag"): seconds(lag["lag_seconds"]),
        ("", "lag-now"): seconds(lag["lag_seconds"]),
        ("", "last"): last_refresh(status),
        ("", "schedule"): status["schedule"],
        ("", "next"): moment(status["next_due_at"]),
        ("", "columns"): number(len(definition["columns"])),
    }
    said |= {(key, "option"): str(value) for key, value in definition["options"].items()}
    for record in api(f"history/{quote(name)}?limit=25"):
        said |= _of(record["id"], {
            "changed": number(record["rows_in"]),
            "inserted": number(record["rows_inserted"]),
            "deleted": number(record["rows_deleted"]),
            "took": seconds(record["seconds"]),
        })  # fmt: skip
    return said


def sources(api: Api) -> Facts:
    """Return what the page of sources has to show."""
    captures = {item["source"]: item for item in api("wal_source_status")}
    edges, lags = api("graph")["edges"], api("lags")
    late = {lag["name"] for lag in lags if lag["standing"] == "behind"}
    found, buffers = api("sources"), api("scheduler_diagnostics")["change_buffers"]
    said = {("", "sources"): number(len(found))}
    for source in found:
        name, readers = source["name"], {reader for read, reader in edges if read == source["name"]}
        facts = {
            "pending": NOTHING, "lag": NOTHING, "arrival": NOTHING, "drained": NOTHING,
            "to-apply": NOTHING, "columns": number(len(source["columns"])), "readers": number(len(readers)),
            "behind": number(len(readers & late)),
        }  # fmt: skip
        if buffer := buffers.get(name):
            growth = f" ({buffer['growth']:+,})" if buffer["growth"] else ""
            facts["to-apply"] = number(buffer["rows"]) + growth
        if capture := captures.get(name):
            facts |= _captured(capture)
        said |= _of(name, facts)
    return said


def _captured(capture: Mapping[str, Any]) -> dict[str, str]:
    waits, arrival = capture["pending_changes"], capture["true_lag"]
    waits = capture["wal_decoder_pending_records"] if waits is None else waits
    said = {
        "pending": ("about " if capture["pending_estimated"] else "") + number(waits),
        "lag": seconds(capture["lag_seconds"]),
        "arrival": NOTHING,
        "drained": moment(capture["drained_at"]),
        "steps": number(len(capture["history"])),
    }
    if arrival:
        said["arrival"] = f"{seconds(arrival['p50'])} / {seconds(arrival['p95'])}"
    if capture["lag_bytes"] is not None:
        said["held"] = number(capture["lag_bytes"])
    return said


def workers(api: Api) -> Facts:
    """Return what the page of workers has to show."""
    summary, scheduler = api("cluster_worker_summary"), api("scheduler_diagnostics")
    plans = api("metrics_summary")["plan_cache"]
    said = {
        ("", "leader"): scheduler["leader"] or "nobody: nothing is refreshed by itself",
        ("", "term"): number(scheduler["term"]),
        ("", "slots"): str(summary["slots"]),
        ("", "running"): str(summary["running"]),
        ("", "queued"): str(summary["parallel_queue_depth"]),
        ("", "idle"): seconds(summary["worker_idle_seconds_total"]),
        ("", "pool"): str(summary["worker_pool_size"]),
        ("", "ticks"): number(scheduler["ticks"]),
        ("", "generation"): number(scheduler["generation"]),
        ("", "compiled"): number(plans["parse_count"]),
    }
    for row in api("worker_allocation_status"):
        said |= _of(row["namespace"], {
            "used": number(row["used"]),
            "quota": number(row["quota"]),
            "waiting": number(row["queued"]),
        })  # fmt: skip
    for level in api("cache_levels"):
        counts = plans[level["level"]]
        said |= _of(level["level"], {
            "level": level["level"],
            "entries": number(level["entries"]),
            "hits": number(counts["hits"]),
            "misses": number(counts["misses"]),
        })  # fmt: skip
    return said


def events(api: Api) -> Facts:
    """Return what the page of events has to show."""
    return {("", "events"): number(len(api("events?limit=200")))}


def sql_support(api: Api) -> Facts:
    """Return what the page of SQL support has to show."""
    return {("", "aggregates"): number(len(api("sql_support")["aggregates"]))}


def _named(items: Iterable[Mapping[str, Any]], name: str) -> Mapping[str, Any]:
    return next(item for item in items if item["name"] == name)


def _of(subject: str, facts: Mapping[str, str]) -> dict[tuple[str, str], str]:
    return {(subject, name): text for name, text in facts.items()}
