"""A few seconds of every target, and all that ever went wrong; `python -m tests.fuzz` goes on for longer."""

from __future__ import annotations

import tracemalloc
from time import monotonic

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fuzz.corpus import FOLDER, kept
from tests.fuzz.targets import TARGETS

LONGEST_SECONDS = 20.0
MOST_BYTES = 64 * 1024 * 1024
KEPT = [(name, file, data) for name in TARGETS for file, data in kept(name)]


@pytest.mark.parametrize("name", TARGETS)
def test_every_input_ends_in_an_answer_or_an_error_of_ours(name: str):
    target = TARGETS[name]

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(target.inputs)
    def tried(data: bytes) -> None:
        began = monotonic()
        target.accepts(data)
        assert monotonic() - began < LONGEST_SECONDS

    tried()


@pytest.mark.parametrize(("name", "data"), [pytest.param(n, d, id=f"{n}-{f}") for n, f, d in KEPT])
def test_what_went_wrong_once_goes_well(name: str, data: bytes):
    tracemalloc.start()
    try:
        TARGETS[name].accepts(data)
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
    finally:
        tracemalloc.stop()


def test_every_kept_input_belongs_to_a_target():
    assert {path.name for path in FOLDER.iterdir()} <= set(TARGETS)
    assert len(KEPT) >= 20


def test_a_fault_that_is_not_ours_is_not_passed_over():
    from tests.fuzz.targets import Target

    broken = Target("broken", TARGETS["queries"].inputs, lambda data: data.decode("ascii"))
    assert broken.accepts(b"a")
    with pytest.raises(UnicodeDecodeError):
        broken.accepts(b"\xff")
