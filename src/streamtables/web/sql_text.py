"""SQL in colours: spans with classes, which the style sheet paints in light and dark."""

from __future__ import annotations

from functools import lru_cache

from markupsafe import Markup
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers.sql import SqlLexer


@lru_cache(maxsize=256)
def coloured_sql(sql: str) -> Markup:
    """Return SQL as HTML; Pygments escapes the text."""
    html: str = highlight(sql, SqlLexer(), HtmlFormatter(nowrap=True))
    return Markup(html)
