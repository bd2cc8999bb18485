"""Python files of a pipeline, read by their syntax and never run.

Understood is a decorated function whose body is `return spark.sql("…")`, with a text that stands
there; everything else is named with its reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from streamtables.compiler.pipeline_statements import Kind, PipelineDataset, PipelineFlow
from streamtables.project.sdp.found import Found, Unread

_PACKAGE = "pyspark.pipelines"
_KINDS: dict[str, Kind] = {
    "materialized_view": "materialized view",
    "table": "streaming table",
    "temporary_view": "view",
}
_CALLS = ("create_streaming_table", "create_sink", "create_auto_cdc_flow")
_TAKEN = {"name", "comment", "target"}
_NOT_PLAIN = 'its body is not a plain return spark.sql("…")'


def read_python(text: str, file: str, found: Found) -> None:
    """Add what a file defines."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        found.unread.append(Unread(file, file, f"it is not Python: {error}"))
        return
    names = dict(_names(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                if (word := _meant(decorator, names)) is not None:
                    _function(node, decorator, word, file, found)
        elif isinstance(node, ast.Call) and (word := _meant(node, names)) in _CALLS:
            _call(node, word, file, found)


def _names(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield what names mean in a file: `dp` the package, others one of its functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == _PACKAGE:
                    yield alias.asname or alias.name, ""
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if node.module == "pyspark" and alias.name == "pipelines":
                    yield alias.asname or alias.name, ""
                elif node.module == _PACKAGE:
                    yield alias.asname or alias.name, alias.name


def _meant(node: ast.expr, names: dict[str, str]) -> str | None:
    """Return the function of the package that a decorator or call means."""
    called = node.func if isinstance(node, ast.Call) else node
    if isinstance(called, ast.Name):
        return names.get(called.id) or None
    if isinstance(called, ast.Attribute) and names.get(ast.unparse(called.value)) == "":
        return called.attr
    return None


def _function(
    node: ast.FunctionDef, decorator: ast.expr, word: str, file: str, found: Found
) -> None:
    given = _keywords(decorator)
    name = given.get("name", node.name) or node.name
    query = _query(node)
    if word not in _KINDS and word != "append_flow":
        found.unread.append(Unread(name, file, f"@{word} is not known"))
    elif query is None or any(given.get(key, "") is None for key in _TAKEN):
        reason = _NOT_PLAIN if query is None else "its name or comment is not a plain text"
        found.unread.append(Unread(name, file, f"line {node.lineno}: {reason}"))
    elif word == "append_flow":
        target = given.get("target") or ""
        found.flows.append((PipelineFlow(name, target, query), file))
    else:
        dropped = tuple(sorted(given.keys() - _TAKEN))
        comment = given.get("comment") or ""
        found.datasets.append((PipelineDataset(_KINDS[word], name, query, comment, dropped), file))


def _call(node: ast.Call, word: str, file: str, found: Found) -> None:
    given = _keywords(node)
    first = _literal(node.args[0]) if node.args else None
    name = given.get("name") or first
    if word == "create_streaming_table" and name:
        dropped = tuple(sorted(given.keys() - _TAKEN))
        comment = given.get("comment") or ""
        dataset = PipelineDataset("streaming table", name, None, comment, dropped)
        found.datasets.append((dataset, file))
        return
    reasons = {
        "create_streaming_table": "its name is not a plain text",
        "create_sink": "a sink sends rows elsewhere; a publication does that here",
        "create_auto_cdc_flow": "an AUTO CDC flow applies events in order; write the newest row of "
        "each key as a query, with row_number() over the key",
    }
    shown = given.get("target") or name or word
    found.unread.append(Unread(shown, file, f"line {node.lineno}: {reasons[word]}"))


def _keywords(node: ast.expr) -> dict[str, str | None]:
    """Return the named arguments of a call; None for one that is not a text that stands there."""
    keywords = node.keywords if isinstance(node, ast.Call) else []
    return {word.arg or "**": _literal(word.value) for word in keywords}


def _literal(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _query(node: ast.FunctionDef) -> str | None:
    body = node.body
    if ast.get_docstring(node) is not None:
        body = body[1:]
    if len(body) != 1 or not isinstance(body[0], ast.Return):
        return None
    call = body[0].value
    if not isinstance(call, ast.Call) or call.keywords or len(call.args) != 1:
        return None
    return _literal(call.args[0]) if ast.unparse(call.func) == "spark.sql" else None
