"""A table, and its capture as the first layout had it: old and new values side by side."""

from __future__ import annotations

from streamtables.sources.postgres.server import SCHEMA

CREATE_ITEMS = (
    "CREATE TYPE mood AS ENUM ('sad', 'happy')",
    'CREATE TABLE items (id int PRIMARY KEY, mood mood, "A.b" numeric(8, 2))',
    "INSERT INTO items SELECT n, 'sad', n FROM generate_series(1, 9) n",
)


def wide_capture(tag: str) -> str:
    """Return the statements that make buffer, functions and triggers for the table `items`."""
    return f"""
CREATE TABLE {SCHEMA}.changes_{tag} (
    __st_seq bigint GENERATED ALWAYS AS IDENTITY,
    __st_xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    __st_at timestamptz DEFAULT transaction_timestamp(), __st_action "char" NOT NULL,
    old_id int, new_id int, old_mood mood, new_mood mood, "old_A.b" numeric(8, 2), "new_A.b" numeric(8, 2));
CREATE FUNCTION {SCHEMA}.insert_{tag}() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
    INSERT INTO {SCHEMA}.changes_{tag} (__st_action, new_id, new_mood, "new_A.b")
    SELECT 'I', id, mood, "A.b" FROM __st_new; RETURN NULL; END$$;
CREATE FUNCTION {SCHEMA}.delete_{tag}() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
    INSERT INTO {SCHEMA}.changes_{tag} (__st_action, old_id, old_mood, "old_A.b")
    SELECT 'D', id, mood, "A.b" FROM __st_old; RETURN NULL; END$$;
CREATE FUNCTION {SCHEMA}.update_{tag}() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
    INSERT INTO {SCHEMA}.changes_{tag}
        (__st_action, old_id, new_id, old_mood, new_mood, "old_A.b", "new_A.b")
    SELECT 'U', o.id, n.id, o.mood, n.mood, o."A.b", n."A.b"
    FROM __st_old o JOIN __st_new n USING (id); RETURN NULL; END$$;
CREATE FUNCTION {SCHEMA}.truncate_{tag}() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
    INSERT INTO {SCHEMA}.changes_{tag} (__st_action) VALUES ('T'); RETURN NULL; END$$;
CREATE TRIGGER __st_{tag}_insert AFTER INSERT ON items REFERENCING NEW TABLE AS __st_new
    FOR EACH STATEMENT EXECUTE FUNCTION {SCHEMA}.insert_{tag}();
CREATE TRIGGER __st_{tag}_update AFTER UPDATE ON items REFERENCING NEW TABLE AS __st_new
    OLD TABLE AS __st_old FOR EACH STATEMENT EXECUTE FUNCTION {SCHEMA}.update_{tag}();
CREATE TRIGGER __st_{tag}_delete AFTER DELETE ON items REFERENCING OLD TABLE AS __st_old
    FOR EACH STATEMENT EXECUTE FUNCTION {SCHEMA}.delete_{tag}();
CREATE TRIGGER __st_{tag}_truncate AFTER TRUNCATE ON items
    FOR EACH STATEMENT EXECUTE FUNCTION {SCHEMA}.truncate_{tag}();
"""
