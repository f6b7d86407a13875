"""Judges a server through the client of mssql-cdc-pyspark, a Spark package that reads change data capture: every call it makes.

The instances that it is given need some changes, and a unique index on the table."""

import datetime as dt

from mssql_cdc.client import make_client, plan_chunks, snapshot_plan

from suite import Suite, arguments, want

ARGUMENTS = arguments()
ARGUMENTS.add_argument("--instance", action="append", required=True, help="a capture instance; may be given several times")
A = ARGUMENTS.parse_args()
SUITE = Suite("reference")
ZERO = "0x00000000000000000001"
CHUNK_ROWS = 5


def connect(encrypt, **options):
    password = A.password.replace("}", "}}")
    server = f"Server={A.host},{A.port};Database={A.database};UID={A.user};PWD={{{password}}};Encrypt={encrypt};TrustServerCertificate=yes;"
    return make_client({"connectionString": server} | options)


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
    call("clock", c.clock)
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
    call(f"row_estimate {instance}", lambda: c.row_estimate(t.schema, t.table), lambda v: v > 0)
    types = call(f"key_types {instance}", lambda: c.key_types(instance, t.keys), bool)
    call(f"key_max {instance}", lambda: c.key_max(t.schema, t.table, t.keys), bool)
    call(f"key_range {instance}", lambda: c.key_range(t.schema, t.table, t.keys[0]), bool)
    call(f"key_tiles {instance}", lambda: c.key_tiles(t.schema, t.table, t.keys, 4), bool)
    plan = call(f"snapshot_plan {instance}", lambda: snapshot_plan(c, instance, t), lambda v: "kind" in v)
    integer = plan["kind"] == "int"
    if integer:
        buckets = lambda: c.key_buckets(t.schema, t.table, t.keys[0], "int", 3, plan["lo"], plan["hi"] + 1, isolation)  # noqa: E731
        call(f"key_buckets {instance}", buckets, lambda v: sum(b[1] for b in v) > 0)
    call(f"key_buckets without a key {instance}", lambda: c.key_buckets(t.schema, t.table, None, None, 1), lambda v: len(v) == 1)
    chunks = call(f"plan_chunks {instance}", lambda: plan_chunks(c, instance, t, plan, CHUNK_ROWS, isolation), lambda v: len(v) > 1)

    def read(kinds, low, high):
        return count(c.iter_table(t.schema, t.table, columns, t.keys, kinds, low, high, 1000, isolation))

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


SUITE.check("login with Encrypt=no", login, "no")
if A.tls != "off":
    SUITE.check("login with Encrypt=yes", login, "yes")
else:
    refused("login with Encrypt=yes is refused", lambda: login("yes"))
if A.only is None:
    try:
        run("no")
        run("yes" if A.tls != "off" else "no", "snapshot", lockTimeoutMs="500", sourceTimeZone="W. Europe Standard Time")
    except Exception as e:  # noqa: BLE001 - a call that failed gave nothing to go on with
        SUITE.check("the calls behind it", lambda: want(False, f"not made: {type(e).__name__}: {e}"))
SUITE.end()
