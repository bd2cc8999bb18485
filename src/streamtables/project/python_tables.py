"""Stream tables that Python functions define: the decorator, and loading a file of them.

    @stream_table(schedule="1 minute")
    def revenue():
        return "SELECT city, sum(amount) AS total FROM orders GROUP BY city"

A function returns SQL, or an object whose `sql` is one.  Loading a file runs its code.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TypeVar, overload

from streamtables.errors import ConfigError, UnsupportedSqlError
from streamtables.project.front_matter import FIELDS, Defined, defined_query

F = TypeVar("F", bound=Callable[[], object])


@dataclass(frozen=True)
class _Marked:
    """A function that defines a stream table, and what its decorator says."""

    function: Callable[[], object]
    fields: dict[str, str]


_marked: ContextVar[list[_Marked] | None] = ContextVar("streamtables_marked", default=None)


@overload
def stream_table(function: F, /) -> F: ...
@overload
def stream_table(**fields: object) -> Callable[[F], F]: ...
def stream_table(function: F | None = None, /, **fields: object) -> F | Callable[[F], F]:
    """Mark a function without parameters as the definition of a stream table.

    Fields are those of a header: `name` (else that of the function), `schedule`, `mode`, `full`,
    `tier`, `description`, `tags`, `key`, and the options of a table.  The function stays what it
    is; only loading a project's files collects it.
    """
    for name in fields:
        if name not in FIELDS:
            raise ConfigError(
                f'@stream_table does not know "{name}"', detail=f"Fields: {', '.join(FIELDS)}."
            )

    def mark(decorated: F) -> F:
        if (found := _marked.get()) is not None:
            texts = {name: _text(value) for name, value in fields.items() if value is not None}
            found.append(_Marked(decorated, texts))
        return decorated

    return mark if function is None else mark(function)


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def read_python_file(path: Path, *, file: str, root: Path) -> list[Defined]:
    """Run a file and return the stream tables that it defines; `root` is where imports start."""
    marked: list[_Marked] = []
    token = _marked.set(marked)
    try:
        with _running(path, file, root):
            _load(path, file)
            answers = [(item, item.function()) for item in marked]
    finally:
        _marked.reset(token)
    if not marked:
        raise ConfigError(
            f'"{file}" defines no stream table',
            hint="Decorate a function with @stream_table; a file of other code starts with _.",
        )
    return [
        defined_query(item.fields, _sql(answer, item, file), file=file, stem=item.function.__name__)
        for item, answer in answers
    ]


def _load(path: Path, file: str) -> None:
    name = f"streamtables_project_{abs(hash(str(path)))}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f'"{file}" cannot be loaded as Python')
    module = module_from_spec(spec)
    # Dataclasses, among others, look their module up while it is being run.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[name]


@contextmanager
def _running(path: Path, file: str, root: Path) -> Iterator[None]:
    """Let code of the project run: its errors are told with their place, its output goes aside."""
    before, bytecode = list(sys.path), sys.dont_write_bytecode
    sys.path[:0] = [str(path.parent), str(root)]
    sys.dont_write_bytecode = True
    try:
        # What it prints must not stand in an answer that is JSON.
        with redirect_stdout(sys.stderr):
            yield
    except (Exception, SystemExit) as error:  # somebody else's code: anything may come
        raise ConfigError(
            f'"{file}" fails{_line(error, path)}: {type(error).__name__}: {_message(error)}',
            detail="The file is Python of the project, and was run to learn its stream tables.",
            hint="Correct the file; nothing was changed.",
        ) from error
    finally:
        sys.path[:] = before
        sys.dont_write_bytecode = bytecode


def _line(error: BaseException, path: Path) -> str:
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return f" in line {error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return f" in line {lines[-1]}" if lines else ""


def _message(error: BaseException) -> str:
    return error.msg if isinstance(error, SyntaxError) else str(error)


def _sql(answer: object, item: _Marked, file: str) -> str:
    name, line = item.function.__name__, item.function.__code__.co_firstlineno
    if _is_data_frame(answer):
        raise UnsupportedSqlError(
            f'"{name}" of "{file}" (line {line}) returns a DataFrame',
            detail="Its plan is Spark's own, and cannot be read back as SQL without guessing.",
            hint="Return the SQL text; what would be given to spark.sql can be returned as it is.",
        )
    text = answer if isinstance(answer, str) else getattr(answer, "sql", None)
    if isinstance(text, str) and text.strip():
        return text
    raise ConfigError(
        f'"{name}" of "{file}" (line {line}) returns no SQL but {type(answer).__name__}',
        hint="Return the query as a text, or an object whose attribute sql is one.",
    )


def _is_data_frame(answer: object) -> bool:
    # By name: a project that never uses PySpark must not import it here.
    kinds = [kind for kind in type(answer).__mro__ if kind.__name__ == "DataFrame"]
    return any(kind.__module__.split(".")[0] == "pyspark" for kind in kinds)
