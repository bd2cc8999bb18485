"""Who changed what: each change that went well is an event of the kind "audit".

The actor is the person whose account runs the process, unless whoever asks on behalf of others (the
web pages) says who it is.  Refreshes have records of their own; those of schedules have no actor.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from streamtables.catalog import Catalog
from streamtables.catalog.events import AUDIT
from streamtables.catalog.scheduler_models import Event

if TYPE_CHECKING:
    from streamtables.api import StreamTables

C = TypeVar("C", bound=type)

CHANGES = (
    "add_source", "drop_source", "create", "alter", "drop", "add_view", "drop_view",
    "add_function", "register_function", "drop_function", "pause", "resume", "cancel",
    "close_gate", "open_gate", "set_watermark", "set_watermark_group", "drop_watermark_group",
    "repair", "clear_caches", "publish", "unpublish", "subscribe", "unsubscribe",
    "snapshot", "drop_snapshot", "restore_snapshot",
)  # fmt: skip
"""The methods of an open warehouse that change what it is or does."""

_actor: ContextVar[str] = ContextVar("streamtables_actor")
_inside: ContextVar[bool] = ContextVar("streamtables_audited", default=False)
_NOT_PLAIN = re.compile(r"[^\w.@:+ -]")
_LONGEST = 100


def acting_as(name: str) -> None:
    """Have the changes that follow in this context count as those of somebody."""
    _actor.set(plain_actor(name))


def plain_actor(name: str) -> str:
    r"""Return a name that can stand in a line: no control characters, no endless text.

    >>> plain_actor("ann\nby root")
    'ann?by root'
    """
    return _NOT_PLAIN.sub("?", name[:_LONGEST])


def current_actor() -> str:
    """Return who acts: whom the web named, else the account that runs the process."""
    found = _actor.get("")
    return found or f"user {plain_actor(_account())}"


def _account() -> str:
    # Not from the environment, which whoever starts the process can set as they like.
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


class Auditing:
    """The methods of an open warehouse that are about who changed it."""

    _catalog: Catalog

    def audit_log(self, name: str | None = None, limit: int = 100) -> list[Event]:
        """Return the last changes, of all or of one object by its name, newest first."""
        return self._catalog.audit_events(name, limit)

    def record_change(self, action: str, subject: str) -> None:
        """Keep who did something now."""
        text = f"{action} by {current_actor()}"
        self._catalog.record_events([Event(datetime.now(UTC), AUDIT, text, "", subject[:300])])


def audited(warehouse: C) -> C:
    """Have every change of a warehouse recorded, once it went well."""
    for name in CHANGES:
        setattr(warehouse, name, _recording(name, getattr(warehouse, name)))
    return warehouse


def _recording(action: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def recorded(self: StreamTables, *given: Any, **named: Any) -> Any:
        with _outermost() as is_outermost:
            answer = method(self, *given, **named)
        if is_outermost:
            self.record_change(action, _subject(given, named))
        return answer

    return recorded


def _subject(given: tuple[Any, ...], named: dict[str, Any]) -> str:
    """Return the name of what is changed; a pause without one concerns all."""
    first = given[0] if given else named.get("name", named.get("source"))
    namespace = named.get("namespace")
    return str(first) if first is not None else f"namespace {namespace}" if namespace else "all"


@contextmanager
def _outermost() -> Iterator[bool]:
    """Tell whether this is a change that somebody asked for, not a part of one."""
    is_outermost = not _inside.get()
    token = _inside.set(True)
    try:
        yield is_outermost
    finally:
        _inside.reset(token)
