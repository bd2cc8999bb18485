"""Templates, and how numbers, times and durations are written on every page."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from urllib.parse import quote

from fastapi import Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

PAGES = (
    ("/", "Overview"),
    ("/graph", "Graph"),
    ("/sources", "Sources"),
    ("/workers", "Workers"),
    ("/events", "Events"),
    ("/sql", "SQL"),
)


def number(value: float | None) -> str:
    """Return a number with its thousands apart.

    >>> number(1234567), number(None)
    ('1,234,567', '–')
    """
    return "–" if value is None else f"{value:,}"


def seconds(value: float | None) -> str:
    """Return a duration in the unit that reads best.

    >>> seconds(0.034), seconds(2.5), seconds(75), seconds(7_260), seconds(200_000)
    ('34 ms', '2.5 s', '1 min 15 s', '2 h 1 min', '2 d 7 h')
    """
    if value is None:
        return "–"
    if value == 0:
        return "0 s"
    # What would be rounded up to a full unit is said in that unit.
    if value < 0.9995:
        return f"{value * 1000:.0f} ms"
    if value < 59.95:
        return f"{value:.1f} s"
    whole = int(value + 0.05)
    for unit, size, small, part in (("min", 60, "s", 1), ("h", 3600, "min", 60)):
        if whole < size * (60 if unit == "min" else 24):
            rest = whole % size // part
            return f"{whole // size} {unit}" + (f" {rest} {small}" if rest else "")
    return f"{whole // 86_400} d {whole % 86_400 // 3600} h"


def moment(value: datetime | None, *, style: str = "time") -> Markup:
    """Return a moment in UTC, which a script writes in the reader's zone, or as a distance."""
    if value is None:
        return Markup("–")
    utc = value.astimezone(UTC)
    text = f"{utc:%Y-%m-%d %H:%M:%S} UTC"
    return Markup('<time datetime="{}" data-style="{}" title="{}">{}</time>').format(
        utc.isoformat(), style, text, text
    )


def table_address(name: str) -> str:
    """Return the address of a table's page."""
    return f"/tables/{quote(name, safe='')}"


@cache
def _templates() -> Environment:
    # Strict: a template that names what a page does not give is a bug, and tests see it.
    made = Environment(
        loader=PackageLoader("streamtables.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "number": number,
        "seconds": seconds,
        "moment": moment,
        "table_address": table_address,
        "no_wrap": lambda text: Markup(str(escape(text)).replace(" ", "&nbsp;")),
    }
    made.globals |= {"pages": PAGES, "static_version": _static_version()}
    return made


def _static_version() -> str:
    """Return what changes with the style sheet and the script, so that browsers may keep them."""
    import hashlib

    folder = files("streamtables.web") / "static"
    found = hashlib.sha256()
    for name in ("app.css", "app.js"):
        found.update((folder / name).read_bytes())
    return found.hexdigest()[:12]


def render(template: str, request: Request, **values: object) -> str:
    """Return a page as text."""
    state = request.app.state
    shared = {
        "path": request.url.path,
        "unlocked": state.shared.access.is_open(request),
        "warehouse": state.warehouse,
    }
    return _templates().get_template(template).render(shared | values)
