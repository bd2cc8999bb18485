"""The reference of the Python interface, from signatures and docstrings.

What `streamtables.__all__` names, the methods of an open warehouse by the part of the interface
that they belong to, and the types of what they answer.  Texts are those of the code.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from scripts.python_types import NAME, fields_of, first_sentence, named_by
from scripts.signatures import function_of, signature

INTRO = """\
`import streamtables` has four names; everything else is a method of an open warehouse:

```python
import streamtables

with streamtables.connect("warehouse") as db:
    for table in db.status():
        print(table.name, table.state)

orders = {"id": "bigint", "city": "string"}
plan = streamtables.compile(
    "SELECT city, count(*) AS n FROM orders GROUP BY city", {"orders": orders}, {"orders": ["id"]}
)
print(plan.incremental, plan.delta_sql())
```

What goes wrong is a `StreamTablesError` of `streamtables.errors`, with `code`, `message`, `detail`
and `hint`; [errors.md](errors.md) explains each. The [guide](guide.md) says what to do with all of
this; the [command line](cli.md) and the [JSON API](http.md) do the same.
"""


def python_page(notice: str) -> str:
    """Return the page."""
    import streamtables
    from streamtables.api import StreamTables

    types = _types_of(StreamTables, [streamtables.compile])
    parts = ["# Python", notice, INTRO, "## The package"]
    for name in streamtables.__all__[1:]:
        parts.append(_entry(f"streamtables.{name}", getattr(streamtables, name), types))
    parts.append(f"## StreamTables\n\n{_prose(StreamTables.__doc__)}")
    for title, members in _parts_of(StreamTables):
        parts.append(f"### {title}")
        parts += [_entry(f"db.{name}", member, types) for name, member in members]
    parts.append("## What methods answer")
    parts += [_type_entry(types[name], types) for name in sorted(types)]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


# Methods


def _parts_of(warehouse: type) -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    """Give the parts of the interface with their members, in the order of the source."""
    for base in warehouse.__mro__:
        # What records changes stands in the class, and has the name of what it goes around.
        found = [
            (name, inspect.getattr_static(warehouse, name))
            for name in base.__dict__
            if not name.startswith("_")
        ]
        members = [
            (name, member)
            for name, member in found
            if (isinstance(member, property) or inspect.isfunction(member))
            and function_of(member).__qualname__.split(".")[0] == base.__name__
        ]
        if members:
            yield _title(base, warehouse), members


def _title(part: type, warehouse: type) -> str:
    if part is warehouse:
        return "Define, refresh, read"
    text = inspect.getdoc(sys.modules[part.__module__]) or part.__name__
    return re.split(r"[:.\n]", text)[0]


def _entry(shown: str, member: Any, types: dict[str, type]) -> str:
    """Return the section of one function, method or property."""
    function = function_of(member)
    lines = [f"#### {shown}", f"```text\n{signature(shown, member)}\n```"]
    lines.append(_prose(function.__doc__))
    answer = str(inspect.signature(function).return_annotation)
    if links := _links(answer, types):
        lines.append(f"Answers with {links}.")
    return "\n\n".join(lines)


def _prose(text: str | None) -> str:
    """Return a docstring as Markdown; errors that it names lead to their explanation."""
    found = inspect.cleandoc(text or "")
    body, _, raised = found.partition("\nRaises:\n")
    body = re.sub(r"(?m)^( *>>>.*(?:\n(?!\s*\n).*)*)", r"```text\n\1\n```", body).replace("  ", " ")
    if not raised:
        return body
    errors = textwrap.dedent(raised).replace("\n    ", " ").splitlines()
    return f"{body.rstrip()}\n\n" + "\n".join(
        f"- Raises {_error(name)}: {why}" for name, why in (e.split(": ", 1) for e in errors)
    )


def _error(name: str) -> str:
    from streamtables import errors

    code = getattr(errors, name).code
    return f"[{name}](errors.md#{code.lower()}-{name.lower()})"


# Types


def _types_of(warehouse: type, functions: list[Callable[..., Any]]) -> dict[str, type]:
    """Return the types that methods answer with, and those of their fields."""
    members = [member for _, found in _parts_of(warehouse) for _, member in found]
    todo = [
        named
        for function in [*map(function_of, members), *functions]
        for named in named_by(
            str(inspect.signature(function).return_annotation), function.__module__
        )
    ]
    found: dict[str, type] = {}
    while todo:
        kind = todo.pop()
        if kind.__name__ not in found:
            found[kind.__name__] = kind
            todo += [
                named for _, text, _ in fields_of(kind) for named in named_by(text, kind.__module__)
            ]
    return found


def _type_entry(kind: type, types: dict[str, type]) -> str:
    lines = [
        f"### {kind.__name__}",
        _prose(kind.__doc__),
        "| field | type | what it is |\n|---|---|---|",
    ]
    for name, text, said in fields_of(kind):
        shown = text.replace("|", "\\|")
        see = f" See {links}." if (links := _links(text, types)) else ""
        lines[-1] += (
            f"\n| `{name}` | `{shown}` | {(said.replace('|', chr(92) + '|') + see).strip()} |"
        )
    methods = [
        f"- `{signature(name, member)}`: {first_sentence(member.__doc__)}"
        for name, member in vars(kind).items()
        if inspect.isfunction(member) and not name.startswith("_") and member.__doc__
    ]
    return "\n\n".join([*lines, *(["\n".join(methods)] if methods else [])])


def _links(annotation: str, types: dict[str, type]) -> str:
    """Return links to the types that an annotation names."""
    names = [name for name in dict.fromkeys(NAME.findall(annotation)) if name in types]
    return ", ".join(f"[{name}](#{name.lower()})" for name in names)
