"""A table cut into parts that can be read at the same time."""

from __future__ import annotations


def ctid_parts(pages: int, wanted: int) -> tuple[str, ...]:
    """Return predicates that together take each row once, over about as many pages each.

    The last part is open: rows may stand on pages that came after the table was measured.  Of a
    partitioned table each part takes those pages of every partition.

    >>> ctid_parts(10, 2)
    ("ctid < '(5,0)'::tid", "ctid >= '(5,0)'::tid")
    """
    count = max(1, min(wanted, pages))
    cuts = [pages * number // count for number in range(1, count)]
    # Rows of a page count from 1, so that no row stands at a cut.
    above = ["", *(f"ctid >= '({cut},0)'::tid" for cut in cuts)]
    below = [*(f"ctid < '({cut},0)'::tid" for cut in cuts), ""]
    both = (" AND ".join(filter(None, pair)) for pair in zip(above, below, strict=True))
    return tuple(part or "TRUE" for part in both)
