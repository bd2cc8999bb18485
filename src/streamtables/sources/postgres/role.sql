-- The role `streamtables` captures tables of the database `shop`, which belong to `shop_owner`.
CREATE ROLE streamtables LOGIN PASSWORD '…';
GRANT CONNECT, CREATE ON DATABASE shop TO streamtables;
GRANT shop_owner TO streamtables;    -- triggers that always fire, and publishing, are the owner's right
ALTER ROLE streamtables REPLICATION; -- for the WAL alone
