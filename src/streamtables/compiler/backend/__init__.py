"""Algebra → SQL text, for Spark and for DuckDB."""
