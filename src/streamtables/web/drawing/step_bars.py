"""The seconds of a refresh as one bar, a colour for each step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from markupsafe import Markup, escape

from streamtables.answers import Step

WIDTH, HEIGHT = 220.0, 12
COLOURS = 8
"""How many colours the style sheet has for steps."""


def step_classes(names: Iterable[str]) -> dict[str, str]:
    """Return the class of each step, in the order in which steps are first seen."""
    return {name: f"step-{index % COLOURS}" for index, name in enumerate(dict.fromkeys(names))}


def step_bar(
    steps: Sequence[Step], seconds: float, longest: float, classes: dict[str, str]
) -> Markup:
    """Return a bar whose whole width is the longest refresh; the time outside steps is pale."""
    scale = WIDTH / longest if longest > 0 else 0.0
    x, parts = 0.0, []
    for step in steps:
        width = step.seconds * scale
        title = f"{step.name} {step.seconds:.3f} s"
        parts.append(_part(x, width, classes[step.name], title))
        x += width
    rest = seconds - sum(step.seconds for step in steps)
    if rest > 0:
        parts.append(_part(x, rest * scale, "step-rest", f"other {rest:.3f} s"))
    label = ", ".join(f"{step.name} {step.seconds:.3f} s" for step in steps) or "no steps"
    return Markup(
        '<svg class="steps" viewBox="0 0 {} {}" width="{}" height="{}" '
        'role="img" aria-label="{}">{}</svg>'
    ).format(f"{WIDTH:g}", HEIGHT, f"{WIDTH:g}", HEIGHT, label, Markup("".join(parts)))


def _part(x: float, width: float, kind: str, title: str) -> str:
    return (
        f'<rect class="{kind}" x="{x:.2f}" y="0" width="{max(width, 0.4):.2f}" '
        f'height="{HEIGHT}"><title>{escape(title)}</title></rect>'
    )
