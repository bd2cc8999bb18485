"""Python functions that SQL can call: what one is, and bringing them into every session.

A fork of a session shares no temporary function with it, so each session gets those that it lacks
when it is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from streamtables.engine.spark_errors import spark_border
from streamtables.errors import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# A callable of a user: nothing is known of its arguments.
PythonCallable = Callable[..., Any]


@dataclass(frozen=True)
class RegisteredFunction:
    """A Python function under the name that SQL calls it by."""

    name: str
    function: PythonCallable
    returns: str
    deterministic: bool
    made_by_spark: bool
    """Whether pyspark's `udf` or `pandas_udf` made the function, type included."""
    aggregate: bool = False
    """Whether it turns many rows into one value."""


def described(
    name: str, function: PythonCallable, returns: str | None, *, deterministic: bool
) -> RegisteredFunction:
    """Return what can be said of a function without Spark."""
    own_type = getattr(function, "returnType", None)
    if own_type is None:
        if returns is None:
            raise ConfigError(
                f'the type that "{name}" returns is missing',
                hint='Give it, as in register_function("f", f, returns="int").',
            )
        return RegisteredFunction(name, function, returns, deterministic, made_by_spark=False)
    return RegisteredFunction(
        name,
        function,
        str(own_type.simpleString()),
        deterministic and bool(getattr(function, "deterministic", True)),
        made_by_spark=True,
        aggregate=_is_aggregate(name, function),
    )


_SCALAR = (
    "SQL_BATCHED_UDF",
    "SQL_ARROW_BATCHED_UDF",
    "SQL_SCALAR_PANDAS_UDF",
    "SQL_SCALAR_PANDAS_ITER_UDF",
    "SQL_SCALAR_ARROW_UDF",
    "SQL_SCALAR_ARROW_ITER_UDF",
)
_AGGREGATE = (
    "SQL_GROUPED_AGG_PANDAS_UDF",
    "SQL_GROUPED_AGG_PANDAS_ITER_UDF",
    "SQL_GROUPED_AGG_ARROW_UDF",
    "SQL_GROUPED_AGG_ARROW_ITER_UDF",
)


def _is_aggregate(name: str, function: PythonCallable) -> bool:
    """Whether a function of pyspark's is an aggregate; one of neither kind is an error."""
    kind = getattr(function, "evalType", None)
    if kind in _numbers(_AGGREGATE):
        return True
    if kind not in _numbers(_SCALAR):
        raise ConfigError(
            f'"{name}" returns neither one value for each row nor one for a group of rows',
            hint="Register a scalar function or an aggregate; table functions stay Spark's.",
        )
    return False


def _numbers(kinds: tuple[str, ...]) -> set[int]:
    """Return the numbers of kinds of functions, of which an older pyspark lacks some."""
    from pyspark.util import PythonEvalType

    return {getattr(PythonEvalType, kind) for kind in kinds if hasattr(PythonEvalType, kind)}


@dataclass
class PythonFunctions:
    """The functions of this process, and which session has which of them."""

    functions: dict[str, RegisteredFunction] = field(default_factory=dict)
    _known: WeakKeyDictionary[SparkSession, dict[str, RegisteredFunction]] = field(
        default_factory=WeakKeyDictionary
    )

    def add(self, function: RegisteredFunction) -> None:
        """Keep a function for every session from now on."""
        self.functions[function.name.lower()] = function

    def has(self, name: str) -> bool:
        """Whether this process has registered a function of this name."""
        return name.lower() in self.functions

    def bring_into(self, spark: SparkSession) -> None:
        """Register in a session what it does not have yet."""
        if not self.functions:
            return
        known = self._known.setdefault(spark, {})
        for key, function in list(self.functions.items()):
            if known.get(key) is not function:
                _register(spark, function)
                known[key] = function


def _register(spark: SparkSession, function: RegisteredFunction) -> None:
    from pyspark.sql.functions import udf

    with spark_border():
        value = function.function
        if not function.made_by_spark:
            # With Arrow, Spark would read the function's type hints for a meaning of its own.
            value = udf(value, function.returns, useArrow=False)
        if not function.deterministic:
            value = value.asNondeterministic()  # type: ignore[attr-defined]  # a UDF by now
        spark.udf.register(function.name, value)
