"""The statements of trigger capture: a buffer table, functions that write to it, triggers.

A writer must never fail because of us, and a change must never be missing in silence.  The one
thing that could do either is a table whose columns are no longer those that a function names.  So
each call first compares a fingerprint of the columns with the one of the installation, and writes
an `X` when they differ.  An exception block around every call would do as well, but it makes a
subtransaction per statement, and those slow down all sessions of a server once a transaction has
more than 64 of them.  It is kept for where the comparison may look at the past: a transaction that
keeps its snapshot reads the columns of then, and its statements meet those of now.
"""

from __future__ import annotations

from psycopg import sql

from streamtables.engine.jdbc_copy import SESSION
from streamtables.sources.postgres import partition_moves
from streamtables.sources.postgres.buffer_columns import Captured
from streamtables.sources.postgres.capture_sql import NUMBERS, capture, marker

EVENTS = ("insert", "update", "delete", "truncate")

# What the text of a value depends on, for types that are stored as text.
_TEXT_SETTINGS = tuple(
    (name, SESSION[name])
    for name in ("DateStyle", "IntervalStyle", "TimeZone", "bytea_output", "extra_float_digits")
)
# The columns of every buffer, and the bytes that their values are aligned to.
_OWN = (
    ("__st_seq bigint GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME {})", 8),
    ("__st_xid xid8 NOT NULL DEFAULT pg_catalog.pg_current_xact_id()", 8),
    ("__st_at timestamptz NOT NULL DEFAULT transaction_timestamp()", 8),
    ("__st_relation oid NOT NULL", 4),
    ('__st_action "char" NOT NULL', 1),
    ("__st_changed bit varying", 0),
)
_TRANSITIONS = {
    "insert": "REFERENCING NEW TABLE AS __st_new",
    "update": "REFERENCING OLD TABLE AS __st_old NEW TABLE AS __st_new",
    "delete": "REFERENCING OLD TABLE AS __st_old",
    "truncate": "",
}


def create_buffer(captured: Captured) -> sql.Composed:
    """Return the statement that makes the buffer.

    There is no index: every writer would pay for it, and a drain reads all that is there.  Rows
    that came or went in one statement share a number, which the functions take; only marks get one
    by default.  A number for each row would be a sixth of what a capture costs.
    """
    own = ((sql.SQL(text).format(captured.numbers), aligned) for text, aligned in _OWN)
    stored = (
        (sql.SQL("{} {}").format(c.identifier, c.stored), 0 if c.own_type else c.aligned)
        for c in captured.columns
    )
    # Wide ones first, and those of many lengths last: then hardly a byte is filling.
    in_order = sorted((*own, *stored), key=lambda column: -column[1])
    return sql.SQL(
        "CREATE TABLE {} (\n    {}\n) "
        "WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000)"
    ).format(captured.buffer, sql.SQL(",\n    ").join(definition for definition, _ in in_order))


def fingerprint(
    relation: sql.Composable, columns: sql.Composable, *, expressions: bool
) -> sql.Composed:
    """Return a number that changes when one of the first columns gets another name or type.

    Columns that are added come after these; one that is dropped keeps its number, without a type.
    With `expressions`, what virtual columns are computed by counts too: that costs a look at one
    more table in each statement, so only tables that have such columns pay for it.
    """
    computed = """ # COALESCE((SELECT d.oid::bigint << 32 FROM pg_catalog.pg_attrdef AS d
        WHERE a.attgenerated = 'v' AND d.adrelid = a.attrelid AND d.adnum = a.attnum), 0)"""
    return sql.SQL(
        """(SELECT bit_xor(hashnameextended(a.attname, a.atttypid::bigint * 4096 + a.attnum{}))
    FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid = {} AND a.attnum BETWEEN 1 AND {})"""
    ).format(sql.SQL(computed if expressions else ""), relation, columns)


def create_function(captured: Captured, event: str) -> sql.Composed:
    """Return the statement that makes or replaces the function of an event."""
    settings = [("search_path", "pg_catalog, pg_temp")]
    if any(column.own_type for column in captured.columns):
        settings += _TEXT_SETTINGS
    clauses = [
        sql.SQL("SET {} = {}").format(
            sql.Identifier(name), sql.SQL(", ").join(map(sql.Literal, value.split(", ")))
        )
        for name, value in settings
    ]
    return sql.SQL(
        "CREATE OR REPLACE FUNCTION {}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER {} AS {}"
    ).format(
        captured.function(event),
        sql.SQL(" ").join(clauses),
        sql.Literal(_body(captured, event).as_string(None)),
    )


def create_trigger(
    captured: Captured, event: str, relation: sql.Identifier, shape: tuple[int, int]
) -> sql.Composed:
    """Return the statement that makes or replaces a trigger.

    `shape` is the fingerprint of the relation's columns, and how many of them it counts; a third
    argument says that expressions count.
    """
    if event in EVENTS:
        clause = sql.SQL("AFTER {} ON {} {} FOR EACH STATEMENT").format(
            sql.SQL(event.upper()), relation, sql.SQL(_TRANSITIONS[event])
        )
    else:
        clause = partition_moves.clause(captured, event, relation)
    return sql.SQL("CREATE OR REPLACE TRIGGER {} {} EXECUTE FUNCTION {}({})").format(
        captured.trigger(event),
        clause,
        captured.function(event),
        sql.SQL(", ").join(
            sql.Literal(str(part)) for part in (*shape, *(("v",) if captured.computes else ()))
        ),
    )


def _body(captured: Captured, event: str) -> sql.Composed:
    if event == "truncate":
        return sql.SQL("BEGIN\n{};\nRETURN NULL;\nEND").format(marker(captured, "T"))
    if event in partition_moves.ON_ALL:
        return partition_moves.begin(captured, event)
    # Columns of the source may be named like variables, so ours are reached by a label.
    return sql.SQL(
        """#variable_conflict use_column
<<__st>>
DECLARE
    relation oid := TG_RELID;
{numbers}
    known boolean := TG_ARGV[0]::bigint IS NOT DISTINCT FROM {fingerprint};
BEGIN
{end}IF NOT __st.known THEN
    {unexplained};
ELSIF current_setting('transaction_isolation') = 'read committed' THEN
    {capture};
ELSE
    BEGIN
        {capture};
    EXCEPTION WHEN syntax_error_or_access_rule_violation OR data_exception THEN
        {unexplained};
    END;
END IF;
RETURN NULL;
END"""
    ).format(
        fingerprint=fingerprint(
            sql.SQL("TG_RELID"), sql.SQL("TG_ARGV[1]::int2"), expressions=captured.computes
        ),
        unexplained=marker(captured, "X"),
        numbers=_variables(captured, event),
        **_work(captured, event),
    )


def _work(captured: Captured, event: str) -> dict[str, sql.Composable]:
    """Return what is done whatever the columns are, and what captures the rows."""
    nothing = sql.SQL("")
    if event in partition_moves.ON_ROWS:
        return {"end": nothing, "capture": partition_moves.note_row(captured, event)}
    rows = capture(captured, event)
    if not captured.moves:
        return {"end": nothing, "capture": rows}
    judged = sql.SQL("{};{}").format(rows, partition_moves.judge(captured, event))
    return {"end": partition_moves.end(captured, event), "capture": judged}


def _variables(captured: Captured, event: str) -> sql.Composed:
    """Return the variables, first the numbers of what goes and of what comes, in this order."""
    number = sql.Literal(captured.numbers.as_string(None))
    numbers = sql.SQL("\n").join(
        sql.SQL("    {} bigint := nextval({}::regclass);").format(sql.SQL(name), number)
        for name in NUMBERS.get(event, ())
    )
    return numbers + partition_moves.VARIABLES if captured.moves else numbers
