"""`streamtables init FOLDER`: the files of a new project, which runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path

from streamtables.errors import AlreadyExistsError, ConfigError
from streamtables.project_file import FILE_NAME

_PROJECT = """\
# The project: its name, its environments, and what each of them chooses.
name = "{name}"
default_environment = "dev"

# Settings of all environments; `docs/settings.md` lists them.
[settings]
# history_keep = 1_000

[environments.dev]
warehouse = "warehouse/dev"

[environments.prod]
warehouse = "warehouse/prod"
# Secrets are references, never values:
# catalog = "${{env:SHOP_CATALOG_URL}}"

[environments.prod.settings]
retention_hours = 720

# What an environment chooses for a table; "*" speaks for those that say nothing themselves.
[environments.prod.tables."*"]
schedule = "5 minutes"
"""

_SOURCE = """\
# A Delta table by its path, seen from the folder of the project.
path = "data/orders"
key = ["order_id"]

# Another place in another environment:
# [environments.prod]
# path = "/lake/orders"

# A name in Spark's catalog:        table = "shop.orders"
# A table of PostgreSQL:            postgres = "${env:SHOP_URL}"
#                                   table = "public.orders"
# A folder of files:                files = "landing/orders"
"""

_TABLE = """\
---
description: What each city ordered, in all.
tags: example
---
SELECT city, count(*) AS orders, sum(amount) AS total
FROM orders
GROUP BY city
"""

_PYTHON_TABLE = '''\
"""Stream tables in Python: functions that return SQL. `plan` and `apply` run this file."""

from streamtables import stream_table

LEAST = 100


@stream_table(description="The cities that ordered most.", tags=["example"])
def large_cities():
    return f"SELECT city, total FROM revenue WHERE total >= {LEAST}"
'''

_IGNORED = """\
# Rows, catalogs and what programs leave behind; definitions are what is kept.
/warehouse/
/data/
/spark-warehouse/
metastore_db/
derby.log
__pycache__/
.env
"""

_README = """\
# {name}

Stream tables of this project, and where their rows come from.

| what | where |
|---|---|
| the project and its environments | `streamtables.toml` |
| sources: tables that others write | `sources/*.toml` |
| stream tables, in SQL and in Python | `tables/` |
| rows of an environment | `warehouse/` |

```sh
streamtables plan              # what would change, and what was changed by hand
streamtables apply             # shows the same, asks, applies it
streamtables refresh           # brings all tables up to date
streamtables read revenue
streamtables --env prod plan   # another environment
```

`data/orders` holds ten made-up orders: put the place of your own table into `sources/orders.toml`.
"""

_CITIES = ("Bern", "Lyon", "Oslo")


def make_project(folder: Path) -> list[str]:
    """Write a new project; return the files that were made.

    Raises:
        AlreadyExistsError: one of them is there already; nothing is written then.
    """
    name = re.sub(r"[^\w-]", "-", folder.absolute().name) or "project"
    files = {
        FILE_NAME: _PROJECT.format(name=name),
        "sources/orders.toml": _SOURCE,
        "tables/revenue.sql": _TABLE,
        "tables/large_cities.py": _PYTHON_TABLE,
        ".gitignore": _IGNORED,
        "README.md": _README.format(name=name),
    }
    taken = [path for path in [*files, "data/orders"] if (folder / path).exists()]
    if taken:
        raise AlreadyExistsError(
            f'"{folder / taken[0]}" is there already',
            detail=f"A project would be written over: {', '.join(taken)}. Nothing was changed.",
            hint="Name another folder.",
        )
    try:
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f'cannot make a project in "{folder}"', detail=f"{error.strerror}."
        ) from error
    _write_orders(folder / "data" / "orders")
    return [*files, "data/orders"]


def _write_orders(path: Path) -> None:
    import pyarrow as pa

    from streamtables.engine.example_table import write_example

    numbers = range(1, 11)
    write_example(
        path,
        pa.table(
            {
                "order_id": pa.array(numbers, pa.int64()),
                "city": [_CITIES[number % len(_CITIES)] for number in numbers],
                "amount": pa.array([number * 10 for number in numbers], pa.int64()),
            }
        ),
    )
