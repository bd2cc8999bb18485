"""The demonstration: a small shop, five stream tables, three rounds of changes."""

from __future__ import annotations

from streamtables.demo.story import run

__all__ = ["run"]
