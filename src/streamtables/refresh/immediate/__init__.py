"""Writes that tables follow at once.

batch.py      what a person gave, as signed rows of the source
locking.py    which locks a write needs, and waiting for them
prepared.py   what the write does to one table, computed before anything is committed
commits.py    the commits: the source first, then each table
write.py      the whole of one write
"""

from __future__ import annotations

IMMEDIATE = "immediate"
"""The mode of a table that has every write before the write returns."""
