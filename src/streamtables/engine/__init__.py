"""The only PySpark and deltalake code: sessions, logs, change feeds, and the two hands that write.

Importing this package starts nothing: both libraries are imported where they are first used.
"""
