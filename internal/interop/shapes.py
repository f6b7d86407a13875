"""What the tables must look like: columns and their types, in the names of the Delta protocol and of each reader."""

import re

import pyarrow as pa

ORDERS = {
    "order_id": "integer", "customer": "string", "amount": "decimal(18,4)", "placed_at": "timestamp_ntz", "status": "string",
    "paid": "boolean", "items": "short", "due": "date", "note": "string",
}
TYPES = {
    "id": "integer",
    "c_bit": "boolean", "c_tinyint": "short", "c_smallint": "short", "c_int": "integer", "c_bigint": "long",
    "c_real": "float", "c_float": "double",
    "c_decimal_38_10": "decimal(38,10)", "c_decimal_38_0": "decimal(38,0)", "c_numeric_9_2": "decimal(9,2)",
    "c_decimal_18_4": "decimal(18,4)", "c_money": "decimal(19,4)", "c_smallmoney": "decimal(10,4)",
    "c_date": "date", "c_datetime": "timestamp_ntz", "c_smalldatetime": "timestamp_ntz",
    "c_datetime2_7": "timestamp_ntz", "c_datetime2_3": "timestamp_ntz", "c_datetime2_0": "timestamp_ntz",
    "c_datetimeoffset": "timestamp", "c_time_7": "string", "c_time_0": "string",
    "c_char": "string", "c_varchar": "string", "c_varchar_max": "string",
    "c_nchar": "string", "c_nvarchar": "string", "c_nvarchar_max": "string",
    "c_text": "string", "c_ntext": "string", "c_xml": "string", "c_uniqueidentifier": "string",
    "c_binary": "binary", "c_varbinary": "binary", "c_varbinary_max": "binary", "c_image": "binary", "c_rowversion": "binary",
}
ODD = {"the id": "integer", "part;no": "string", "a,b=(c)": "decimal(18,4)", "Größe {cm}": "double", "changed at": "timestamp_ntz"}

SOURCES = {"orders": ORDERS, "types": TYPES, "odd": ODD}
KEYS = {"orders": ["order_id"], "types": ["id"], "odd": ["the id", "part;no"]}

BRONZE_BEFORE = {
    "_capture_instance": "string", "_start_lsn": "string", "_seqval": "string", "_operation": "integer", "_command_id": "integer",
    "_commit_ts": "timestamp_ntz",
}
BRONZE_AFTER = {"_batch_id": "integer", "_snapshot": "string", "_chunk": "integer"}
SILVER_AFTER = {"_start_lsn": "string", "_commit_ts": "timestamp_ntz"}
FACTS = {
    "app_id": "string", "batch_id": "long", "rows": "long", "min_lsn": "string", "max_lsn": "string",
    "min_commit_ts": "timestamp_ntz", "max_commit_ts": "timestamp_ntz", "deletes": "long", "inserts": "long", "updates": "long",
    "started_at": "timestamp_ntz", "duration_ms": "long", "source_rtt_ms": "double", "read_seconds": "double", "read_mb": "double",
    "network_wait_ms": "long", "retention_watermark_ts": "timestamp_ntz", "retention_headroom_hours": "double", "event": "string",
    "lost_from_ts": "timestamp_ntz", "lost_to_ts": "timestamp_ntz", "source_max_commit_ts": "timestamp_ntz",
    "capture_lag_seconds": "double", "ingestion_lag_seconds": "double", "end_lsn": "string", "end_commit_ts": "timestamp_ntz",
    "detail": "string", "target": "string", "written_at": "timestamp_ntz",
}
CONTROL = {
    "table_name": "string", "finalized_until": "timestamp_ntz", "end_lsn": "string", "end_commit_ts": "timestamp_ntz",
    "updated_at": "timestamp_ntz", "applied_lsn": "string", "snapshot_lsn": "string", "open_snapshot_lsn": "string", "snapshot_wave": "integer",
    "silver_version": "long", "foreign_version": "long", "silver_merge": "long",
    "table_path": "string", "table_id": "string",
}
REPORT = {
    "run_id": "string", "run_at": "timestamp_ntz", "silver": "string", "silver_version": "long", "silver_lsn": "string",
    "source_lsn": "string", "bucket_lo": "string", "bucket_hi": "string", "source_rows": "long", "source_key_sum": "decimal(38,0)",
    "silver_rows": "long", "silver_key_sum": "decimal(38,0)", "status": "string", "hashed": "boolean", "key": "string",
    "failure_type": "string", "detail": "string",
}


def bronze(name):
    return BRONZE_BEFORE | SOURCES[name] | BRONZE_AFTER


def silver(name):
    return SOURCES[name] | SILVER_AFTER


# Every table of the lake by its path.
TABLES = {
    **{f"bronze/{n}": bronze(n) for n in SOURCES}, **{f"silver/{n}": silver(n) for n in SOURCES},
    "ops/ingestion_facts": FACTS, "ops/table_finalization": CONTROL, "ops/reconcile": REPORT,
}


def spark(t):
    return {"short": "smallint", "integer": "int", "long": "bigint"}.get(t, t)


def duckdb(t):
    if t.startswith("decimal"):
        return t.upper()
    return {
        "boolean": "BOOLEAN", "short": "SMALLINT", "integer": "INTEGER", "long": "BIGINT", "float": "FLOAT", "double": "DOUBLE",
        "date": "DATE", "timestamp_ntz": "TIMESTAMP", "timestamp": "TIMESTAMP WITH TIME ZONE", "string": "VARCHAR", "binary": "BLOB",
    }[t]


def arrow(t):
    if m := re.fullmatch(r"decimal\((\d+),(\d+)\)", t):
        return pa.decimal128(int(m[1]), int(m[2]))
    return {
        "boolean": pa.bool_(), "short": pa.int16(), "integer": pa.int32(), "long": pa.int64(), "float": pa.float32(), "double": pa.float64(),
        "date": pa.date32(), "timestamp_ntz": pa.timestamp("us"), "timestamp": pa.timestamp("us", "UTC"), "string": pa.string(), "binary": pa.binary(),
    }[t]


def plain_arrow(t):
    """The Arrow type without the choice of offsets, which each reader makes for itself."""
    if t in (pa.large_string(), pa.string_view()):
        return pa.string()
    if t in (pa.large_binary(), pa.binary_view()):
        return pa.binary()
    return t
