"""A table pair in the program mssqlsim, and a client that keeps changing their rows through T-SQL.

The client writes down what every row must be after each commit, so that the source itself is under test too.
"""

import collections
import datetime as dt
import decimal
import random
import subprocess
import threading
import uuid

import mssql_python

import rows

ORDERS = {
    "order_id": "integer", "customer": "string", "amount": "decimal(18,4)", "tax": "decimal(19,4)", "placed_at": "timestamp_ntz",
    "old_time": "timestamp_ntz", "seen": "timestamp", "due": "date", "paid": "boolean", "weight": "double", "reference": "string",
    "photo": "binary", "note": "string",
}
LINES = {"order_id": "integer", "product": "string", "quantity": "short", "big": "long"}
TABLES = {"orders": ORDERS, "lines": LINES}
KEYS = {"orders": ["order_id"], "lines": ["order_id", "product"]}

CUSTOMERS = ("Zürich Möbel AG", "東京商事", "smile 🙂 ltd", "O'Brien", "Nguyễn Văn", "", "ends in blanks  ")
NOTES = (None, "", "leave at the door 🚪", 'fragile, "this side up"', "次の日")


class Simulator:
    """The program mssqlsim as a process of its own."""

    def __init__(self, binary, script):
        command = [binary, "-sql", script, "-capture", "commit", "-tls", "login"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
        ready = self.process.stdout.readline().split()
        if ready[:2] != ["mssqlsim", "ready"]:
            raise RuntimeError(f"mssqlsim: {ready} {self.process.stderr.read()}")
        host, port = ready[2].rsplit(":", 1)
        self.connection = f"Server={host},{port};Database=shop;UID=sa;PWD={{Secret1!}};Encrypt=yes;TrustServerCertificate=yes;"

    def connect(self):
        return mssql_python.connect(self.connection, autocommit=False)

    def rows(self, table):
        """The rows of a table, as a client reads them."""
        with self.connect() as c:
            cursor = c.cursor()
            cursor.execute(f"SELECT {', '.join(TABLES[table])} FROM dbo.{table}")
            return [row(r) for r in cursor.fetchall()]

    def close(self):
        self.process.terminate()
        self.process.communicate(timeout=60)


def row(values):
    """A row in the form that all readers' rows are compared in; a GUID is upper-case text in the lake."""
    return tuple(str(v).upper() if isinstance(v, uuid.UUID) else rows.exact(v) for v in values)


class Writer:
    """Changes rows, one transaction after the other: `change` some, or, between `start` and `stop`, all the time."""

    def __init__(self, simulator, seed=5):
        self.random = random.Random(seed)
        self.connection = simulator.connect()
        self.cursor = self.connection.cursor()
        self.tables = {"orders": {}, "lines": {}}  # key to row
        self.next = 1
        self.done = collections.Counter()
        self.ending = threading.Event()
        self.thread = None
        self.problem = None

    def rows(self, table):
        """The rows as they must be."""
        return [row(r) for r in self.tables[table].values()]

    def load(self, n):
        for _ in range(n):
            self.insert()
        self.connection.commit()

    def start(self):
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        try:
            while not self.ending.wait(0.05):
                self.change()
        except Exception as e:  # told by stop
            self.problem = e

    def stop(self):
        self.ending.set()
        if self.thread:
            self.thread.join()
        self.connection.close()
        if self.problem:
            raise self.problem

    KINDS = {"insert": 30, "update": 25, "delete": 15, "move": 10, "both": 10, "several": 5, "move several": 3, "twice": 5}

    def change(self):
        """One transaction."""
        (kind,) = self.random.choices(list(self.KINDS), self.KINDS.values())
        getattr(self, kind.replace(" ", "_"))()
        self.connection.commit()
        self.done[kind] += 1

    def execute(self, statement, *parameters, want=None):
        self.cursor.execute(statement, parameters)
        if want is not None and self.cursor.rowcount != want:
            raise AssertionError(f"{statement} {parameters}: {self.cursor.rowcount} rows, want {want}")

    def insert(self):
        key, r = self.next, self.random
        self.next += r.choice((1, 1, 1, 40))  # the keys have gaps
        value = (
            key, r.choice(CUSTOMERS), decimal.Decimal(r.randrange(-(10**9), 10**9)).scaleb(-4), r.choice((None, decimal.Decimal(r.randrange(10**9)).scaleb(-4))),
            self.time(), self.time().replace(microsecond=r.choice((0, 3000, 7000, 997000))), r.choice((None, self.time().replace(tzinfo=dt.timezone(dt.timedelta(hours=5, minutes=30))))),
            r.choice((None, self.time().date())), r.random() < 0.5, r.choice((None, r.gauss(0, 1e9), 0.1, -1e-300)), r.choice((None, uuid.UUID(int=r.getrandbits(128)))),
            r.choice((None, b"", b"\x00\xff\x01")), r.choice(NOTES),
        )  # fmt: skip
        self.execute(f"INSERT INTO dbo.orders VALUES ({', '.join('?' * len(value))})", *value, want=1)
        self.tables["orders"][key] = value
        if r.random() < 0.4:
            self.line(key, "chair")

    def line(self, order, product):
        value = (order, product, self.random.randrange(100), self.random.choice((None, -(2**63), 2**53 + 1)))
        self.execute("INSERT INTO dbo.lines VALUES (?, ?, ?, ?)", *value, want=1)
        self.tables["lines"][order, product] = value

    def time(self):
        return dt.datetime(2026, 1, 1) + dt.timedelta(microseconds=self.random.randrange(365 * 86400 * 10**6))

    def some(self, table, n=1):
        return self.random.sample(sorted(self.tables[table]), min(n, len(self.tables[table])))

    def put(self, table, key, **values):
        """What a row is from now on."""
        names = list(TABLES[table])
        old = self.tables[table].pop(key)
        new = tuple(values.get(name, v) for name, v in zip(names, old, strict=True))
        key = tuple(new[names.index(k)] for k in KEYS[table])
        self.tables[table][key if len(key) > 1 else key[0]] = new

    def update(self):
        for key in self.some("orders"):
            amount, note = decimal.Decimal(self.random.randrange(10**9)).scaleb(-4), self.random.choice(NOTES)
            self.execute("UPDATE dbo.orders SET amount = ?, note = ? WHERE order_id = ?", amount, note, key, want=1)
            self.put("orders", key, amount=amount, note=note)

    def delete(self):
        """An order and its lines."""
        for key in self.some("orders"):
            lines = [k for k in self.tables["lines"] if k[0] == key]
            self.execute("DELETE FROM dbo.lines WHERE order_id = ?", key, want=len(lines))
            self.execute("DELETE FROM dbo.orders WHERE order_id = ?", key, want=1)
            del self.tables["orders"][key]
            for line in lines:
                del self.tables["lines"][line]

    def move(self):
        """The key of an order becomes another."""
        for key in self.some("orders"):
            self.execute("UPDATE dbo.orders SET order_id = ? WHERE order_id = ?", self.next, key, want=1)
            self.put("orders", key, order_id=self.next)
            self.next += 1

    def both(self):
        """Rows of both tables in one transaction."""
        key = self.next
        self.insert()
        self.line(key, "desk")
        self.execute("UPDATE dbo.orders SET paid = 1 - paid WHERE order_id = ?", key, want=1)
        self.put("orders", key, paid=not self.tables["orders"][key][list(ORDERS).index("paid")])

    def several(self):
        """Rows by one statement."""
        keys = [k for k in self.tables["lines"] if k[0] % 10 == self.next % 10]
        self.execute("UPDATE dbo.lines SET quantity = quantity + 1 WHERE order_id % 10 = ?", self.next % 10, want=len(keys))
        for key in keys:
            self.put("lines", key, quantity=self.tables["lines"][key][2] + 1)

    def move_several(self):
        """The keys of rows move by one statement."""
        keys = [k for k in self.tables["lines"] if k[0] % 20 == self.next % 20 and len(k[1]) < 12]
        self.execute("UPDATE dbo.lines SET product = product + 'x' WHERE order_id % 20 = ? AND LEN(product) < 12", self.next % 20, want=len(keys))
        for key in keys:
            self.put("lines", key, product=key[1] + "x")

    def twice(self):
        """A row that a transaction changes, deletes and makes again."""
        for key in self.some("lines"):
            self.execute("UPDATE dbo.lines SET big = ? WHERE order_id = ? AND product = ?", 1, *key, want=1)
            self.execute("DELETE FROM dbo.lines WHERE order_id = ? AND product = ?", *key, want=1)
            del self.tables["lines"][key]
            self.line(*key)
