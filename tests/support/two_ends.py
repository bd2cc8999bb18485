"""A pytest plugin by which two runs share the same tests: one begins at the front, one at the back.

    -p tests.support.two_ends --claims FOLDER [--backwards]

Each claims what it runs next by a file in the folder, so nothing runs twice and nothing is left
out, whichever run is faster and whenever the second one starts.  Tests of one file that share a
fixture of the file stay together.

Invariant: each run claims from its own end without gaps.  So what a run finds claimed is followed,
in its order, only by what is claimed too, and it leaves all of that to the other.
"""

from __future__ import annotations

import os
from hashlib import sha256
from itertools import groupby
from pathlib import Path

import pytest

_ENDED = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--claims", type=Path, required=True, help="where the runs write claims")
    parser.addoption("--backwards", action="store_true", help="begin with the last test")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Turn the order around for the run that begins at the back."""
    if config.getoption("--backwards"):
        parts = [list(together) for _, together in groupby(items, key=_claim)]
        items[:] = [item for part in reversed(parts) for item in part]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """Leave a test alone that the other run has claimed, and all that follow it."""
    stash = item.session.stash
    if not stash.get(_ENDED, False):
        stash[_ENDED] = not _is_ours(item)
    return True if stash[_ENDED] else None


def _is_ours(item: pytest.Item) -> bool:
    folder: Path = item.config.getoption("--claims")
    # A name of a test can be longer than that of a file may be.
    claim = folder / sha256(_claim(item).encode()).hexdigest()
    me = str(os.getpid())
    try:
        with claim.open("x", encoding="utf-8") as opened:
            opened.write(me)
    except FileExistsError:
        return claim.read_text(encoding="utf-8") == me
    return True


def _claim(item: pytest.Item) -> str:
    """Return the name of what is claimed at once: a file whose tests share something, or a test."""
    fixtures = getattr(item, "_fixtureinfo", None)
    found = fixtures.name2fixturedefs.values() if fixtures else ()
    shared = any(one.scope in ("module", "class") for defined in found for one in defined)
    return item.location[0] if shared else item.nodeid
