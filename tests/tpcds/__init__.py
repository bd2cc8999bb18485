"""TPC-DS: the 99 queries kept incrementally while all 24 tables change."""
