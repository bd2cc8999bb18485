"""The tables that compiler tests share."""

from __future__ import annotations

from streamtables.compiler.plan import Plan, compile_sql

TABLES = {
    "orders": {"id": "int", "customer": "int", "amount": "decimal(10,2)", "note": "string"},
    "customers": {"id": "int", "name": "string", "vip": "boolean", "score": "double"},
    "events": {
        "at": "timestamp",
        "day": "date",
        "tags": "array<string>",
        "extra": "map<string,int>",
    },
    "odd": {
        "c": "string collate UTF8_LCASE",
        "m": "map<string,int>",
        "v": "variant",
        "p": "struct<x:int,y:int>",
        "pad": "char(3)",
    },
}
KEYS = {"orders": ["id"], "customers": ["id"]}


def compiled(sql: str) -> Plan:
    """Compile against the shared tables."""
    return compile_sql(sql, TABLES, KEYS)
