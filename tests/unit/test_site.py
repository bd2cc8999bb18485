"""The site of the docs: every page is in it, every link leads somewhere, nothing comes from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOADED = re.compile(r'<(?:script|link|img)[^>]+(?:src|href)="(https?:)?//[^"]+"')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make site` does: a page that is missing or a broken link is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_of_the_docs_is_on_the_site(site: Path) -> None:
    pages = [
        path.relative_to(ROOT / "docs").with_suffix("")
        for path in (ROOT / "docs").rglob("*.md")
        if "design" not in path.parts and path.name != "index.md"
    ]
    assert pages
    assert [str(page) for page in pages if not (site / page / "index.html").is_file()] == []


def test_a_reader_without_a_network_sees_all_of_it(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert pages
    assert [page.name for page in pages if LOADED.search(page.read_text(encoding="utf-8"))] == []
