"""A PostgreSQL table kept equal to a stream table, exactly once.

One transaction applies a window and moves the position that stands beside the table: after any
crash the target itself says what it has.  A row is found by a hash of its key, or, where the stream
table is a bag, of the whole row, which is then stored once with its count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from psycopg import Connection, sql

from streamtables.engine.names import WEIGHT
from streamtables.errors import TargetRefusedError
from streamtables.fail_points import reach
from streamtables.publish.postgres_types import postgres_type, value_for
from streamtables.publish.reading import Changes
from streamtables.sources.postgres.server import Server

SCHEMA = "streamtables_publish"
HASH, COUNT = "__st_key", "__st_count"
_POSITIONS = f"""
CREATE SCHEMA IF NOT EXISTS {SCHEMA};
CREATE TABLE IF NOT EXISTS {SCHEMA}.positions (
    target text PRIMARY KEY, publication text NOT NULL, subscriber text NOT NULL,
    incarnation text NOT NULL, version bigint NOT NULL, columns text NOT NULL)
"""
_STAGE = sql.Identifier("__st_stage")


class PostgresSink:
    """Keeps one table of one database."""

    def __init__(self, publication_id: str, subscriber: str, address: str, table: str) -> None:
        self._owner = (publication_id, subscriber)
        self._server = Server(address)
        self._name = table
        self._table = sql.Identifier(*table.split("."))

    def position(self) -> tuple[str, int] | None:
        """Return what the target has; None where nothing was ever pushed."""
        with self._server.connected("publish", whole=False) as connection:
            known = connection.execute(
                "SELECT to_regclass(%s) IS NOT NULL", (f"{SCHEMA}.positions",)
            ).fetchone()
            if known != (True,):
                return None
            found = self._claimed(connection)
        return None if found is None else (found[0], found[1])

    def deliver(self, changes: Changes) -> int:
        """Apply a window and move the position, both or neither."""
        with self._server.connected("publish", autocommit=False, whole=False) as connection:
            connection.execute(_POSITIONS)
            claimed = self._claimed(connection, lock=True)
            if claimed is not None and claimed[:2] == (changes.incarnation, changes.upto):
                return 0
            if not changes.reset and (
                claimed is None or claimed[:2] != (changes.incarnation, changes.after)
            ):
                raise self._not_as_left("it stands at another version")
            total = self._applied(connection, changes, claimed)
            reach("push-applied")
        reach("push-committed")
        return total

    def _applied(
        self, connection: Connection[Any], changes: Changes, claimed: tuple[str, int, str] | None
    ) -> int:
        names = changes.schema.names[:-1]
        kinds = [postgres_type(f.name, f.type) for f in changes.schema if f.name != WEIGHT]
        shape = repr((list(zip(names, kinds, strict=True)), changes.key_columns))
        if claimed is None or (changes.reset and claimed[2] != shape):
            self._make(connection, names, kinds, drop=claimed is not None)
        elif claimed[2] != shape:
            raise self._not_as_left("it has other columns")
        elif changes.reset:
            connection.execute(sql.SQL("DELETE FROM {}").format(self._table))
        total = self._staged(connection, changes, kinds)
        hashed = changes.key_columns if changes.key_columns is not None else names
        if changes.key_columns is None:
            self._apply_bag(connection, names, hashed)
        else:
            self._apply_keyed(connection, names, hashed)
        connection.execute(
            f"INSERT INTO {SCHEMA}.positions VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (target) "
            "DO UPDATE SET incarnation = excluded.incarnation, version = excluded.version, "
            "columns = excluded.columns",
            (self._name, *self._owner, changes.incarnation, changes.upto, shape),
        )
        return total

    def _claimed(
        self, connection: Connection[Any], *, lock: bool = False
    ) -> tuple[str, int, str] | None:
        """Return the position of the target, or refuse a target that is not ours."""
        row = connection.execute(
            "SELECT publication, subscriber, incarnation, version, columns "
            f"FROM {SCHEMA}.positions WHERE target = %s" + (" FOR UPDATE" if lock else ""),
            (self._name,),
        ).fetchone()
        [there] = connection.execute("SELECT to_regclass(%s)", (self._quoted,)).fetchone() or [None]
        if row is None:
            if there is not None:
                raise TargetRefusedError(
                    f'the PostgreSQL table "{self._name}" was not made by a publication',
                    hint="Name a table that does not exist yet; it is created.",
                )
            return None
        if (row[0], row[1]) != self._owner:
            raise TargetRefusedError(
                f'the PostgreSQL table "{self._name}" belongs to another subscriber',
                hint=f"Name another table, or drop it and its row in {SCHEMA}.positions.",
            )
        if there is None:
            raise self._not_as_left("it is gone")
        return row[2], row[3], row[4]

    @property
    def _quoted(self) -> str:
        return self._table.as_string(None)

    def _make(
        self, connection: Connection[Any], names: Sequence[str], kinds: Sequence[str], *, drop: bool
    ) -> None:
        if drop:
            connection.execute(sql.SQL("DROP TABLE {}").format(self._table))
        columns = [
            sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(kind))
            for name, kind in zip(names, kinds, strict=True)
        ]
        connection.execute(
            sql.SQL("CREATE TABLE {} ({}, {} text PRIMARY KEY, {} bigint NOT NULL)").format(
                self._table,
                sql.SQL(", ").join(columns),
                sql.Identifier(HASH),
                sql.Identifier(COUNT),
            )
        )

    def _staged(self, connection: Connection[Any], changes: Changes, kinds: Sequence[str]) -> int:
        """Bring the changed rows into a table of this transaction."""
        names = changes.schema.names[:-1]
        columns = [
            sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(kind))
            for name, kind in zip(names, kinds, strict=True)
        ]
        connection.execute(
            sql.SQL("CREATE TEMP TABLE {} ({}, {} bigint) ON COMMIT DROP").format(
                _STAGE, sql.SQL(", ").join(columns), sql.Identifier(WEIGHT)
            )
        )
        total, types = 0, [field.type for field in changes.schema]
        with (
            connection.cursor() as cursor,
            cursor.copy(sql.SQL("COPY {} FROM STDIN").format(_STAGE)) as copy,
        ):
            for batch in changes.batches:
                for row in _python_rows(batch):
                    pairs = zip(row.values(), types, strict=True)
                    copy.write_row([value_for(value, kind) for value, kind in pairs])
                    total += 1
        return total

    def _apply_bag(
        self, connection: Connection[Any], names: Sequence[str], hashed: Sequence[str]
    ) -> None:
        """Add the weights to the counts; a row whose count reaches nothing goes."""
        statement = sql.SQL(
            "INSERT INTO {table} AS t SELECT {columns}, {hash}, sum({weight}) FROM {stage} "
            "GROUP BY {columns} HAVING sum({weight}) <> 0 "
            "ON CONFLICT ({key}) DO UPDATE SET {count} = t.{count} + excluded.{count}"
        )
        connection.execute(self._filled(statement, names, hashed))
        bad = sql.SQL("SELECT EXISTS (SELECT FROM {} WHERE {} < 0)")
        if connection.execute(bad.format(self._table, sql.Identifier(COUNT))).fetchone() == (True,):
            raise self._not_as_left("a row that goes is not there")
        gone = sql.SQL("DELETE FROM {} WHERE {} = 0")
        connection.execute(gone.format(self._table, sql.Identifier(COUNT)))

    def _apply_keyed(
        self, connection: Connection[Any], names: Sequence[str], hashed: Sequence[str]
    ) -> None:
        """Take away the rows that went, then bring those that came."""
        wanted = sql.SQL("SELECT count(*) FROM {stage} WHERE {weight} < 0")
        [expected] = connection.execute(self._filled(wanted, names, hashed)).fetchone() or [0]
        gone = sql.SQL(
            "DELETE FROM {table} AS t USING (SELECT {hash} AS h FROM {stage} WHERE {weight} < 0) s "
            "WHERE t.{key} = s.h"
        )
        if connection.execute(self._filled(gone, names, hashed)).rowcount != expected:
            raise self._not_as_left("a row that goes is not there")
        came = sql.SQL(
            "INSERT INTO {table} SELECT {columns}, {hash}, 1 FROM {stage} WHERE {weight} > 0"
        )
        connection.execute(self._filled(came, names, hashed))

    def _filled(
        self, statement: sql.SQL, names: Sequence[str], hashed: Sequence[str]
    ) -> sql.Composed:
        listed = sql.SQL(", ").join(map(sql.Identifier, hashed))
        return statement.format(
            table=self._table,
            stage=_STAGE,
            columns=sql.SQL(", ").join(map(sql.Identifier, names)),
            hash=sql.SQL("md5(ROW({})::text)").format(listed),
            key=sql.Identifier(HASH),
            count=sql.Identifier(COUNT),
            weight=sql.Identifier(WEIGHT),
        )

    def _not_as_left(self, why: str) -> TargetRefusedError:
        return TargetRefusedError(
            f'the PostgreSQL table "{self._name}" is not as the last push left it',
            detail=f"Reason: {why}.",
            hint=f"Drop the table and its row in {SCHEMA}.positions, unsubscribe, and subscribe "
            "anew: it is filled from a snapshot.",
        )


def _python_rows(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    try:
        rows: list[dict[str, Any]] = batch.to_pylist()
    except (OverflowError, ValueError) as error:
        # Arrow holds times that Python, and with it the driver, has no form for.
        raise TargetRefusedError(
            "a value of the stream table has no form in PostgreSQL", detail=f"{error}."
        ) from error
    return rows
