"""The reference of the JSON API, from the description that the web pages give of themselves."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

Shape = Mapping[str, Any]
INTRO = """\
`streamtables serve` and `streamtables run --serve 8321` answer on these addresses;
`/api/openapi.json` is the same as OpenAPI. How to serve, who may ask, and what an error means, is
said under [web pages](web.md). The addresses have the names of the methods in [Python](python.md).

```sh
curl -X POST -H "Authorization: Bearer $TOKEN" localhost:8321/api/refresh/revenue
curl localhost:8321/api/status
```
"""
_METHODS = ("get", "post", "put", "patch", "delete")


def http_page(notice: str) -> str:
    """Return the page."""
    described = description()
    parts = ["# JSON API", notice, INTRO]
    found = list(_operations(described))
    for tag in dict.fromkeys(tag for _, _, operation in found for tag in operation["tags"]):
        parts.append(f"## {tag.capitalize()}")
        parts += [_entry(*item) for item in found if tag in item[2]["tags"]]
    parts += ["## Errors", _errors(described), "## Shapes"]
    shapes = described["components"]["schemas"]
    parts += [_shape(name, shapes[name]) for name in sorted(shapes) if not _is_inner(name)]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def description() -> dict[str, Any]:
    """Return the description of an application over an empty warehouse."""
    from streamtables.api import StreamTables
    from streamtables.settings import Settings
    from streamtables.web.app import build_app

    with tempfile.TemporaryDirectory() as folder, StreamTables(folder, settings=Settings()) as db:
        app: Any = build_app(db, token="of nobody").app
        found: dict[str, Any] = app.openapi()
    return found


def _operations(described: Shape) -> Iterator[tuple[str, str, Shape]]:
    for path, methods in described["paths"].items():
        for method in _METHODS:
            if method in methods:
                yield method.upper(), path, methods[method]


def _is_inner(name: str) -> bool:
    """Whether a shape belongs to the framework, whose errors are given as ours."""
    return name in ("HTTPValidationError", "ValidationError")


def _entry(method: str, path: str, operation: Shape) -> str:
    lines = [f"### {method} `{path}`", operation["description"]]
    if given := operation.get("parameters"):
        lines.append(_table("parameter", [_parameter(item) for item in given]))
    if "requestBody" in operation:
        body = operation["requestBody"]
        may = "" if body.get("required") else ", which may be left out"
        lines.append(f"Takes {_content(body)}{may}.")
    status, answer = next(iter(operation["responses"].items()))
    needs = " Needs the token." if operation.get("security") else ""
    lines.append(f"Answers {status}: {_content(answer)}.{needs}")
    return "\n\n".join(lines)


def _parameter(item: Shape) -> tuple[str, str, str, str]:
    shape = item["schema"]
    kind = f"{_type(shape)}, in the {'path' if item['in'] == 'path' else 'query'}"
    default = "required" if item.get("required") else _default(shape)
    return item["name"], kind, default, item.get("description", shape.get("description", ""))


def _content(body: Shape) -> str:
    found = body.get("content", {})
    if set(found) == {"application/json"}:
        return _type(found["application/json"].get("schema", {}))
    return " or ".join(f"`{kind}`" for kind in found) or "nothing"


def _errors(described: Shape) -> str:
    told = {
        status: answer["description"]
        for _, _, operation in _operations(described)
        for status, answer in operation["responses"].items()
        if int(status) >= 400
    }
    rows = [f"| {status} | {told[status]} |" for status in sorted(told)]
    head = "All of them have the shape [Problem](#problem).\n\n| status | meaning |\n|---|---|\n"
    return head + "\n".join(rows)


def _shape(name: str, shape: Shape) -> str:
    required = shape.get("required", ())
    rows = [
        (field, _type(kind), "required" if field in required else _default(kind),
         " ".join(kind.get("description", "").split()))
        for field, kind in shape.get("properties", {}).items()
    ]  # fmt: skip
    said = shape.get("description", "").split("\n\n")
    # What pydantic says of a data class without a docstring is its signature.
    text = "" if said[0].startswith(f"{name}(") else "\n\n".join(" ".join(p.split()) for p in said)
    table = _table("field", rows) if rows else f"One of {_type(shape)}."
    return "\n\n".join(part for part in (f"### {name}", text, table) if part)


def _table(first: str, rows: list[tuple[str, str, str, str]]) -> str:
    # A column that says nothing is left out.
    told = any(row[3] for row in rows)
    titles = [first, "type", "default", "what it is"][: 4 if told else 3]
    lines = [f"| {' | '.join(titles)} |", "|" + "---|" * len(titles)]
    for name, kind, default, text in rows:
        cells = [f"`{name}`", kind, default, text.replace("|", "\\|")][: len(titles)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _default(shape: Shape) -> str:
    if "default" not in shape:
        return ""
    value = shape["default"]
    names = {None: "none", True: "true", False: "false"}
    if value is None or isinstance(value, bool):
        return names[value]
    return f"`{value}`" if value != "" else ""


def _type(shape: Shape) -> str:
    """Return a type in words; a shape of ours as a link to it."""
    match shape:
        case {"$ref": reference}:
            name = reference.rsplit("/", 1)[1]
            return f"[{name}](#{name.lower()})"
        case {"anyOf": choices} | {"oneOf": choices}:
            return " or ".join(dict.fromkeys(_type(choice) for choice in choices))
        case {"enum": words}:
            return ", ".join(f"`{word}`" for word in words)
        case {"const": word}:
            return f"`{word}`"
        case {"prefixItems": items}:
            return f"list of ({', '.join(_type(item) for item in items)})"
        case {"type": "array", "items": items}:
            return f"list of {_type(items)}"
        case {"type": "object", "additionalProperties": dict(values)} if values:
            return f"object of {_type(values)}"
        case {"type": "string", "format": "date-time"}:
            return "time"
        case {"type": str(kind)}:
            return _bounded(kind, shape)
    return "anything"


def _bounded(kind: str, shape: Shape) -> str:
    low, high = shape.get("minimum"), shape.get("maximum")
    words = {"string": "text", "null": "none", "integer": "whole number"}.get(kind, kind)
    return words if low is None or high is None else f"{words} from {low:,} to {high:,}"
