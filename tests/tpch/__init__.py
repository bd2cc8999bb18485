"""TPC-H: the 22 queries kept incrementally while all eight tables change."""
