"""PostgreSQL tables as sources: what is captured, and how it becomes changes of a Delta table."""
