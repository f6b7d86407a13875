"""Judges a server through python-tds, a client that is written in Python alone and speaks TDS 7.1 to 7.4."""

import datetime as dt
import decimal
import uuid

import pytds

from suite import ERRORS, Suite, Value, all_types, arguments, query, types, want

A = arguments().parse_args()
SUITE = Suite("python-tds")
# How the client asks for encryption. It needs the certificate for both forms.
MODES = {
    "none": {},
    "of the login": {"cafile": A.ca, "validate_host": False, "enc_login_only": True},
    "of all": {"cafile": A.ca, "validate_host": False},
}
# What works with each server. python-tds says that it cannot encrypt when it is given no certificate, so that a server
# that insists must refuse it; one that has no certificate refuses the others.
WORKS = {"off": ("none",), "login": ("none", "of the login", "of all"), "on": ("of the login", "of all")}


def connect(**more):
    return pytds.connect(dsn=A.host, port=int(A.port), database=A.database, user=A.user, **{"password": A.password, "autocommit": True, "login_timeout": 15} | more)


def whoami(mode):
    with connect(**MODES[mode]) as c:
        return query(c, "SELECT DB_NAME(), @@SPID")[0][0]


def refused(**how):
    try:
        connect(**how).close()
    except pytds.Error as e:
        return e
    raise AssertionError("let in")


def wrong_password(mode):
    e = refused(password="not-it", **MODES[mode])
    want("ogin failed" in str(e), e)
    return e


def all_with(mode, values):
    with connect(**MODES[mode]) as c:
        return all_types(c, values)


def version(v):
    with connect(tds_version=v) as c:
        rows, _ = query(c, "SELECT 1, N'é', CAST('2026-03-04' AS date), CAST(N'x' AS nvarchar(max)), CAST(N'<a/>' AS xml)")
        want(rows[0][:2] == (1, "é"), rows)
        return rows[0]


def logins():
    for mode, how in MODES.items():
        if mode in WORKS[A.tls]:
            SUITE.check(f"login with encryption {mode}", whoami, mode)
        elif mode == "none" or A.ca:
            SUITE.check(f"login with encryption {mode} is refused", lambda h=how: refused(**h))
    SUITE.check("login with a wrong password", wrong_password, WORKS[A.tls][0])


def parameter(c, v):
    rows, _ = query(c, "SELECT %s AS a, 'after' AS b", (v,))
    want(rows[0][0] == v or str(rows[0][0]) == str(v), f"got {rows[0][0]!r:.80}")
    want(rows[0][1] == "after", f"the column behind it is {rows[0][1]!r}")


PARAMETERS = (
    42, 7_000_000_000, 3.25, decimal.Decimal("12345.6789"), "héllo 😀", True, dt.datetime(2026, 3, 4, 5, 6, 7, 123456), dt.date(2026, 3, 4), dt.time(5, 6, 7),
    uuid.UUID("01234567-89ab-cdef-0123-456789abcdef"), "x" * 9000, None,
)  # fmt: skip


def several(c):
    cursor = c.cursor()
    cursor.execute("SELECT 1 AS a; PRINT 'note'; SELECT 2 AS b, N'x' AS c")
    got = [len(cursor.fetchall())]
    while cursor.nextset():
        got.append(len(cursor.fetchall()))
    cursor.close()
    want(got == [1, 1], got)


def error(c, number, sql):
    try:
        query(c, sql)
    except pytds.Error as e:
        want(getattr(e, "msg_no", None) == number, f"error {getattr(e, 'msg_no', None)}: {e}")
        return e
    raise AssertionError("no error")


def transaction():
    c = connect(autocommit=False)
    rows, _ = query(c, "SELECT @@TRANCOUNT")
    want(rows[0][0] == 1, f"@@TRANCOUNT is {rows[0][0]}")
    c.commit()
    query(c, "SELECT 1")
    c.rollback()
    c.close()


logins()
if A.only is None:
    for name in ("71", "72", "73", "74"):
        SUITE.check(f"TDS {name[0]}.{name[1]}", version, getattr(pytds.tds_base, "TDS" + name))
    CONNECTION = SUITE.check("session", connect)
    VALUES = Value.read(A.values)
    for m in MODES:
        SUITE.check(f"all types with encryption {m}", all_with, m, VALUES)
    types(SUITE, CONNECTION, VALUES)
    for p in PARAMETERS:
        SUITE.check(f"parameter {type(p).__name__} {str(p)[:20]}", parameter, CONNECTION, p)
    SUITE.check("several results with a message between", several, CONNECTION)
    for code, statement in ERRORS:
        SUITE.check(f"error {code}", error, CONNECTION, code, statement)
    SUITE.check("transaction", transaction)
    SUITE.check("close", CONNECTION.close)
SUITE.end()
