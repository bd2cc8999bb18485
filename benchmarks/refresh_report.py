"""What the cells of a run say: was the better way chosen, and what did choosing cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, log

from benchmarks.bars import Bar
from benchmarks.pages import Results

RIGHT = 1.2
"""A choice that takes up to this much longer than the better side was a right one."""


@dataclass(frozen=True)
class Outcome:
    """One cell: what each side took, and which way was chosen."""

    view: str
    rate: float
    full: float
    differential: float
    auto: float

    @property
    def best(self) -> float:
        """What the better of the two fixed sides took."""
        return min(self.full, self.differential)

    @property
    def right(self) -> bool:
        """Whether what was chosen took about as long as the better one."""
        return self.auto <= RIGHT * self.best


def outcomes(results: Results) -> list[Outcome]:
    """Return the cells that were measured on every side."""
    return [
        Outcome(cell["view"], cell["rate"], **cell["median_seconds"])
        for cell in results["cells"]
        if len(cell["median_seconds"]) == 3
    ]


def bars(results: Results) -> Iterator[Bar]:
    """Yield what must be reached."""
    found = outcomes(results)
    if not found:
        return
    total = sum(item.auto for item in found) / sum(item.best for item in found)
    within = sum(item.auto <= 1.25 * item.best for item in found) / len(found)
    right = sum(item.right for item in found) / len(found)
    yield _at_most("AUTO against the better of both, all cells together", total, 1.1, 1.05)
    yield _share("cells in which AUTO takes at most 1.25× of the better", within, 0.95, 1.0)
    yield _share("cells in which AUTO takes about as long as the better", right, 0.9, 0.95)
    some = [item for item in found if item.rate == 0.001]
    if some:
        mean = exp(sum(log(item.full / item.differential) for item in some) / len(some))
        what = "full ÷ differential, 0.1 % changed, geometric mean"
        if results["scale"] < 1:
            # Bars are for tables that are large enough for Spark's fixed cost not to be all.
            yield Bar(what, f"{mean:.2f}×", "–", "–", "shown")
            return
        bar, goal = (4.0, 8.0) if results["scale"] < 10 else (10.0, 20.0)
        verdict = "goal met" if mean >= goal else "met" if mean >= bar else "missed"
        yield Bar(what, f"{mean:.2f}×", f"≥ {bar:g}×", f"≥ {goal:g}×", verdict)


def lines(results: Results) -> list[str]:
    """Return the page's table: views down, rates across."""
    found = outcomes(results)
    rates = sorted({item.rate for item in found})
    head = ["view", *(rate_text(rate) for rate in rates)]
    rows = [
        "| " + " | ".join(head) + " |",
        "|" + "---|" * len(head),
    ]
    for view in dict.fromkeys(item.view for item in found):
        cells = {item.rate: item for item in found if item.view == view}
        rows.append(f"| {view} | " + " | ".join(_cell(cells.get(rate)) for rate in rates) + " |")
    told = (
        f"Scale {results['scale']:g}, median of {results['rounds']}: full / differential / AUTO, s."
    )
    return [told, "", *rows, "", *(_bar_line(bar) for bar in bars(results))]


def _cell(item: Outcome | None) -> str:
    return "–" if item is None else f"{item.full:.2f} / {item.differential:.2f} / {item.auto:.2f}"


def rate_text(rate: float) -> str:
    """Return a rate of change in words."""
    return "1 row" if rate == 0 else f"{100 * rate:g} %"


def _bar_line(bar: Bar) -> str:
    return f"- {bar.what}: **{bar.found}** (bar {bar.bar}, goal {bar.goal}): {bar.verdict}"


def _at_most(what: str, found: float, bar: float, goal: float) -> Bar:
    verdict = "goal met" if found <= goal else "met" if found <= bar else "missed"
    return Bar(what, f"{found:.3f}×", f"≤ {bar}×", f"≤ {goal}×", verdict)


def _share(what: str, found: float, bar: float, goal: float) -> Bar:
    verdict = "goal met" if found >= goal else "met" if found >= bar else "missed"
    asked, hoped = (f"≥ {100 * share:.0f} %" for share in (bar, goal))
    return Bar(what, f"{100 * found:.0f} %", asked, hoped, verdict)
