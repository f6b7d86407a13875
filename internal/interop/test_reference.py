"""Another implementation of the whole job, mssql-cdc-pyspark on Spark with Microsoft's driver, over tables that somebody
changes all the while: its silver must be the source, row by row, and its reconcile must say so."""

import os
import pathlib

import mssql_cdc as reference
import pytest
import rows
import shop
from deltalake import DeltaTable
from mssql_cdc import finalization
from pyspark.errors import StreamingQueryException

SNAPSHOT = {"orders": "full", "lines": "chunked"}


class Pipeline:
    """Its pipeline of one table."""

    def __init__(self, session, simulator, home, table):
        self.session, self.table = session, table
        self.bronze, self.silver, self.checkpoint = (str(home / d / table) for d in ("bronze", "silver", "checkpoint"))
        self.facts, self.control = str(home / "facts"), str(home / "control")
        self.options = {
            "connectionString": simulator.connection, "captureInstance": f"dbo_{table}", "numPartitions": "2",
            "isolationLevel": "snapshot",
        }  # fmt: skip

    def stream(self):
        """All changes there are, into bronze; the first time opens the snapshot, or takes it."""
        for left in (2, 1, 0):
            query = reference.stream(self.session, self.options).to_delta(
                self.bronze, app_id=self.table, checkpoint=self.checkpoint, facts_table=self.facts, trigger={"availableNow": True},
                bootstrap=True, snapshot=SNAPSHOT[self.table],
            )  # fmt: skip
            try:
                query.awaitTermination()
                break
            except StreamingQueryException as e:
                # Spark waits 10 s for a worker in Python, which a busy machine may not keep: the run is started again.
                if not left or "failed to connect back" not in str(e):
                    raise
        return query.lastProgress

    def backfill(self, waves=None):
        return reference.stream(self.session, self.options).backfill(
            self.bronze, app_id=self.table, facts_table=self.facts, chunk_rows=50, max_waves=waves, target_wave_seconds=0,
        )  # fmt: skip

    def apply(self):
        return reference.apply_changes(
            self.session, self.bronze, self.silver, control_table=self.control, facts_table=self.facts, options=self.options, granularity="minute",
        )  # fmt: skip

    def reconcile(self):
        """Every bucket, row by row."""
        got = reference.reconcile(
            self.session, self.options, self.silver, bronze=self.bronze, control_table=self.control, facts_table=self.facts, bucket_rows=100, sample=1.0,
        )  # fmt: skip
        return {k: got[k] for k in ("buckets", "match", "in_flight", "mismatch", "hashed", "failures")}


@pytest.fixture(scope="module")
def simulator():
    running = shop.Simulator(os.environ["INTEROP_MSSQLSIM"], pathlib.Path(__file__).with_name("reference.sql"))
    yield running
    running.close()


@pytest.fixture(scope="module")
def pipelines(simulator, spark_session, tmp_path_factory):
    """Both tables' pipelines after their last run, with what the writer left."""
    home = tmp_path_factory.mktemp("reference")
    made = {table: Pipeline(spark_session, simulator, home, table) for table in shop.TABLES}
    orders, lines = made["orders"], made["lines"]
    writer = shop.Writer(simulator)
    writer.load(300)
    writer.start()
    try:
        orders.stream()
        lines.stream()
        orders.apply()
        started = lines.backfill(waves=1)
        assert started["state"] == "running" and 0 < started["chunks_done"] < started["chunks_total"], started
        assert lines.backfill()["done"]
    finally:
        writer.stop()
    for p in made.values():
        end = finalization.end_offset_from_progress(p.stream())
        p.verdict = finalization.advance(spark_session, p.control, p.bronze, end, granularity="minute")
        p.applied = p.apply()
    return writer, made


@pytest.mark.parametrize("table", shop.TABLES)
def test_the_workload_was_one(pipelines, simulator, pipectl, table):
    """Every kind of change, also while snapshots were read; the source holds what the writer wrote."""
    writer, made = pipelines
    assert set(writer.done) == set(writer.KINDS), writer.done
    rows.same(simulator.rows(table), writer.rows(table), shop.TABLES[table])
    bronze = pipectl.rows(made[table].bronze, {"_operation": "integer", "_start_lsn": "string", "_snapshot": "string"})
    assert {op for op, _, _ in bronze} == {0, 1, 2, 3, 4}
    if SNAPSHOT[table] == "chunked":
        assert any(op == 0 and lsn > snapshot for op, lsn, snapshot in bronze), "no chunk was read after a change"


@pytest.mark.parametrize("table", shop.TABLES)
def test_silver_of_the_reference_equals_the_source(pipelines, simulator, pipectl, table):
    _, made = pipelines
    got = pipectl.rows(made[table].silver, shop.TABLES[table])
    assert got
    rows.same(got, simulator.rows(table), shop.TABLES[table])


@pytest.mark.parametrize("table", shop.TABLES)
def test_reconcile_of_the_reference_says_equal(pipelines, table):
    got = pipelines[1][table].reconcile()
    assert got["match"] == got["buckets"] > 0 and got["hashed"] >= got["buckets"], got
    assert got["in_flight"] == got["mismatch"] == 0 and got["failures"] == {}, got


def test_its_verdict_moves_with_it(pipelines):
    for p in pipelines[1].values():
        assert p.verdict is not None and p.applied["finalized_until"] == p.verdict


def test_damage_of_its_silver_is_found_by_both(pipelines, simulator, pipectl):
    """The last of all: a row lost, one changed, one too many."""
    p = pipelines[1]["orders"]
    keys = sorted(r[0] for r in pipectl.rows(p.silver, shop.ORDERS))
    silver = DeltaTable(p.silver)
    assert silver.delete(f"order_id = {keys[0]}")["num_deleted_rows"] == 1
    assert silver.update({"customer": "'someone else'"}, predicate=f"order_id = {keys[1]}")["num_updated_rows"] == 1
    assert silver.update({"order_id": "2000000000"}, predicate=f"order_id = {keys[2]}")["num_updated_rows"] == 1
    with pytest.raises(AssertionError, match="2 not wanted, 3 missing"):
        rows.same(pipectl.rows(p.silver, shop.ORDERS), simulator.rows("orders"), shop.ORDERS)
    assert p.reconcile()["failures"] == {"MISSING_TARGET": 2, "RECORD_DIFF": 1, "MISSING_SOURCE": 1}
