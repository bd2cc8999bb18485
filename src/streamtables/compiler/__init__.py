"""The compiler: SQL text in, delta SQL out.  No Spark, no files, no clock, no randomness."""

from streamtables.compiler.plan import Plan, Refusal, compile_query, compile_sql, unread_query

__all__ = ["Plan", "Refusal", "compile_query", "compile_sql", "unread_query"]
