"""Views and functions of the catalog as the compiler sees them, and back."""

from __future__ import annotations

from collections.abc import Iterable

from streamtables.catalog.definitions import Definitions
from streamtables.catalog.models import Function, View
from streamtables.compiler import library
from streamtables.compiler.plan_facts import PlanFacts
from streamtables.engine.python_functions import PythonFunctions
from streamtables.errors import FunctionMissingError
from streamtables.positions import InputId


def library_of(definitions: Definitions) -> library.Library:
    """Return all views and functions that a query may use."""
    entries: list[View | Function] = [*definitions.views.values()]
    entries += definitions.functions.values()
    return library.Library.of(entry_of(entry) for entry in entries)


def entry_of(entry: View | Function) -> library.Entry:
    """Return a view or function of the catalog for the compiler."""
    if isinstance(entry, View):
        return library.View(entry.name, entry.query)
    if entry.language != "sql":
        aggregate = entry.language == "python-aggregate"
        return library.PythonFunction(entry.name, entry.returns, entry.deterministic, aggregate)
    parameters = tuple((column.name, column.type) for column in entry.parameters)
    return library.SqlFunction(entry.name, parameters, entry.returns, entry.body)


def uses_of(used: Iterable[library.Entry], definitions: Definitions) -> tuple[InputId, ...]:
    """Return the ids of views and functions, in one order."""
    found: list[InputId] = []
    for item in used:
        is_view = isinstance(item, library.View)
        entry = definitions.named(item.name) if is_view else definitions.function_named(item.name)
        assert entry is not None
        found.append(entry.id)
    return tuple(sorted(found))


def require_registered(plan: PlanFacts, functions: PythonFunctions, table: str) -> None:
    """Raise when the query calls a Python function that this process has not registered."""
    for name in plan.python_functions:
        if not functions.has(name):
            raise FunctionMissingError(
                f'stream table "{table}" needs the Python function "{name}"',
                detail="The catalog knows its name and type; each process brings its code.",
                hint=f'Run register_function("{name}", …) in this process first.',
            )
