"""Judges a server through the client of mssql-cdc-pyspark, a Spark package that reads change data capture: every call it makes.

The instances that it is given need some changes, and a unique index on the table."""

import datetime as dt

import mssql_python
import pyarrow as pa
from mssql_cdc.client import CdcClient, last_bound, make_client, plan_chunks, snapshot_plan

from suite import Suite, Value, arguments, want

ARGUMENTS = arguments()
ARGUMENTS.add_argument("--instance", action="append", required=True, help="a capture instance; may be given several times")
A = ARGUMENTS.parse_args()
SUITE = Suite("reference")
ZERO = "0x00000000000000000001"
CHUNK_ROWS = 5


CALLED = set()


class Client:
    """The client, noting what was called of it."""

    def __init__(self, client):
        self._client = client

    def __getattr__(self, name):
        CALLED.add(name)
        return getattr(self._client, name)


def server(encrypt):
    password = A.password.replace("}", "}}")
    trust = f"ServerCertificate={A.ca}" if encrypt == "strict" else "TrustServerCertificate=yes"
    return f"Server={A.host},{A.port};Database={A.database};UID={A.user};PWD={{{password}}};Encrypt={encrypt};{trust};"


def connect(encrypt, **options):
    return Client(make_client({"connectionString": server(encrypt)} | options))


def call(name, body, holds=lambda v: True):
    """Runs a call of the client; what it gives must hold for any server."""

    def run():
        v = body()
        want(holds(v), f"gave {v!r:.300}")
        return v

    return SUITE.check(name, run)


def refused(name, body):
    def run():
        try:
            v = body()
        except Exception as e:  # noqa: BLE001 - the client has no class of its own for it
            return f"{type(e).__name__}: {e}"
        raise AssertionError(f"no error but {v!r:.100}")

    SUITE.check(name, run)


def clock(c):
    """What holds for the whole database: LSNs and times."""
    call("ping", lambda: c.ping(2), lambda v: len(v) == 2)
    call("timezone", lambda: c.timezone)
    zone = call("clock", c.clock)
    call("set_clock", lambda: c.set_clock(*zone))
    call("refresh_clock", c.refresh_clock)
    call("clock after them", c.clock, lambda v: v == zone)
    high = call("max_lsn", c.max_lsn, lambda v: len(v) == 22)
    call("increment_lsn", lambda: c.increment_lsn(high), lambda v: v > high)
    call("decrement_lsn", lambda: c.decrement_lsn(high), lambda v: v < high)
    call("increment_lsn carries over", lambda: c.increment_lsn("0x0000002700000048ffff"), lambda v: v == "0x00000027000000490000")
    when = call("lsn_to_time of the last commit", lambda: c.lsn_to_time(high))
    call("lsn_to_time of no commit", lambda: c.lsn_to_time(ZERO), lambda v: v is None)
    after = dt.datetime.fromisoformat(when) + dt.timedelta(seconds=1)
    call("time_to_lsn of a second behind it", lambda: c.time_to_lsn(after), lambda v: v >= high)
    call("time_to_lsn before all", lambda: c.time_to_lsn(dt.datetime(1990, 1, 1)), lambda v: v is None)
    call("network_wait_ms", c.network_wait_ms, lambda v: v is None or v >= 0)
    refused("min_lsn of an unknown instance", lambda: c.min_lsn("no_such_instance"))
    refused("captured_columns of an unknown instance", lambda: c.captured_columns("no_such_instance"))
    return high


def count(batches):
    return sum(b.num_rows for b in batches)


def changes(c, instance, high):
    """What is known of an instance, and its changes."""
    low = call(f"min_lsn {instance}", lambda: c.min_lsn(instance), lambda v: len(v) == 22)
    call(f"captured_columns {instance}", lambda: c.captured_columns(instance), bool)
    infos = call(f"capture_instances {instance}", lambda: c.capture_instances(instance), bool)
    call(f"forget_columns {instance}", c.forget_columns)
    call(f"capture_instances again {instance}", lambda: c.capture_instances(instance), lambda v: v == infos)
    columns = infos[-1].columns
    call(f"ddl_history {instance}", lambda: c.ddl_history(instance, low, high), lambda v: isinstance(v, list))
    call(f"nth_commit_after {instance}", lambda: c.nth_commit_after(c.decrement_lsn(low), 2), bool)
    call(f"split_points {instance}", lambda: c.split_points(instance, low, high, 3), lambda v: all(x[0] < x[1] for x in v))
    call(f"present_columns {instance}", lambda: c.present_columns(instance, columns), bool)
    all_changes = call(f"iter_changes {instance}", lambda: count(c.iter_changes(instance, low, high, columns, True, 1000)), lambda n: n > 0)
    call(f"iter_changes without command ids {instance}", lambda: count(c.iter_changes(instance, low, high, columns[:1], False, 1000)), lambda n: n == all_changes)
    call(f"iter_changes of a range that is upside down {instance}", lambda: count(c.iter_changes(instance, high, low, columns, True, 1000)), lambda n: n == 0)
    return columns


def table(c, instance, columns, isolation):
    """The table itself, whole and by chunks of its key."""
    t = call(f"source_table {instance}", lambda: c.source_table(instance), lambda v: v.table and v.keys)

    def read(kinds, low, high):
        return count(c.iter_table(t.schema, t.table, columns, t.keys, kinds, low, high, 1000, isolation))

    call(f"row_estimate {instance}", lambda: c.row_estimate(t.schema, t.table), lambda v: v > 0)
    types = call(f"key_types {instance}", lambda: c.key_types(instance, t.keys), bool)
    top = call(f"key_max {instance}", lambda: c.key_max(t.schema, t.table, t.keys), bool)
    after = lambda low: c.key_bound(t.schema, t.table, t.keys, types, low, None, CHUNK_ROWS, isolation)  # noqa: E731
    first = call(f"key_bound {instance}", lambda: after(None), lambda v: v is not None)
    call(f"key_bound leaves its rows before it {instance}", lambda: read(types, None, first), lambda n: n == CHUNK_ROWS)
    call(f"key_bound behind the last key {instance}", lambda: after(top), lambda v: v is None)
    call(f"last_bound {instance}", lambda: last_bound(c, instance, t, list(top), isolation), lambda v: v is None)
    call(f"key_range {instance}", lambda: c.key_range(t.schema, t.table, t.keys[0]), bool)
    call(f"key_tiles {instance}", lambda: c.key_tiles(t.schema, t.table, t.keys, 4), bool)
    plan = call(f"snapshot_plan {instance}", lambda: snapshot_plan(c, instance, t), lambda v: "kind" in v)
    integer = plan["kind"] == "int"
    if integer:
        buckets = lambda: c.key_buckets(t.schema, t.table, t.keys[0], "int", 3, plan["lo"], plan["hi"] + 1, isolation)  # noqa: E731
        call(f"key_buckets {instance}", buckets, lambda v: sum(b[1] for b in v) > 0)
    call(f"key_buckets without a key {instance}", lambda: c.key_buckets(t.schema, t.table, None, None, 1), lambda v: len(v) == 1)
    chunks = call(f"plan_chunks {instance}", lambda: plan_chunks(c, instance, t, plan, CHUNK_ROWS, isolation), lambda v: len(v) > 1)

    def bound(b):
        return b if b is None else tuple(b) if isinstance(b, list) else (b,)

    def by_chunks():
        return sum(read(None if integer else types, bound(low), bound(high)) for low, high in chunks)

    whole = call(f"iter_table {instance}", lambda: read(None, None, None), lambda n: n > 0)
    call(f"iter_table by chunks {instance}", by_chunks, lambda n: n == whole)


def run(encrypt, isolation=None, **options):
    c = connect(encrypt, **options)
    high = clock(c)
    for instance in A.instance:
        table(c, instance, changes(c, instance, high), isolation)
    c.close()


def login(encrypt):
    c = connect(encrypt)
    c.ping(1)
    c.close()


# It has no Spark type for these and says so of the whole table.
WITHOUT = ("sql_variant", "hierarchyid")
TABLE = "judged_types"


def prepare(values):
    """A captured table with a column for each value, and two rows: the values and NULLs."""
    c = mssql_python.connect(server("no"), autocommit=True)
    columns = [f"c{i}" for i in range(len(values))]
    for sql in (
        # Longer values than 65,536 bytes are not let into a captured column otherwise.
        "EXEC sp_configure 'max text repl size', -1; RECONFIGURE",
        f"CREATE TABLE dbo.{TABLE} (id int NOT NULL PRIMARY KEY, {', '.join(f'{n} {v.type} NULL' for n, v in zip(columns, values))})",
        f"EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'{TABLE}', @role_name = NULL",
        f"INSERT INTO dbo.{TABLE} VALUES (1, {', '.join(v.expression for v in values)})",
        f"INSERT INTO dbo.{TABLE} (id) VALUES (2)",
        "EXEC sys.sp_cdc_scan",
    ):
        c.cursor().execute(sql).close()
    c.close()


def without_a_type():
    """A table whose columns have a type that it does not know."""
    c = mssql_python.connect(server("no"), autocommit=True)
    c.cursor().execute(f"CREATE TABLE dbo.untyped (id int NOT NULL PRIMARY KEY, {', '.join(f'{t[:3]} {t} NULL' for t in WITHOUT)})")
    c.cursor().execute("EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'untyped', @role_name = NULL")
    c.close()
    client = connect("no")
    try:
        client.captured_columns("dbo_untyped")
    except ValueError as e:
        return e
    finally:
        client.close()
    raise AssertionError("it has types for them, so that their values are to be compared")


def same(value, got):
    if value.type.startswith("datetimeoffset"):  # an instant, without the offset
        text, offset = value.text.rsplit(" ", 1)
        instant = dt.datetime.fromisoformat(text[:26] + offset)
        want(got == instant, f"{value.name}: want {instant} got {got}")
    else:
        value.same(got)


def listed(batches):
    """The rows of Arrow batches. Python's times end at microseconds, Arrow's do not."""
    rows = []
    for b in batches:
        columns = [c.cast(pa.time64("us"), safe=False) if pa.types.is_time64(c.type) else c for c in b.columns]
        rows += [dict(zip(b.schema.names, r)) for r in zip(*(c.to_pylist() for c in columns))]
    return rows


def types(encrypt, values):
    """All values and their NULLs, of the table and of its changes."""
    c = connect(encrypt)
    instance = f"dbo_{TABLE}"
    names = [f"c{i}" for i in range(len(values))]
    t = c.source_table(instance)
    table = c.iter_table(t.schema, t.table, ["id", *names], t.keys, None, None, None, 100)
    found = c.iter_changes(instance, c.min_lsn(instance), c.max_lsn(), ["id", *names], True, 100)
    for rows in map(listed, (table, found)):
        want([r["id"] for r in rows] == [1, 2], f"rows {[r['id'] for r in rows]}")
        for name, value in zip(names, values):
            same(value, rows[0][name])
            want(rows[1][name] is None, f"{value.name}: NULL is {rows[1][name]!r:.60}")
    c.close()
    return f"{len(values)} values"


def all_called():
    """What the client's interface has was called, all of it."""
    left = {n for n in vars(CdcClient) if not n.startswith("_")} - CALLED
    want(not left, f"not called: {', '.join(sorted(left))}")
    return f"{len(CALLED)} calls"


for mode in ("no", "yes", "strict"):
    if A.tls != "off" or mode == "no":  # one that asks for none gets all of it where the server insists
        SUITE.check(f"login with Encrypt={mode}", login, mode)
    else:
        refused(f"login with Encrypt={mode} is refused", lambda m=mode: login(m))
if A.only is None:
    try:
        run("no")
        run("yes", "snapshot", lockTimeoutMs="500", sourceTimeZone="W. Europe Standard Time")
        run("strict")
    except Exception as e:  # noqa: BLE001 - a call that failed gave nothing to go on with
        SUITE.check("the calls behind it", lambda: want(False, f"not made: {type(e).__name__}: {e}"))
    SUITE.check("every call of its interface was made", all_called)
    VALUES = [v for v in Value.read(A.values) if not v.type.startswith(WITHOUT)]
    SUITE.check("a table of all types", prepare, VALUES)
    for mode in ("no", "yes", "strict"):
        SUITE.check(f"all types with Encrypt={mode}", types, mode, VALUES)
    SUITE.check(f"{' and '.join(WITHOUT)} are unknown to the client", without_a_type)
SUITE.end()
