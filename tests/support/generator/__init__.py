"""Random queries, one file per family of SQL; `tests.support.queries` puts them together."""
