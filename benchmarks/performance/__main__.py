"""Write docs/performance.md and its pictures from the kept results."""

from __future__ import annotations

from benchmarks.performance.page import write

if __name__ == "__main__":
    for path in write():
        print(path)
