"""The version that dbt shows: that of the package."""

from streamtables import __version__ as version

__all__ = ["version"]
