"""The jars that Spark needs for Delta, PostgreSQL and S3, resolved once into a local folder.

Spark's own resolver fetches them, in a short-lived child process whose output nobody sees; where
it fetches from is the machine's business.  Sessions then start from the folder, with no resolver.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from streamtables.errors import EnvironmentFaultError

_SDK = "2.35.4"


@dataclass(frozen=True)
class Bundle:
    """Packages that are fetched together, and the jars of theirs that Spark does not have."""

    shown: str
    packages: tuple[str, ...]
    kept: tuple[str, ...]
    """What the names of the jars begin with; all else is part of Spark already."""
    excludes: tuple[str, ...] = ()


REQUIRED = Bundle(
    "Delta Lake",
    ("io.delta:delta-spark_4.2_2.13:4.4.0", "org.postgresql:postgresql:42.7.8"),
    ("io.delta_", "org.postgresql_"),
)
# Hadoop asks for all of Amazon's services in one jar; the few that it uses are 13 MB with it.
S3 = Bundle(
    "S3",
    (
        "org.apache.hadoop:hadoop-aws:3.5.0",
        *(
            f"software.amazon.awssdk:{part}:{_SDK}"
            for part in ("s3-transfer-manager", "sts", "apache-client")
        ),
    ),
    ("org.apache.hadoop_hadoop-aws", "software.amazon", "org.reactivestreams_", "org.wildfly."),
    (
        "software.amazon.awssdk:bundle",
        *(f"org.apache.hadoop:hadoop-{part}" for part in ("common", "client-api")),
        "org.apache.hadoop:hadoop-client-runtime",
    ),
)

_MANIFEST = "manifest.json"
_S3_FOLDER = "s3"
_SECONDS_MAX = 900
_RESOLVE = """
import sys
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[1]").appName("streamtables-setup")
settings = {
    "spark.jars.packages": sys.argv[1],
    "spark.jars.ivy": sys.argv[2],
    "spark.jars.excludes": sys.argv[3],
    "spark.ui.enabled": "false",
    "spark.sql.warehouse.dir": sys.argv[2] + "/warehouse",
}
for name, value in settings.items():
    builder = builder.config(name, value)
builder.getOrCreate().stop()
"""


def s3_folder(folder: Path) -> Path:
    """Return where the jars for S3 are, beside the others."""
    return folder / _S3_FOLDER


def present(folder: Path, bundle: Bundle = REQUIRED) -> tuple[Path, ...] | None:
    """Return the jars in the folder; None when they are missing, partial or of other versions."""
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    sizes: dict[str, int] = manifest.get("jars", {})
    paths = tuple(folder / name for name in sorted(sizes))
    complete = all(path.is_file() and path.stat().st_size == sizes[path.name] for path in paths)
    return (
        paths if complete and paths and manifest.get("packages") == list(bundle.packages) else None
    )


def usable(folder: Path) -> tuple[Path, ...]:
    """Return the jars to start Spark with: resolved ones, or those that someone put there."""
    found = present(folder) or tuple(sorted(folder.glob("*.jar")))
    if any("delta-spark" in path.name for path in found):
        return found
    raise EnvironmentFaultError(
        f'the jars of Delta Lake are not in "{folder}"', hint="Run: streamtables doctor --fix"
    )


def resolve(folder: Path, bundle: Bundle = REQUIRED) -> tuple[Path, ...]:
    """Fetch the jars into the folder unless they are there; return their paths."""
    if (found := present(folder, bundle)) is not None:
        return found
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="streamtables-jars-") as scratch:
        _run_resolver(Path(scratch), bundle)
        fetched = sorted((Path(scratch) / "jars").glob("*.jar"))
        kept = [path for path in fetched if path.name.startswith(bundle.kept)]
        for path in kept:
            _place(path, folder / path.name)
        _write_manifest(folder, kept, bundle)
    return present(folder, bundle) or ()


def _run_resolver(scratch: Path, bundle: Bundle) -> None:
    named, left = ",".join(bundle.packages), ",".join(bundle.excludes)
    command = [sys.executable, "-c", _RESOLVE, named, str(scratch), left]
    try:
        done = subprocess.run(  # a fixed program with our own arguments, no shell
            command, capture_output=True, text=True, timeout=_SECONDS_MAX, cwd=scratch, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise _cannot_resolve(bundle, "The resolver did not finish in time.") from error
    if done.returncode != 0:
        raise _cannot_resolve(bundle, _reason(done.stderr))


def _reason(output: str) -> str:
    marks = ("UNRESOLVED", "unresolved", "not found", "JAVA", "Exception", "Error")
    lines = [line.strip() for line in output.splitlines() if any(m in line for m in marks)]
    return (lines[0] if lines else "Spark's resolver failed")[:300]


def _cannot_resolve(bundle: Bundle, reason: str) -> EnvironmentFaultError:
    return EnvironmentFaultError(
        f"the jars of {bundle.shown} cannot be fetched",
        detail=reason,
        hint="Check Java 17 and the network, or copy the jars into the folder by hand.",
    )


def _place(source: Path, target: Path) -> None:
    """Copy so that the name appears only with the whole file behind it."""
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    shutil.copyfile(source, unfinished)
    unfinished.replace(target)


def _write_manifest(folder: Path, jars: list[Path], bundle: Bundle) -> None:
    # Last, and by rename: a folder without it counts as not resolved.
    manifest = {
        "packages": list(bundle.packages),
        "jars": {path.name: path.stat().st_size for path in jars},
    }
    unfinished = folder / f".{_MANIFEST}.{os.getpid()}"
    unfinished.write_text(json.dumps(manifest, indent=2), encoding="utf-8")
    unfinished.replace(folder / _MANIFEST)
