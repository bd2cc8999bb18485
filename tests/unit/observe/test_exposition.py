"""The text of a scrape says exactly what was counted."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families

from streamtables.observe import declared as metric
from streamtables.observe.counts import Counts
from streamtables.observe.exposition import exposition
from tests.unit.observe.scraped import scraped


def test_counters_gauges_and_their_labels_are_read_back_as_they_were():
    counts = Counts()
    counts.add(metric.REFRESHES, "sales.revenue", "full")
    counts.add(metric.REFRESHES, "sales.revenue", "full", by=2)
    counts.set(metric.WAL_PENDING, 'a "quoted" \\ name\nof two lines', to=12_345_678)
    found = scraped(exposition(counts))
    assert found == {
        "refresh_total{mode=full,stream_table=sales.revenue}": 3,
        'wal_decoder_pending_records{server=a "quoted" \\ name\nof two lines}': 12_345_678,
    }


def test_a_histogram_counts_up_to_each_bound():
    counts = Counts()
    for seconds in (0.01, 0.02, 7.0, 9_999.0):
        counts.observe(metric.REFRESH_SECONDS, "full", value=seconds)
    found = scraped(exposition(counts))
    assert found["refresh_seconds_bucket{le=0.01,mode=full}"] == 1
    assert found["refresh_seconds_bucket{le=0.05,mode=full}"] == 2
    assert found["refresh_seconds_bucket{le=10.0,mode=full}"] == 3
    assert found["refresh_seconds_bucket{le=1800.0,mode=full}"] == 3
    assert found["refresh_seconds_bucket{le=+Inf,mode=full}"] == 4
    assert found["refresh_seconds_count{mode=full}"] == 4
    assert found["refresh_seconds_sum{mode=full}"] == 10_006.03


def test_what_is_sampled_now_wins_over_what_was_counted():
    counts = Counts()
    counts.set(metric.SUSPENDED, to=1)
    assert scraped(exposition(counts, [(metric.SUSPENDED, (), 5.0)])) == {"suspended_tables": 5}


def test_types_helps_and_the_process_itself_are_told():
    counts = Counts()
    counts.add(metric.CATALOG_QUERIES)
    families = {f.name: f for f in text_string_to_metric_families(exposition(counts))}
    told = families["streamtables_catalog_queries"]
    assert (told.type, told.documentation) == ("counter", metric.CATALOG_QUERIES.help)
    assert families["process_start_time_seconds"].samples[0].value > 0


def test_what_was_dropped_is_forgotten():
    counts = Counts()
    counts.add(metric.REFRESHES, "gone", "full")
    counts.add(metric.REFRESHES, "here", "full")
    counts.set(metric.WAL_FALLBACK, "orders", "blocked", to=1)
    counts.keep("stream_table", {"here"})
    assert scraped(exposition(counts)) == {
        "refresh_total{mode=full,stream_table=here}": 1,
        "wal_fallback{reason=blocked,source=orders}": 1,
    }
    assert counts.total(metric.REFRESHES, "mode") == {"full": 1}
    assert counts.value(metric.REFRESHES, "gone", "full") == 0
