"""The picture of a plan inside a page: without its own style, which the page's policy forbids."""

from __future__ import annotations

import re

from markupsafe import Markup

_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)


def plan_picture(svg: str) -> Markup:
    """Return the picture that `explain` drew; the style sheet has the colours of its classes."""
    return Markup(_STYLE.sub("", svg).replace("<svg ", '<svg class="plan" ', 1))
