"""The packages that pages need, checked before they are imported."""

from __future__ import annotations

from importlib.util import find_spec

from streamtables.errors import EnvironmentFaultError

NEEDED = ("fastapi", "jinja2", "pygments", "uvicorn")


def require_web_packages() -> None:
    """Refuse with the way out where a package is missing."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise EnvironmentFaultError(
            "the web pages need packages that are not installed",
            detail=f"Missing: {', '.join(missing)}.",
            hint="Run: pip install 'streamtables[web]'",
        )
