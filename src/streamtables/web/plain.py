"""Values of the API as data that JSON can hold; the same as `--json` prints."""

from __future__ import annotations

from streamtables.cli.plain import Json, to_json

__all__ = ["Json", "to_json"]
