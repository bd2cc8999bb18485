"""A scrape as numbers, read by the client library's own parser."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families


def scraped(text: str) -> dict[str, float]:
    """Return every sample of ours, under its name and its labels in the order of the alphabet."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name.startswith("streamtables_"):
                labels = ",".join(f"{k}={v}" for k, v in sorted(sample.labels.items()))
                name = sample.name.removeprefix("streamtables_")
                found[f"{name}{{{labels}}}" if labels else name] = sample.value
    return found
