"""The bounded map of a process: what goes, what stays, and that looking changes nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from streamtables.refresh.plan_cache.lru import Lru


def test_what_was_used_longest_ago_goes():
    held: Lru[str, object] = Lru(2)
    assert [held.put(key, key) for key in "ab"] == [0, 0]
    held.get("a")
    assert held.put("c", "c") == 1
    assert (held.peek("a"), held.peek("b"), held.peek("c")) == ("a", None, "c")


def test_a_peek_does_not_count_as_use():
    held: Lru[str, object] = Lru(2)
    held.put("a", "a")
    held.put("b", "b")
    assert held.peek("a") == "a"
    held.put("c", "c")
    assert held.peek("a") is None


def test_a_hit_gives_the_very_object():
    held: Lru[str, object] = Lru(2)
    value = object()
    held.put("a", value)
    assert held.get("a") is value
    assert held.peek("a") is value


def test_clearing_and_removing():
    held: Lru[str, object] = Lru(3)
    for key in "abc":
        held.put(key, key)
    held.remove("a")
    held.remove("nobody")
    assert (len(held), held.clear(), len(held)) == (2, 2, 0)


@given(st.integers(1, 4), st.lists(st.tuples(st.sampled_from("gpk"), st.integers(0, 6))))
def test_it_is_a_list_in_order_of_use(capacity: int, steps: list[tuple[str, int]]):
    held: Lru[int, int] = Lru(capacity)
    model: list[int] = []
    for step, key in steps:
        if step == "p":
            model = [other for other in model if other != key] + [key]
            assert held.put(key, key) == max(0, len(model) - capacity)
            model = model[-capacity:]
        elif step == "g" and key in model:
            model = [other for other in model if other != key] + [key]
            assert held.get(key) == key
        else:
            assert held.peek(key) == (key if key in model else None)
    assert len(held) == len(model)


def test_threads_share_it():
    held: Lru[int, int] = Lru(16)

    def work(start: int) -> int:
        return sum(held.put((start + n) % 64, n) for n in range(2_000))

    with ThreadPoolExecutor(8) as pool:
        gone = sum(pool.map(work, range(8)))
    assert len(held) == 16
    assert gone >= 48
