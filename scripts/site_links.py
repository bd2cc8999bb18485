"""Links of the pages that lead out of docs/, for mkdocs: they name a file of the repository.

On the site there is no such file, so the name stays and the link goes.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

_LINK = re.compile(r"!?\[([^\]]+)\]\(([^)\s]+)\)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Return a page with links that lead to pages, or elsewhere by a full address."""
    folder = posixpath.dirname(page.file.src_uri)
    return _LINK.sub(lambda found: _kept(found, folder), markdown)


def _kept(found: re.Match[str], folder: str) -> str:
    name, target = found.groups()
    if "://" in target or target.startswith("#"):
        return found[0]
    leads_out = posixpath.normpath(posixpath.join(folder, target)).startswith("..")
    return name if leads_out or target.endswith("/decisions") else found[0]
