"""The command line: parse, call the API, show."""

from streamtables.cli.app import main

__all__ = ["main"]
