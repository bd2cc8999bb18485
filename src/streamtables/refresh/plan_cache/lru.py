"""A bounded map that lets go of what was not used for longest; safe between threads."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Lru(Generic[K, V]):
    """Holds the very objects that it was given, and gives the same ones back."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._held: OrderedDict[K, V] = OrderedDict()
        self._lock = Lock()

    def get(self, key: K) -> V | None:
        """Return what is held under a key, which is now the one used last."""
        with self._lock:
            found = self._held.get(key)
            if found is not None:
                self._held.move_to_end(key)
            return found

    def peek(self, key: K) -> V | None:
        """Return the same, without counting it as used."""
        with self._lock:
            return self._held.get(key)

    def put(self, key: K, value: V) -> int:
        """Hold a value as the one used last; return how many others had to go."""
        with self._lock:
            self._held[key] = value
            self._held.move_to_end(key)
            too_many = max(0, len(self._held) - self._capacity)
            for _ in range(too_many):
                self._held.popitem(last=False)
            return too_many

    def remove(self, key: K) -> None:
        """Let one go, if it is held."""
        with self._lock:
            self._held.pop(key, None)

    def clear(self) -> int:
        """Let everything go; return how many there were."""
        with self._lock:
            count = len(self._held)
            self._held.clear()
            return count

    def __len__(self) -> int:
        return len(self._held)
