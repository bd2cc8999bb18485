"""Files of sources: where each is in an environment, and no secrets in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtables.errors import AlreadyExistsError, ConfigError
from streamtables.project.source_files import SourceFile, read_sources
from streamtables.project_file import project_in
from tests.unit.project.shop_project import PROJECT, write


def sources(folder: Path, environment: str = "dev", **files: str) -> list[SourceFile]:
    write(folder, streamtables_dot_toml=PROJECT)
    write(folder / "sources", **files)
    project = project_in(folder)
    assert project is not None
    return list(read_sources(project, project.environment(environment)))


def test_a_path_starts_at_the_project_and_an_environment_may_name_another(tmp_path: Path):
    text = 'path = "data/orders"\nkey = "id"\n[environments.prod]\npath = "s3://lake/orders"\n'
    (dev,) = sources(tmp_path, orders_dot_toml=text)
    (prod,) = sources(tmp_path, "prod")
    assert (dev.name, dev.path, dev.key) == ("orders", str(tmp_path / "data/orders"), ("id",))
    assert (prod.path, prod.key) == ("s3://lake/orders", ("id",))


def test_an_environment_may_have_another_kind_of_source(tmp_path: Path):
    text = (
        'name = "shop.customers"\npath = "data/customers"\n'
        '[environments.prod]\npostgres = "${env:SHOP_URL}"\ntable = "public.customers"\n'
        'capture = "wal"\ntypes = { price = "decimal(20,4)" }\n'
    )
    (dev,) = sources(tmp_path, c_dot_toml=text)
    (prod,) = sources(tmp_path, "prod")
    assert (dev.name, dev.postgres, dev.table) == ("shop.customers", None, None)
    assert (prod.path, prod.postgres, prod.table) == (None, "${env:SHOP_URL}", "public.customers")
    assert (prod.capture, prod.types) == ("wal", (("price", "decimal(20,4)"),))
    assert prod.place == "public.customers of ${env:SHOP_URL}"


def test_a_folder_of_files_and_how_they_are_read(tmp_path: Path):
    text = (
        'files = "landing"\nformat = "csv"\nschema = "id INT"\npattern = "*.txt"\n'
        'options = { sep = ";" }\n[environments.prod]\nfiles = "s3://lake/landing"\n'
    )
    (dev,) = sources(tmp_path, orders_dot_toml=text)
    (prod,) = sources(tmp_path, "prod")
    assert (dev.files, dev.path, dev.by_name) == (str(tmp_path / "landing"), None, False)
    assert (dev.format, dev.schema, dev.pattern) == ("csv", "id INT", "*.txt")
    assert (prod.place, prod.options) == ("s3://lake/landing", (("sep", ";"),))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "does not say where"),
        ('path = "a"\nfiles = "b"\n', "does not say where"),
        ('files = "a"\noptions = { sep = 1 }\n', "is not a text"),
        ('path = "a"\ntable = "b"\n', "does not say where"),
        ('postgres = "${env:X}"\n', "does not say where"),
        ('postgres = "postgresql://me:secret@h/d"\ntable = "t"\n', "holds a password"),
        ('postgres = "host=h password=secret"\ntable = "t"\n', "holds a password"),
        ('path = "a"\nkeys = ["id"]\n', 'unknown key "keys"'),
        ('path = "a"\nkey = [1]\n', "not a list of names"),
        ('path = "a"\nenable_change_feed = "yes"\n', "neither true nor false"),
        ('path = "a"\n[environments.prd]\npath = "b"\n', 'no environment "prd"'),
        ('path = "a"\n[environments.prod]\nname = "b"\n', 'unknown key "name"'),
        ("path = ", "cannot read"),
    ],
)
def test_what_a_file_cannot_mean_is_refused(tmp_path: Path, text: str, said: str):
    with pytest.raises(ConfigError) as raised:
        sources(tmp_path, orders_dot_toml=text)
    assert said in raised.value.message
    assert "secret" not in f"{raised.value.message}{raised.value.detail}"


def test_two_files_for_one_source_are_refused(tmp_path: Path):
    with pytest.raises(AlreadyExistsError):
        sources(
            tmp_path, a_dot_toml='name = "x"\npath = "a"\n', b_dot_toml='name = "X"\npath = "b"\n'
        )
