"""When stream tables are refreshed, in which order, and by which hands."""
