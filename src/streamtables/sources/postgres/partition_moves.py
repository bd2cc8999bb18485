"""Rows that a MERGE moves between partitions, which triggers for statements do not all see.

A move takes a row out of one partition and puts it into another.  Of an UPDATE, both halves are
with the other rows that it updated.  Of a MERGE, the server keeps them with the rows that it
deleted and inserted, and fires triggers for deletes and inserts only where the statement names
such an action.  What a move leaves out then is noticed here, and marked as not captured.

A setting of the transaction has a letter for each statement on the table or a partition that has
begun and not ended, the innermost last; other settings say what it did to the rows of partitions.

    u    an UPDATE, or a MERGE that updates and does not delete: a row that went was moved.  The
         first one is with the rows of an UPDATE, and not with those of a MERGE, for rows that are
         equal in all columns are in one partition, and a statement treats them alike
    d    a statement that deletes, begun within one that updates: rows that went are counted, and
         have to be as many as its trigger has.  So are rows that came.  These are lost unless the
         statement inserts as well, whose trigger fires after that of updates: it has as many
         rows, with the first one among them, and takes the mark back

Two statements of one query, such as a MERGE and the UPDATE of a WITH, do not end before both have
run.  Moves that could be of either are marked.

Invariant: only the first row that a statement moves runs a function, so others cost next to
nothing; and no doubt is left without a mark.
"""

from __future__ import annotations

from dataclasses import dataclass

from psycopg import sql

from streamtables.sources.postgres.buffer_columns import Captured

MERGES_FROM = 150_000
"""The version of the server that has MERGE."""
ON_ALL = ("begin_insert", "begin_update", "begin_delete")
"""Triggers of the table and its partitions."""
ON_ROWS = ("row_left", "row_came")
"""Triggers of partitions that have rows."""
VARIABLES = sql.SQL("\n    under_way text;\n    place int;\n    moved text;\n    mark tid;")

_MARK = "1"
"""What the mark has in `__st_changed`, where other marks have nothing."""


@dataclass(frozen=True)
class _Settings:
    """Our settings of the transaction; unset is empty."""

    tag: str

    def name(self, name: str) -> sql.Literal:
        return sql.Literal(f"streamtables.{name}_{self.tag}")

    def get(self, name: str) -> sql.Composed:
        shape = "COALESCE(pg_catalog.current_setting({}, true), '')"
        return sql.SQL(shape).format(self.name(name))

    def count(self, name: str) -> sql.Composed:
        return sql.SQL("COALESCE(NULLIF({}, ''), '0')::int").format(self.get(name))

    def set(self, name: str, value: sql.Composable) -> sql.Composed:
        return sql.SQL("pg_catalog.set_config({}, {}, true)").format(self.name(name), value)

    def put(self, name: str, value: str, **parts: sql.Composable) -> sql.Composed:
        """Return the statement that sets one."""
        return sql.SQL("PERFORM {}").format(self.set(name, sql.SQL(value).format(**parts)))


def clause(captured: Captured, event: str, relation: sql.Identifier) -> sql.Composed:
    """Return when a trigger fires."""
    settings = _Settings(captured.tag)
    moment, each, condition = {
        "begin_insert": ("BEFORE INSERT", "STATEMENT", _insert_matters(settings)),
        "begin_update": ("BEFORE UPDATE", "STATEMENT", sql.SQL("true")),
        "begin_delete": (
            "BEFORE DELETE",
            "STATEMENT",
            sql.SQL("{} <> ''").format(settings.get("under_way")),
        ),
        "row_left": ("AFTER DELETE", "ROW", _row_left(settings)),
        "row_came": ("AFTER INSERT", "ROW", _row_came(settings)),
    }[event]
    return sql.SQL("{} ON {} FOR EACH {} WHEN ({})").format(
        sql.SQL(moment), relation, sql.SQL(each), condition
    )


def begin(captured: Captured, event: str) -> sql.Composed:
    """Return the body of the function that notes the begin of a statement."""
    settings = _Settings(captured.tag)
    if event == "begin_insert":
        note = sql.SQL("{};\n{};\nIF __st.place > 0 AND {} = 'd' THEN\n    {};\nEND IF").format(
            # What is owed is owed by a statement that has ended.
            settings.put("debt", "''"),
            _find(settings, "u"),
            _top(settings),
            settings.put("moved", "{moved} || ';' || __st.place || '!'", **_moved(settings)),
        )
    else:
        letter = sql.Literal(event.removeprefix("begin_")[0])
        note = settings.put(
            "under_way", "{was} || {letter}", was=settings.get("under_way"), letter=letter
        )
    return sql.SQL("<<__st>>\nDECLARE{}\nBEGIN\n{};\nRETURN NULL;\nEND").format(VARIABLES, note)


def note_row(captured: Captured, event: str) -> sql.Composed:
    """Return the statements that note the first row of a statement that went or came."""
    settings = _Settings(captured.tag)
    sign, row = ("<", "OLD") if event == "row_left" else (">", "NEW")
    return sql.SQL(
        """{find};
    IF __st.place > 0 THEN
        {put};
    END IF"""
    ).format(
        find=_find(settings, "u"),
        put=settings.put(
            "moved",
            """{moved} || ';' || __st.place || CASE
            WHEN length(__st.under_way) - length(replace(lower(__st.under_way), 'u', '')) > 1
            THEN '!' ELSE {sign} || (SELECT {number} FROM (SELECT {row}.*) AS t) END""",
            sign=sql.Literal(sign),
            number=_number(captured),
            row=sql.SQL(row),
            **_moved(settings),
        ),
    )


def end(captured: Captured, event: str) -> sql.Composed:
    """Return the statements that note the end of a statement, before its rows are captured."""
    settings = _Settings(captured.tag)
    if event == "insert":
        return sql.SQL(
            "__st.moved := NULLIF({}, '');\nIF __st.moved IS NOT NULL THEN\n    {};\nEND IF;\n"
        ).format(settings.get("debt"), settings.put("debt", "''"))
    took = {
        # The sign of a row that was noted, and its number; what is not asked for here stays.
        "update": sql.SQL(
            """
    __st.moved := substring({moved} FROM ';' || __st.place || '([<>!].*)$');
    IF __st.moved IS NOT NULL THEN
        {put};
    END IF;"""
        ).format(
            put=settings.put(
                "moved",
                "left({moved}, -length(';' || __st.place || __st.moved))",
                **_moved(settings),
            ),
            **_moved(settings),
        ),
        "delete": sql.SQL("\n    __st.moved := {};\n    {};").format(
            settings.count("left"), settings.put("left", "''")
        ),
    }[event]
    return sql.SQL("{};\nIF __st.place > 0 THEN\n    {};{}\nEND IF;\n").format(
        _find(settings, event[0]),
        settings.put(
            "under_way",
            "left(__st.under_way, __st.place - 1) || substr(__st.under_way, __st.place + 1)",
        ),
        took,
    )


def judge(captured: Captured, event: str) -> sql.Composed:
    """Return the statements that mark what was left out, after the rows were captured."""
    settings = _Settings(captured.tag)
    parts = {
        "mark": sql.SQL(
            "INSERT INTO {} (__st_action, __st_relation, __st_changed) VALUES ('X', TG_RELID, {})"
        ).format(captured.buffer, sql.SQL("B'{}'").format(sql.SQL(_MARK))),
        "number": _number(captured),
        "buffer": captured.buffer,
        "came": settings.count("came"),
        "none": settings.put("came", "''"),
    }
    if event == "delete":
        shape = """
        IF __st.moved <> (SELECT count(*)::text FROM __st_old) THEN
            {mark};
        END IF;"""
    elif event == "insert":
        shape = """
        IF split_part(__st.moved, ' ', 3) = (SELECT count(*)::text FROM __st_new)
            AND EXISTS (SELECT FROM __st_new AS t
                WHERE {number} = split_part(__st.moved, ' ', 2)) THEN
            DELETE FROM {buffer} WHERE ctid = split_part(__st.moved, ' ', 1)::tid
                AND __st_action = 'X' AND __st_xid = pg_current_xact_id();
        END IF;"""
    else:
        shape = """
        IF __st.moved ~ '^>[^;]*$' THEN
            {mark} RETURNING ctid INTO __st.mark;
            {owe};
        ELSIF __st.moved !~ '^<[^;]*$' OR NOT EXISTS (
                SELECT FROM __st_old AS t WHERE {number} = substr(__st.moved, 2)) THEN
            {mark};
        END IF;
        {none};"""
        parts["owe"] = settings.put(
            "debt",
            "__st.mark::text || ' ' || substr(__st.moved, 2) || ' ' || {came}",
            came=parts["came"],
        )
    # What asks for more than a variable costs as much as a statement.
    judged = sql.SQL(shape).format(**parts)
    return sql.SQL("\n    IF __st.moved IS NOT NULL THEN{}\n    END IF").format(judged)


def _number(captured: Captured) -> sql.Composed:
    """Return a number made of the row `t`, as a text; partitions may compute columns otherwise.

    Each value has one: all of a wide row may be longer than a text can be.
    """
    numbers = (
        sql.SQL('hashtextextended({} COLLATE "C", 0)').format(
            sql.SQL("sha256({})::text" if c.type_name == "bytea" else "({})::text").format(c.value)
        )
        for c in captured.columns
        if not c.expression
    )
    return sql.SQL('hashtextextended(ARRAY[{}]::text COLLATE "C", 0)::text').format(
        sql.SQL(", ").join(numbers)
    )


def _insert_matters(settings: _Settings) -> sql.Composed:
    return sql.SQL("{} <> '' OR {} = 'd'").format(settings.get("debt"), _top(settings))


def _row_left(settings: _Settings) -> sql.Composed:
    """Return whether a row that went is to be looked at; it is counted where it is not."""
    return sql.SQL("CASE {} WHEN 'u' THEN {} <> '' WHEN 'd' THEN {} = '' ELSE false END").format(
        # Once for a statement: its letter is a capital then.
        sql.SQL("CASE WHEN {0} = 'U' THEN '' ELSE pg_catalog.lower({0}) END").format(
            _last(settings)
        ),
        _capital(settings, "U"),
        _one_more(settings, "left"),
    )


def _row_came(settings: _Settings) -> sql.Composed:
    """Return whether a row that came is to be looked at; it is counted in any case."""
    return sql.SQL(
        "CASE {} WHEN 'd' THEN {} <> '' AND {} <> '' WHEN 'D' THEN {} = '' ELSE false END"
    ).format(
        _last(settings),
        _capital(settings, "D"),
        _one_more(settings, "came"),
        _one_more(settings, "came"),
    )


def _capital(settings: _Settings, letter: str) -> sql.Composed:
    value = sql.SQL("pg_catalog.left({}, -1) || {}").format(
        settings.get("under_way"), sql.Literal(letter)
    )
    return settings.set("under_way", value)


def _one_more(settings: _Settings, name: str) -> sql.Composed:
    return settings.set(name, sql.SQL("({} + 1)::text").format(settings.count(name)))


def _last(settings: _Settings) -> sql.Composed:
    return sql.SQL("pg_catalog.right({}, 1)").format(settings.get("under_way"))


def _top(settings: _Settings) -> sql.Composed:
    return sql.SQL("pg_catalog.lower({})").format(_last(settings))


def _moved(settings: _Settings) -> dict[str, sql.Composable]:
    return {"moved": settings.get("moved")}


def _find(settings: _Settings, letter: str) -> sql.Composed:
    """Return the statements that find the innermost statement of a letter; 0 where there is none.

    A foreign key of the table to itself may end statements in another order than they began in.
    """
    return sql.SQL(
        """__st.under_way := {};
    __st.place := CASE WHEN strpos(lower(__st.under_way), {letter}) > 0 THEN length(__st.under_way)
        - strpos(reverse(lower(__st.under_way)), {letter}) + 1 ELSE 0 END"""
    ).format(settings.get("under_way"), letter=sql.Literal(letter))
