"""Judges a server through Microsoft's ODBC driver 18, which the package mssql-python brings along."""

import datetime as dt
import decimal
import time
import uuid

import mssql_python

from suite import ERRORS, Suite, Value, all_types, arguments, query, types, want

A = arguments().parse_args()
SUITE = Suite("odbc")


def connect(encrypt="no", password=A.password, **more):
    dsn = f"Server={A.host},{A.port};Database={A.database};UID={A.user};PWD={{{password.replace('}', '}}')}}};Encrypt={encrypt};"
    dsn += f"ServerCertificate={A.ca};" if encrypt == "strict" else "TrustServerCertificate=yes;"
    return mssql_python.connect(dsn, **{"autocommit": True, "timeout": 15} | more)


def whoami(encrypt):
    with connect(encrypt) as c:
        return query(c, "SELECT DB_NAME(), @@SPID")[0][0]


def refused(**how):
    try:
        connect(**how).close()
    except mssql_python.Error as e:
        return e
    raise AssertionError("let in")


def wrong_password():
    e = refused(password="not-it")
    want("login failed" in str(e).lower(), e)
    return e


def pooled():
    """The pool of the driver hands the connection out again, after a reset."""
    for _ in range(3):
        with connect() as c:
            query(c, "SET LOCK_TIMEOUT 5; SELECT 1")


def all_with(encrypt, values):
    with connect(encrypt) as c:
        return all_types(c, values)


MODES = ("no", "yes", "strict")


def logins():
    for encrypt in MODES:
        if A.tls != "off" or encrypt == "no":  # one that asks for none gets all of it where the server insists
            SUITE.check(f"login with Encrypt={encrypt}", whoami, encrypt)
        else:
            SUITE.check(f"login with Encrypt={encrypt} is refused", lambda e=encrypt: refused(encrypt=e))
    SUITE.check("login with a wrong password", wrong_password)
    SUITE.check("connection from the pool", pooled)


def arrow(c, values):
    # The driver has no Arrow form of sql_variant, hierarchyid and time.
    values = [v for v in values if not v.type.startswith(("sql_variant", "hierarchyid", "time"))]
    cursor = c.cursor()
    cursor.execute("SELECT " + ", ".join(f"{v.expression} AS c{i}" for i, v in enumerate(values)))
    batch = cursor.arrow_batch(10)
    cursor.close()
    want(batch.num_rows == 1, f"{batch.num_rows} rows")
    return "; ".join(f"{v.type}: {f.type}" for v, f in zip(values, batch.schema))


PARAMETERS = (
    42, 7_000_000_000, -5, 3.25, decimal.Decimal("12345.6789"), "héllo 😀", True, b"\x00\x01\x02", dt.datetime(2026, 3, 4, 5, 6, 7, 123456),
    dt.date(2026, 3, 4), dt.time(5, 6, 7), dt.datetime(2026, 3, 4, 5, 6, 7, tzinfo=dt.timezone(dt.timedelta(hours=2))),
    uuid.UUID("01234567-89ab-cdef-0123-456789abcdef"), "x" * 9000, bytes(9000), None,
)  # fmt: skip


def parameter(c, v):
    for _ in range(3):  # prepared, then executed again
        rows, described = query(c, "SELECT ? AS a, 'after' AS b", v)
        got = rows[0][0]
        want(got == v or str(got) == str(v), f"got {got!r:.80}")
        want(rows[0][1] == "after", f"the column behind it is {rows[0][1]!r}")
    return f"{type(got).__name__} {described[0][1:]}"


def prepared(c):
    cursor = c.cursor()
    got = []
    for i in range(5):
        cursor.execute("SELECT ? + 1 AS a WHERE ? IS NOT NULL", (i, "text"))
        got.append(cursor.fetchone()[0])
    cursor.close()
    want(got == [1, 2, 3, 4, 5], got)


def lsn(c):
    rows, _ = query(c, "SELECT CONVERT(varchar(22), CONVERT(binary(10), ?, 1), 1)", "0x00000027000000480003")
    want(rows[0][0] == "0x00000027000000480003", rows)


def several(c):
    cursor = c.cursor()
    cursor.execute("SELECT 1 AS a; PRINT 'note'; SELECT 2 AS b, N'x' AS c; SELECT 3 AS d WHERE 1 = 0")
    got = [len(cursor.fetchall())]
    while cursor.nextset():
        if cursor.description:
            got.append(len(cursor.fetchall()))
    cursor.close()
    want(got == [1, 1, 0], got)


def error(c, number, sql, *parameters):
    try:
        query(c, sql, *parameters)
    except mssql_python.Error as e:  # the package gives the text, without the number
        want(number != 50000 or "text" in str(e), e)
        return f"{type(e).__name__} {e}"
    raise AssertionError("no error")


def message(c):
    cursor = c.cursor()
    cursor.execute("RAISERROR('low', 9, 1)")
    got = [str(m) for m in cursor.messages]
    cursor.close()
    want(any("low" in m for m in got), got)


def transaction():
    c = connect(autocommit=False)
    rows, _ = query(c, "SELECT @@TRANCOUNT")
    want(rows[0][0] >= 1, f"@@TRANCOUNT is {rows[0][0]} without autocommit")
    c.commit()
    query(c, "SELECT COUNT(*) FROM sys.schemas")
    c.rollback()
    c.close()


def timeout():
    c = connect()
    c.timeout = 2  # seconds for a statement
    began = time.monotonic()
    try:
        query(c, "WAITFOR DELAY '00:00:20'")
    except mssql_python.Error as e:
        seconds = time.monotonic() - began
        want(seconds < 10, f"only after {seconds:.1f} s")
        query(c, "SELECT 1")  # the connection goes on
        c.close()
        return f"after {seconds:.1f} s: {e}"
    raise AssertionError("no timeout")


def early(c):
    for n in range(10):
        cursor = c.cursor()
        cursor.execute("SELECT TOP (300) REPLICATE(CAST('v' AS varchar(max)), 60000) FROM sys.types a CROSS JOIN sys.types b")
        for _ in range(n):
            cursor.fetchone()
        cursor.close()
        query(c, "SELECT 1")


def catalog(c):
    schema, table = A.table.split(".")
    cursor = c.cursor()
    got = {}
    for call in ("tables", "columns", "primaryKeys"):
        getattr(cursor, call)(table=table, schema=schema)
        got[call] = len(cursor.fetchall())
    cursor.close()
    want(min(got.values()) > 0, got)
    return got


logins()
if A.only is None:
    CONNECTION = SUITE.check("session", lambda: connect(timeout=0))
    VALUES = Value.read(A.values)
    for m in MODES:
        SUITE.check(f"all types with Encrypt={m}", all_with, m, VALUES)
    types(SUITE, CONNECTION, VALUES)
    SUITE.check("all types in one row, as Arrow", arrow, CONNECTION, VALUES)
    for p in PARAMETERS:
        SUITE.check(f"parameter {type(p).__name__} {str(p)[:24]}", parameter, CONNECTION, p)
    SUITE.check("prepared once, executed 5 times", prepared, CONNECTION)
    SUITE.check("LSN as text, there and back", lsn, CONNECTION)
    SUITE.check("several results with a message between", several, CONNECTION)
    for code, statement in ERRORS:
        SUITE.check(f"error {code}", error, CONNECTION, code, statement)
        SUITE.check(f"error {code}, with a parameter", error, CONNECTION, code, "DECLARE @x nvarchar(9) = ?; " + statement, "p")
    SUITE.check("RAISERROR of severity 9 is a message", message, CONNECTION)
    SUITE.check("transaction without autocommit", transaction)
    SUITE.check("query timeout", timeout)
    SUITE.check("close a large result early", early, CONNECTION)
    SUITE.check("catalog calls", catalog, CONNECTION)
    SUITE.check("close", lambda: CONNECTION.close())
SUITE.end()
