"""`spark-pipeline.yml`: which files a pipeline has, and where its names live."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from streamtables.errors import ConfigError, EnvironmentFaultError

SPEC_NAMES = ("spark-pipeline.yaml", "spark-pipeline.yml")
_FIELDS = ("name", "storage", "catalog", "database", "schema", "configuration", "libraries")


@dataclass(frozen=True)
class PipelineFiles:
    """The files of a pipeline, and the catalog and schema that its names are in."""

    root: Path
    files: tuple[Path, ...]
    catalog: str | None = None
    database: str | None = None
    configuration: tuple[str, ...] = ()

    @property
    def prefixes(self) -> list[tuple[str, ...]]:
        """What may stand before a name of the pipeline without changing what it means."""
        database = (self.database or "default").lower()
        catalog = (self.catalog or "spark_catalog").lower()
        return [(database,), (catalog, database)]


def files_of(place: Path) -> PipelineFiles:
    """Return the files of a pipeline: of a folder, of its spec, or one file alone."""
    if place.is_dir():
        specs = [place / name for name in SPEC_NAMES if (place / name).is_file()]
        if len(specs) > 1:
            raise ConfigError(
                f'"{place}" holds two pipeline specs', hint="Name the one that is meant."
            )
        if specs:
            return _by_spec(specs[0])
        found = [path for kind in ("*.sql", "*.py") for path in place.rglob(kind)]
        return _checked(PipelineFiles(place, tuple(sorted(found))), place)
    if not place.is_file():
        raise ConfigError(f'there is no folder or file "{place}"', hint="Name a pipeline.")
    if place.suffix in (".yml", ".yaml"):
        return _by_spec(place)
    if place.suffix in (".sql", ".py"):
        return PipelineFiles(place.parent, (place,))
    raise ConfigError(
        f'"{place.name}" is no file of a pipeline', hint="Pipelines have .yml, .sql and .py files."
    )


def _by_spec(path: Path) -> PipelineFiles:
    values = _read(path)
    for key in values:
        if key not in _FIELDS:
            raise ConfigError(f'"{path.name}" has the unknown field "{key}"')
    catalog, database = values.get("catalog"), values.get("database", values.get("schema"))
    libraries = values.get("libraries") or []
    if not (
        isinstance(libraries, list)
        and (catalog is None or isinstance(catalog, str))
        and (database is None or isinstance(database, str))
    ):
        raise ConfigError(f'"{path.name}" is not a pipeline spec')
    found = [file for entry in libraries for file in _included(entry, path)]
    configuration = values.get("configuration") or {}
    spec = PipelineFiles(
        path.parent,
        tuple(sorted(set(found))),
        catalog,
        database,
        tuple(configuration) if isinstance(configuration, dict) else (),
    )
    return _checked(spec, path)


def _read(path: Path) -> dict[str, object]:
    try:
        import yaml
    except ImportError as error:
        raise EnvironmentFaultError(
            f'"{path.name}" cannot be read without the package pyyaml',
            hint="Install it (Spark's own pipelines need it too), or name the .sql or .py files.",
        ) from error
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ConfigError(f'cannot read "{path}"', detail=f"{error}.") from error
    if isinstance(values, dict):
        return values
    raise ConfigError(f'"{path.name}" is not a pipeline spec')


def _included(entry: object, spec: Path) -> list[Path]:
    """Return the files of one entry: a file, or all under a folder, as Spark allows it."""
    glob = entry.get("glob") if isinstance(entry, dict) else None
    pattern = glob.get("include") if isinstance(glob, dict) else None
    if not isinstance(pattern, str) or any(c in pattern.removesuffix("/**") for c in "*?["):
        raise ConfigError(
            f'"{spec.name}" includes files by a pattern that Spark does not take',
            hint="A pattern is the path of a file, or a folder followed by /**.",
        )
    if not pattern.endswith("/**"):
        return [spec.parent / pattern]
    found = (spec.parent / pattern.removesuffix("/**")).rglob("*")
    return [path for path in found if path.is_file() and "__pycache__" not in path.parts]


def _checked(files: PipelineFiles, place: Path) -> PipelineFiles:
    if not files.files:
        raise ConfigError(f'"{place}" has no files of a pipeline')
    return files
