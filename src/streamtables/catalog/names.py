"""Names of sources and stream tables.

A name has one or two parts, `name` or `namespace.name`, of letters, digits and underscores.  Case
is kept and shown, but two names that differ only in case are the same name, as in Spark SQL.
Words that SQL reserves are allowed: generated SQL quotes every name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from streamtables.errors import NameNotAllowedError, NotFoundError

RESERVED_PREFIX = "__st_"
LENGTH_MAX = 128

# Delta queries read before.<table>, after.<table> and changes.<table>.
RESERVED_NAMESPACES = frozenset({"before", "after", "changes"})

_PART = re.compile(r"[A-Za-z0-9_]+")

_NAMED = 8
"""So many names are shown to somebody who asked for none of them."""


def check_name(name: str, *, kind: str = "a source or stream table", internal: bool = False) -> str:
    """Return `name` when it may name something of this kind, else raise.

    Internal tables, which the engine names itself, may use the reserved prefix.
    """
    if fault := _fault(name, internal=internal):
        raise NameNotAllowedError(
            f'"{name}" cannot be the name of {kind}',
            detail=fault,
            hint="Use name or namespace.name, of letters, digits and underscores.",
        )
    return name


def name_key(name: str) -> str:
    """Return the form under which a name is unique."""
    return name.lower()


def not_found(kind: str, name: str, known: Iterable[str]) -> NotFoundError:
    """Return the error for an unknown name, with the known name that is closest, or some."""
    shown = {name_key(other): other for other in known}
    close = get_close_matches(name_key(name), shown, n=1)
    if close:
        hint = f'Did you mean "{shown[close[0]]}"?'
    elif shown:
        more = " and others" if len(shown) > _NAMED else ""
        hint = f"There are: {', '.join(sorted(shown.values())[:_NAMED])}{more}."
    else:
        hint = f"There is no {kind} yet."
    return NotFoundError(f'there is no {kind} "{name}"', hint=hint)


def _fault(name: str, *, internal: bool) -> str:
    if len(name) > LENGTH_MAX:
        return f"It has {len(name)} characters; at most {LENGTH_MAX} are allowed."
    parts = name.split(".")
    if len(parts) > 2:
        return f"It has {len(parts)} parts; at most two are allowed."
    if not all(_PART.fullmatch(part) for part in parts):
        return "A part is empty or has a character that is not a letter, digit or underscore."
    if not internal and any(name_key(part).startswith(RESERVED_PREFIX) for part in parts):
        return f"Names that start with {RESERVED_PREFIX} are the engine's own."
    if len(parts) == 2 and name_key(parts[0]) in RESERVED_NAMESPACES:
        return f'The namespace "{parts[0]}" is reserved for delta queries.'
    return ""
