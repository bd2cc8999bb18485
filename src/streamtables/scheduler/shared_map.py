"""An immutable map whose edited copies share all but the part that was edited.

A copy of a plain dict costs in proportion to the whole map, even for one new entry.  Here the
entries lie on shelves by their hash; an edit copies the shelves that it touches and the short list
of all shelves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

# Forty entries on a shelf at 10,000: copying one, and the list of shelves, takes about as long.
_SHELVES = 256


class SharedMap(Generic[K, V]):
    """A map that never changes; `edited` gives the next one."""

    __slots__ = ("_count", "_shelves")

    def __init__(self, entries: Mapping[K, V] | None = None) -> None:
        shelves: list[dict[K, V]] = [{} for _ in range(_SHELVES)]
        for key, value in (entries or {}).items():
            shelves[hash(key) % _SHELVES][key] = value
        self._shelves = shelves
        self._count = len(entries or {})

    def __getitem__(self, key: K) -> V:
        return self._shelves[hash(key) % _SHELVES][key]

    def get(self, key: K) -> V | None:
        """Return the value, or None where there is no entry."""
        return self._shelves[hash(key) % _SHELVES].get(key)

    def __contains__(self, key: K) -> bool:
        return key in self._shelves[hash(key) % _SHELVES]

    def __len__(self) -> int:
        return self._count

    def items(self) -> Iterator[tuple[K, V]]:
        """Yield all entries, in no order that means anything."""
        for shelf in self._shelves:
            yield from shelf.items()

    def edited(self, changes: Mapping[K, V | None]) -> SharedMap[K, V]:
        """Return a map with the entries of `changes`; None takes an entry away."""
        shelves, count = list(self._shelves), self._count
        own: set[int] = set()
        for key, value in changes.items():
            place = hash(key) % _SHELVES
            if place not in own:
                own.add(place)
                shelves[place] = dict(shelves[place])
            count += (value is not None) - (key in shelves[place])
            _put(shelves[place], key, value)
        edited: SharedMap[K, V] = SharedMap.__new__(SharedMap)
        edited._shelves, edited._count = shelves, count
        return edited


def _put(shelf: dict[K, V], key: K, value: V | None) -> None:
    if value is None:
        shelf.pop(key, None)
    else:
        shelf[key] = value
