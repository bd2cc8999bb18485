"""What a person says of a folder of files, checked before anything is looked at."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from streamtables.catalog.models import FileFolder
from streamtables.engine.file_listing import FileState, files_in
from streamtables.engine.file_rows import FORMATS
from streamtables.engine.stores import local_path
from streamtables.errors import ConfigError, SourceMissingError, SourceUnusableError
from streamtables.positions import InputId

_ENDINGS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".orc": "orc",
}
_PACKED = (".gz", ".bz2", ".zst", ".snappy", ".lz4", ".deflate")
# Spark would choose files by these, or leave some out; here that is the pattern's business alone.
_REFUSED = (
    "path",
    "paths",
    "basepath",
    "pathglobfilter",
    "recursivefilelookup",
    "modifiedbefore",
    "modifiedafter",
    "ignorecorruptfiles",
    "ignoremissingfiles",
    "samplingratio",
    "inferschema",
    "mergeschema",
    "columnnameofcorruptrecord",
)


def checked_folder(
    files: str | os.PathLike[str],
    format: str | None,
    schema: str | None,
    pattern: str,
    options: Mapping[str, str | bool | int] | None,
) -> FileFolder:
    """Return a folder as it is kept; which format its files have is seen by their names."""
    given = os.fspath(files)
    path = local_path(given)
    folder = given.rstrip("/") if path is None else os.path.abspath(path.expanduser())
    if "/" in pattern:
        raise ConfigError(
            f'the pattern "{pattern}" has a folder in it',
            hint="It is for the names of files, in all folders: *.csv.",
        )
    chosen = {str(name): _text(value) for name, value in (options or {}).items()}
    for name in chosen:
        if name.lower() in _REFUSED:
            raise ConfigError(
                f'the option "{name}" cannot be given to a folder of files',
                hint="Choose files by their names with a pattern, and columns by a schema.",
            )
    kind = (format or _format_of(folder, pattern)).lower()
    if kind not in FORMATS:
        raise ConfigError(
            f'"{kind}" is not a format of files that can be read',
            detail=f"There are {', '.join(FORMATS)}.",
        )
    return FileFolder(InputId(""), folder, kind, pattern, (schema or "").strip(), chosen)


def listed_now(folder: str, pattern: str) -> dict[str, FileState]:
    """Return the files of a folder that a person named just now: one that is not there is no news.

    Raises:
        SourceUnusableError: there is no such folder.
    """
    try:
        return files_in(folder, pattern)
    except SourceMissingError as error:
        raise SourceUnusableError(
            error.message, detail=error.detail, hint="Give the folder that holds the files."
        ) from error


def refuse_beside_files(name: str, others: Iterable[object]) -> None:
    """Refuse what belongs to tables, where a folder of files is added."""
    if any(others):
        raise ConfigError(
            f'source "{name}" is a folder of files: it has no path, table, key or address beside',
            hint="Give files, and format, schema, pattern and options where they are needed.",
        )


def refuse_without_files(*given: object) -> None:
    """Refuse what belongs to folders of files, where something else is added."""
    if any(given):
        raise ConfigError(
            "format, schema, pattern and options belong to folders of files",
            hint="Give the folder too: files='landing/orders'.",
        )


def _text(value: object) -> str:
    # True is not what Spark's options are spelt like.
    return str(value).lower() if isinstance(value, bool) else str(value)


def _format_of(folder: str, pattern: str) -> str:
    names = listed_now(folder, pattern)
    kinds = {_ENDINGS.get(_ending(name), "") for name in names}
    if len(kinds) == 1 and (kind := kinds.pop()):
        return kind
    raise ConfigError(
        f'which format the files in "{folder}" have is not seen by their names',
        detail=f"The first is {next(iter(names))}." if names else "There are none.",
        hint=f"Give the format: {', '.join(FORMATS)}; or choose files by a pattern: *.csv.",
    )


def _ending(name: str) -> str:
    path = Path(name.lower())
    return Path(path.stem).suffix if path.suffix in _PACKED else path.suffix
