"""Views, SQL functions and Python functions: the part of the interface that defines them.

Views and SQL functions are kept by text and inlined into the queries that use them.  Of a Python
function the catalog keeps name and type; its code lives in the process that registers it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace as changed
from datetime import datetime

from streamtables.catalog import Catalog
from streamtables.catalog.definitions import Definitions
from streamtables.catalog.models import Column, Function, FunctionLanguage, View, new_id
from streamtables.catalog.names import check_name
from streamtables.compiler.frontend.functions import known_functions
from streamtables.compiler.frontend.sql_functions import check_type
from streamtables.engine.python_functions import PythonCallable, described
from streamtables.errors import AlreadyExistsError, CommitConflictError, NameNotAllowedError
from streamtables.refresh.redefine import redefined
from streamtables.refresh.surroundings import Surroundings

ATTEMPTS = 5
"""How often a change is made anew when another process changed a definition meanwhile."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


FunctionParts = tuple[tuple[Column, ...], str, str, bool]
"""Parameters, the type that comes back, the body, and whether it always gives the same."""


class ViewsAndFunctions:
    """The methods of an open warehouse that are about views and functions."""

    _catalog: Catalog
    _around: Surroundings

    def add_view(
        self, name: str, query: str, *, replace: bool = False, if_not_exists: bool = False
    ) -> View:
        """Keep a query under a name; a query that reads it reads its tables.

        Readers whose rows become others are computed anew, once.
        """
        check_name(name)
        known = self._catalog.snapshot().definitions.named(name)
        if if_not_exists and isinstance(known, View):
            return known
        at = self._around.clock()
        stored = self._put(lambda all_: view_entry(all_, name, query, at, replace=replace))
        assert isinstance(stored, View)
        return stored

    def views(self) -> list[View]:
        """Return all views, by name."""
        return list(self._catalog.views())

    def drop_view(self, name: str, *, if_exists: bool = False) -> View | None:
        """Forget a view that nothing reads."""
        if if_exists and name.lower() not in {view.name.lower() for view in self.views()}:
            return None
        return self._catalog.drop_view(name)

    def add_function(
        self,
        name: str,
        *,
        parameters: Mapping[str, str],
        returns: str,
        body: str,
        replace: bool = False,
        if_not_exists: bool = False,
    ) -> Function:
        """Keep an expression over parameters under a name; calls are replaced by it.

        Readers whose rows become others are computed anew, once.
        """
        known = self._catalog.snapshot().definitions.function_named(name)
        if if_not_exists and known is not None:
            return known
        parts = sql_parts(parameters, returns, body)
        return self._define(name, "sql", parts, replace=replace)

    def register_function(
        self,
        name: str,
        function: PythonCallable,
        returns: str | None = None,
        *,
        deterministic: bool = True,
    ) -> Function:
        """Let queries call a Python function, for as long as this process lives.

        A function that pyspark's `udf` or `pandas_udf` made brings its type along, and may be an
        aggregate, whose answer must not depend on the order of the rows.  Each process that
        refreshes its readers must register it; where its code changes, repair them.
        """
        given = described(name, function, returns, deterministic=deterministic)
        parts = ((), check_type(given.returns), "", given.deterministic)
        language: FunctionLanguage = "python-aggregate" if given.aggregate else "python"
        stored = self._define(name, language, parts, replace=True)
        self._around.sessions.functions.add(given)
        return stored

    def functions(self) -> list[Function]:
        """Return all functions, by name."""
        return list(self._catalog.functions())

    def drop_function(self, name: str, *, if_exists: bool = False) -> Function | None:
        """Forget a function that nothing calls."""
        if if_exists and name.lower() not in {item.name.lower() for item in self.functions()}:
            return None
        return self._catalog.drop_function(name)

    def _define(
        self,
        name: str,
        language: FunctionLanguage,
        parts: FunctionParts,
        *,
        replace: bool,
    ) -> Function:
        _check_function_name(name)
        at = self._around.clock()
        stored = self._put(
            lambda all_: function_entry(all_, name, language, parts, at, replace=replace)
        )
        assert isinstance(stored, Function)
        return stored

    def _put(self, made: Callable[[Definitions], View | Function]) -> View | Function:
        """Store what is made from the definitions as they are; make it anew when they moved."""
        for attempt in range(1, ATTEMPTS + 1):
            definitions = self._catalog.snapshot().definitions
            entry = made(definitions)
            known = definitions.views.get(entry.id) or definitions.functions.get(entry.id)
            if known is not None and changed(entry, altered_at=known.altered_at) == known:
                return known
            try:
                change = redefined(entry, definitions)
                return self._catalog.put(change, at=self._around.clock())
            except CommitConflictError:
                if attempt == ATTEMPTS:
                    raise
                self._around.pause(attempt)
        raise AssertionError("the last attempt ends in an answer or an error")


def view_entry(
    definitions: Definitions, name: str, query: str, at: datetime, *, replace: bool
) -> View:
    """Return a view as it is to be stored, with the id of the one that it replaces."""
    known = definitions.named(name)
    if isinstance(known, View) and replace:
        return changed(known, query=query.strip(), altered_at=at)
    if known is not None:
        raise _taken(name)
    return View(new_id(), name, query.strip(), created_at=at, altered_at=at)


def sql_parts(parameters: Mapping[str, str], returns: str, body: str) -> FunctionParts:
    """Return the parts of a function in SQL, its types checked."""
    columns = tuple(Column(key, check_type(type_)) for key, type_ in parameters.items())
    return columns, check_type(returns), body.strip(), True


def function_entry(
    definitions: Definitions,
    name: str,
    language: FunctionLanguage,
    parts: FunctionParts,
    at: datetime,
    *,
    replace: bool,
) -> Function:
    """Return a function as it is to be stored, with the id of the one that it replaces."""
    _check_function_name(name)
    parameters, returns, body, deterministic = parts
    known = definitions.function_named(name)
    if known is not None and (not replace or known.language != language):
        raise _taken(name)
    first = known or Function(new_id(), name, language, returns, at, at)
    return changed(
        first,
        language=language,
        parameters=parameters,
        returns=returns,
        body=body,
        deterministic=deterministic,
        altered_at=at,
    )


def _taken(name: str) -> AlreadyExistsError:
    return AlreadyExistsError(
        f'the name "{name}" is taken',
        hint="Choose another name, use replace=True for one of its kind, or drop what has it.",
    )


def _check_function_name(name: str) -> None:
    fault = ""
    if not _NAME.fullmatch(name) or name.lower().startswith("__st_"):
        fault = "A function has a name of letters, digits and underscores, without a namespace."
    elif name.lower() in known_functions():
        fault = "Spark has a function of this name."
    if fault:
        raise NameNotAllowedError(
            f'"{name}" cannot be the name of a function', detail=fault, hint="Choose another name."
        )
