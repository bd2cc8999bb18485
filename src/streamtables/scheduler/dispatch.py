"""The tables of one round on several hands, each after all that it reads.

A node starts when every input of it that takes part is done, well or not: what a failed input means
is for the work to say.  One hand alone works in the caller's own thread.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from threading import Event
from typing import Generic, Protocol, TypeVar

from streamtables.errors import InternalError
from streamtables.positions import InputId

R = TypeVar("R")
T = TypeVar("T")

Choose = Callable[[Sequence[InputId], Collection[InputId]], InputId | None]
"""Takes the ready nodes in order and those that run, and picks one that is ready.

None lets all of them wait until something that runs has ended.
"""


class Submit(Protocol):
    """Runs a task somewhere else."""

    def __call__(self, task: Callable[[], T], /) -> Future[T]: ...


def first_ready(ready: Sequence[InputId], running: Collection[InputId]) -> InputId:
    """Pick the node that comes first in the round."""
    return ready[0]


@dataclass(frozen=True)
class Hands:
    """What runs the nodes: how many at a time, where, and which of the ready ones next."""

    slots: int = 1
    submit: Submit | None = None
    """Needed for more than one slot."""
    choose: Choose = first_ready
    may_start: Callable[[InputId], bool] = lambda _: True
    """Asked right before a node starts; one that may not is left out, with all that reads it."""

    def __post_init__(self) -> None:
        if self.slots < 1 or (self.slots > 1 and self.submit is None):
            raise InternalError(f"{self.slots} slots without anything to run them on")


def run_graph(
    nodes: Sequence[InputId],
    inputs: Mapping[InputId, Collection[InputId]],
    *,
    work: Callable[[InputId], R],
    hands: Hands,
    stop: Event | None = None,
) -> dict[InputId, R]:
    """Do `work` on every node, and return what it gave, in the order of `nodes`.

    `nodes` lists each after its inputs; inputs that are not listed count as done.  Once `stop` is
    set no node starts.  Those that have not started are missing in the answer, and so are those
    that may not start, with all that read them, and those that `choose` leaves while nothing runs.
    What `work` raises is raised here, once nothing runs.
    """
    needed = _needed(nodes, inputs)
    submit = hands.submit if hands.slots > 1 and hands.submit is not None else _at_once
    done = _Dispatch(nodes, needed, work, submit).run(hands, stop or Event())
    return {node: done[node] for node in nodes if node in done}


def _needed(
    nodes: Sequence[InputId], inputs: Mapping[InputId, Collection[InputId]]
) -> dict[InputId, set[InputId]]:
    """Return the inputs of each node that take part; each must stand before it."""
    place = {node: at for at, node in enumerate(nodes)}
    needed = {node: {name for name in inputs.get(node, ()) if name in place} for node in nodes}
    for node, names in needed.items():
        if late := [name for name in names if place[name] >= place[node]]:
            raise InternalError(f'"{node}" is to run before "{late[0]}", which it reads')
    if len(place) < len(nodes):
        raise InternalError("a node is to run twice in one round")
    return needed


def _at_once(task: Callable[[], T]) -> Future[T]:
    """Run a task in the thread of the caller."""
    done: Future[T] = Future()
    done.set_result(task())
    return done


class _Dispatch(Generic[R]):
    """One run: which nodes are ready, running and done; used once, by one thread."""

    def __init__(
        self,
        nodes: Sequence[InputId],
        needed: Mapping[InputId, set[InputId]],
        work: Callable[[InputId], R],
        submit: Submit,
    ) -> None:
        self._place = {node: at for at, node in enumerate(nodes)}
        self._open = {node: set(names) for node, names in needed.items()}
        self._readers: dict[InputId, list[InputId]] = {node: [] for node in nodes}
        for node, names in needed.items():
            for name in names:
                self._readers[name].append(node)
        self._ready = [node for node in nodes if not needed[node]]
        self._work, self._submit = work, submit
        self._running: dict[InputId, Future[R]] = {}
        self._done: dict[InputId, R] = {}

    def run(self, hands: Hands, stop: Event) -> dict[InputId, R]:
        try:
            while True:
                self._start_some(hands, stop)
                if not self._running:
                    return self._done
                self._take_ended(wait(self._running.values(), return_when=FIRST_COMPLETED).done)
        finally:
            # Where work raised, the others must not outlive the round that they belong to.
            wait(self._running.values())

    def _start_some(self, hands: Hands, stop: Event) -> None:
        while self._ready and len(self._running) < hands.slots and not stop.is_set():
            node = hands.choose(tuple(self._ready), tuple(self._running))
            if node is None:
                return
            if node not in self._ready:
                raise InternalError(f'"{node}" was chosen, which is not ready')
            self._ready.remove(node)
            # What reads a node that is left out never gets ready.
            if hands.may_start(node):
                self._start(node)

    def _start(self, node: InputId) -> None:
        self._running[node] = self._submit(lambda: self._work(node))

    def _take_ended(self, ended: Iterable[Future[R]]) -> None:
        taken = set(ended)
        for node in [node for node, future in self._running.items() if future in taken]:
            self._done[node] = self._running.pop(node).result()
            for reader in self._readers[node]:
                self._open[reader].discard(node)
                if not self._open[reader]:
                    insort(self._ready, reader, key=self._place.__getitem__)
