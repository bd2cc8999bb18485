"""What a trigger's function does with the rows of a statement.

A change is one row that went (`D`) or came (`I`); an update is both.  Two more actions hold no row:
`T`, the relation lost all its rows, and `X`, what a statement did is not in the buffer.

The two transition tables of an update are filled row by row, both at once, so position pairs them.
A row that an update left as it was is not written.  A row that moves to another partition may be
refused there, by a trigger: it went, and none came.  Then position pairs some rows that are not
one, and leaves others alone.  All went and all came nevertheless, which is what is written.

What a statement took away has one number and what it brought the next, so the order of the numbers
is the order of events: a key that moved from one row to another is gone before it comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from psycopg import sql

from streamtables.sources.postgres.buffer_columns import BufferColumn, Captured

_BITS = 60
"""How many columns share one number while differences are collected."""
NUMBERS = {"insert": ("came",), "update": ("went", "came"), "delete": ("went",)}
"""The variables of a function that hold the numbers of its rows, in the order they are taken."""


def marker(captured: Captured, action: str) -> sql.Composed:
    """Return the statement that writes a row without values."""
    return sql.SQL("INSERT INTO {} (__st_action, __st_relation) VALUES ({}, TG_RELID)").format(
        captured.buffer, sql.Literal(action)
    )


def capture(captured: Captured, event: str) -> sql.Composed:
    """Return the statement that writes the rows of an event; the relation is in `__st.relation`."""
    if event == "update":
        return _both_sides(captured)
    if event == "insert":
        return _one_side(captured, "I", "came", "__st_new")
    return _one_side(captured, "D", "went", "__st_old")


def _one_side(captured: Captured, action: str, number: str, rows: str) -> sql.Composed:
    return sql.SQL("{} __st.{}, {}, NULL, __st.relation{} FROM {} AS t").format(
        _insert_select(captured),
        sql.SQL(number),
        sql.Literal(action),
        _each(", {}", ((column.value,) for column in captured.columns)),
        sql.Identifier(rows),
    )


def _both_sides(captured: Captured) -> sql.Composed:
    """Return both halves of the rows that changed.

    The planner sees how many rows the first call has, and keeps the plan for all later ones.  A
    full join has no plan that compares all pairs, however few rows those were.  OFFSET 0 keeps it
    a full one, and keeps the differences from being computed once more for each half.
    """
    numbers = range(len(captured.columns))
    halves = ((sql.Identifier(f"n{n}"), sql.Identifier(f"o{n}")) for n in numbers)
    return sql.SQL(
        """{insert} CASE WHEN half.came THEN __st.came ELSE __st.went END,
            half.action, p.mask, __st.relation{halves}
        FROM (SELECT d.*, {mask} AS mask FROM ({pairs} OFFSET 0) AS d
            WHERE d.went IS NULL OR d.came IS NULL OR {changed} OFFSET 0) AS p
        JOIN (VALUES (false, 'D'::"char"), (true, 'I')) AS half(came, action)
            ON CASE WHEN half.came THEN p.came ELSE p.went END IS NOT NULL"""
    ).format(
        insert=_insert_select(captured),
        halves=_each(", CASE WHEN half.came THEN p.{} ELSE p.{} END", halves),
        mask=_mask(captured),
        pairs=_pairs(captured),
        changed=sql.SQL(" OR ").join(
            sql.SQL("d.{} <> 0").format(bits) for bits, _ in _groups(captured.columns)
        ),
    )


def _pairs(captured: Captured) -> sql.Composed:
    """Return what each row was, what it became, and numbers whose bits say which columns differ."""
    columns = captured.columns
    values = (
        (c.identifier, sql.Identifier(f"o{n}"), sql.Identifier(f"n{n}"))
        for n, c in enumerate(columns)
    )
    numbers = ((_number(group), bits) for bits, group in _groups(columns))
    return sql.SQL(
        "SELECT {numbers}, o.__st_row AS went, n.__st_row AS came{values} "
        "FROM {old} AS o FULL JOIN {new} AS n ON o.__st_row = n.__st_row"
    ).format(
        numbers=sql.SQL(", ").join(sql.SQL("{} AS {}").format(*pair) for pair in numbers),
        values=_each(", o.{0} AS {1}, n.{0} AS {2}", values),
        old=_numbered("__st_old", columns),
        new=_numbered("__st_new", columns),
    )


def _numbered(rows: str, columns: Sequence[BufferColumn]) -> sql.Composed:
    return sql.SQL("(SELECT row_number() OVER () AS __st_row{} FROM {} AS t)").format(
        _each(", {} AS {}", ((c.value, c.identifier) for c in columns)), sql.Identifier(rows)
    )


def _number(group: Sequence[BufferColumn]) -> sql.Composed:
    """Return the differences of some columns, the first one in the highest bit."""
    weights = (sql.Literal(1 << (len(group) - 1 - n)) for n in range(len(group)))
    return sql.SQL(" | ").join(
        sql.SQL("CASE WHEN {} THEN {}::bigint ELSE 0 END").format(column.differs, weight)
        for column, weight in zip(group, weights, strict=True)
    )


def _mask(captured: Captured) -> sql.Composed:
    """Return one bit per column; NULL, which is all, where a row cannot be told by its key."""
    if not captured.key:
        return sql.SQL("NULL::varbit").format()
    groups = list(_groups(captured.columns))
    same_key = sql.SQL(" AND ").join(
        sql.SQL("d.{} & {}::bigint = 0").format(bits, sql.Literal(_key_bits(captured, group)))
        for bits, group in groups
    )
    texts = sql.SQL(" || ").join(
        sql.SQL("d.{}::bit({})").format(bits, sql.Literal(len(group))) for bits, group in groups
    )
    return sql.SQL("CASE WHEN d.went = d.came AND {} THEN {} END").format(same_key, texts)


def _key_bits(captured: Captured, group: Sequence[BufferColumn]) -> int:
    return sum(1 << (len(group) - 1 - n) for n, c in enumerate(group) if c.name in captured.key)


def _groups(
    columns: Sequence[BufferColumn],
) -> Iterable[tuple[sql.Identifier, Sequence[BufferColumn]]]:
    for start in range(0, len(columns), _BITS):
        yield sql.Identifier(f"bits{start}"), columns[start : start + _BITS]


def _insert_select(captured: Captured) -> sql.Composed:
    names = _each(", {}", ((column.identifier,) for column in captured.columns))
    return sql.SQL(
        "INSERT INTO {} (__st_seq, __st_action, __st_changed, __st_relation{}) "
        "OVERRIDING SYSTEM VALUE SELECT"
    ).format(captured.buffer, names)


def _each(shape: str, parts: Iterable[tuple[sql.Composable, ...]]) -> sql.Composed:
    return sql.SQL("").join(sql.SQL(shape).format(*part) for part in parts)
