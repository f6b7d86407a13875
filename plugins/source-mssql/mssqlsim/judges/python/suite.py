"""The tests of one judge: its arguments, the values of values.tsv, and one JSON object a line for each test."""

import argparse
import dataclasses
import datetime as dt
import decimal
import json
import re
import sys
import time
import uuid


def arguments():
    """The arguments of every judge."""
    a = argparse.ArgumentParser()
    for name in ("host", "port", "database", "user", "password", "values", "table"):
        a.add_argument("--" + name, required=True)
    a.add_argument("--tls", choices=("off", "login", "on"), required=True, help="the encryption that the server offers")
    a.add_argument("--ca", help="the server's certificate; needed unless --tls=off")
    a.add_argument("--only", choices=("logins",))
    return a


def want(condition, otherwise):
    if not condition:
        raise AssertionError(otherwise)


class Suite:
    def __init__(self, judge):
        self.judge, self.passed, self.failed = judge, 0, 0

    def check(self, test, body, *args):
        """Runs a test; body returns what to print beside it, or raises when the server did not do its part."""
        began = time.monotonic()
        value = None
        try:
            value, ok = body(*args), True
            detail = value
        except Exception as e:  # noqa: BLE001 - whatever it is, it is this test that failed
            detail, ok = f"{type(e).__name__}: {e}", False
        self.passed, self.failed = self.passed + ok, self.failed + (not ok)
        ms = int(1000 * (time.monotonic() - began))
        self._print({"judge": self.judge, "test": test, "ok": ok, "ms": ms, "detail": str("" if detail is None else detail)[:600]})
        return value

    def end(self):
        """Prints the summary; the process ends with 1 when a test failed or none ran."""
        self._print({"judge": self.judge, "passed": self.passed, "failed": self.failed})
        sys.exit(1 if self.failed or not self.passed else 0)

    @staticmethod
    def _print(line):
        print(json.dumps(line, ensure_ascii=False), flush=True)


@dataclasses.dataclass(frozen=True)
class Value:
    """A line of values.tsv: an expression, its type, and the text that every client must get."""

    name: str
    type: str
    expression: str
    text: str

    @staticmethod
    def read(path):
        with open(path, encoding="utf-8") as lines:
            fields = [line.rstrip("\n").split("\t") for line in lines if line.strip() and not line.startswith("#")]
        return [Value(name, kind, expression, _repeated(text)) for name, kind, expression, text in fields]

    def same(self, value):
        expected, got = self.text, _text(value)
        if self.type in ("real", "float"):
            want(float(expected) == float(got), f"want {expected} got {got}")
        elif re.match(r"time|date|smalldate", self.type):
            want(_micros(expected) == _micros(got), f"want {expected} got {got}")
        else:
            want(expected == got, f"want {expected[:60]!r} got {got[:60]!r} ({len(got)})")


def _repeated(s):
    """X*N means N times X."""
    found = re.fullmatch(r"(.*)\*(\d{3,})", s, re.S)
    if not found:
        return s
    unit, n = found[1], int(found[2])
    return "0x" + unit[2:] * n if unit.startswith("0x") else unit * n


def _micros(s):
    """Python's clocks end at microseconds, and zeros at the end of a fraction mean nothing."""
    s = re.sub(r"(\.\d{6})\d+", r"\1", s)
    return re.sub(r"\.(?=$| )", "", re.sub(r"(\.\d*?)0+(?=$| )", r"\1", s))


def _text(v):
    if isinstance(v, (bytes, bytearray)):
        return "0x" + bytes(v).hex().upper()
    if isinstance(v, bool):
        return "1" if v else "0"
    if isinstance(v, decimal.Decimal):
        return format(v, "f")
    if isinstance(v, dt.datetime):
        zone = v.strftime("%z") if v.tzinfo else ""
        return v.replace(tzinfo=None).isoformat(" ") + (f" {zone[:3]}:{zone[3:5]}" if zone else "")
    if isinstance(v, (dt.date, dt.time)):
        return v.isoformat()
    if isinstance(v, uuid.UUID):
        return str(v).upper()
    return str(v)


def query(connection, sql, *parameters):
    """The rows of a statement, and how the client describes them."""
    cursor = connection.cursor()
    try:
        cursor.execute(sql, *parameters)
        return cursor.fetchall(), cursor.description
    finally:
        cursor.close()


def all_types(connection, values):
    """Each value once, as quickly as can be."""
    for v in values:
        rows, _ = query(connection, f"SELECT {v.expression} AS v, 'after' AS w")
        v.same(rows[0][0])
        want(rows[0][1] == "after", f"the column behind {v.name} is {rows[0][1]!r}")
    return f"{len(values)} values"


def types(suite, connection, values):
    """Each value and its NULL. The column behind it tells whether the client read it to its end."""

    def value(v):
        rows, described = query(connection, f"SELECT {v.expression} AS v, 'after' AS w")
        v.same(rows[0][0])
        want(rows[0][1] == "after", f"the column behind it is {rows[0][1]!r}")
        return f"{type(rows[0][0]).__name__} {described[0][1:]}"

    def null(v):
        rows, _ = query(connection, f"SELECT CAST(NULL AS {v.type}) AS v, 'after' AS w")
        want(rows[0][0] is None and rows[0][1] == "after", f"got {rows[0]}")

    for v in values:
        suite.check(f"type {v.name}", value, v)
        suite.check(f"type {v.name} NULL", null, v)


# Statements that fail, with the numbers of their errors.
ERRORS = (
    (8134, "SELECT 1/0"),
    (208, "SELECT * FROM dbo.no_such_table"),
    (207, "SELECT no_such_column FROM sys.columns"),
    (2812, "EXEC dbo.no_such_procedure"),
    (50000, "RAISERROR('text', 16, 3)"),
    (51000, "THROW 51000, 'thrown', 1"),
    (245, "SELECT CAST('x' AS int)"),
)
