"""The log as others see it: facts of batches in the history, older versions, checkpoints without the commits before them."""

import json

import pytest
import rows
import shapes
from deltalake import DeltaTable


def test_the_history_has_the_facts_of_each_batch(lake, spark, still):
    history = spark.history(lake.still / "bronze/orders")
    at = {c: i for i, c in enumerate(shapes.bronze("orders"))}
    bronze = still(spark, "bronze/orders")
    assert history[0]["operation"] == "CREATE TABLE" and history[0]["userMetadata"] is None
    assert json.loads(history[1]["userMetadata"])["snapshot"] == "dbo_orders"
    batches = [json.loads(history[v]["userMetadata"]) for v in range(2, len(history))]
    assert len(batches) > 10
    for batch in batches:
        held = [r for r in bronze if r[at["_batch_id"]] == batch["batch_id"]]
        lsns = [r[at["_start_lsn"]] for r in held]
        assert batch["app_id"] == "bronze.orders"
        assert (batch["rows"], batch["min_lsn"], batch["max_lsn"]) == (len(held), min(lsns), max(lsns))
        assert [batch[c] for c in ("deletes", "inserts", "updates")] == [sum(r[at["_operation"]] == op for r in held) for op in (1, 2, 4)]
    for commit in DeltaTable(lake.still / "bronze/orders").history():
        assert commit.get("userMetadata") == history[commit["version"]]["userMetadata"], f"version {commit['version']}"


def test_an_older_version_of_bronze_gives_the_older_rows(lake, reader, still):
    at = {c: i for i, c in enumerate(shapes.bronze("orders"))}
    # Version 0 is the creation, 1 the snapshot, 2 the first batch, numbered 0 or 1.
    older = still(reader, "bronze/orders", version=6)
    last = max(r[at["_batch_id"]] for r in older if r[at["_batch_id"]] is not None)
    want = [r for r in still(reader, "bronze/orders") if r[at["_batch_id"]] is None or r[at["_batch_id"]] <= last]
    assert 0 < len(older) < len(still(reader, "bronze/orders"))
    rows.same(older, want, shapes.bronze("orders"))


@pytest.mark.parametrize("name", ["orders", "types"])
def test_an_older_version_of_silver_equals_the_older_source(lake, reader, still, pipectl, name):
    for versions, truth in lake.past:
        want = lake.rows(name, truth)
        got = still(reader, f"silver/{name}", version=versions[name])
        rows.same([r[: len(shapes.SOURCES[name])] for r in got], want, shapes.SOURCES[name])
        got = pipectl.rows(lake.still / "silver" / name, shapes.SOURCES[name], versions[name])
        rows.same(got, want, shapes.SOURCES[name])


@pytest.fixture(scope="session")
def cleaned(lake):
    """A copy of the lake whose logs begin at the newest checkpoint, as after log cleanup."""
    copy = lake.copy("cleaned", lake.still.parent)
    for table in shapes.TABLES:
        log = copy / table / "_delta_log"
        checkpoints = sorted(int(p.name[:20]) for p in log.glob("*.checkpoint.parquet"))
        if not checkpoints:
            continue
        for commit in log.glob("*[0-9].json"):
            if int(commit.name[:20]) < checkpoints[-1]:
                commit.unlink()
    return copy


# The report has too few commits for a checkpoint.
@pytest.mark.parametrize("table", [t for t in shapes.TABLES if t != "ops/reconcile"])
def test_a_log_that_begins_at_a_checkpoint_is_read(lake, reader, still, pipectl, cleaned, table):
    assert not (cleaned / table / "_delta_log" / f"{0:020}.json").exists(), "the log was cut"
    columns = shapes.TABLES[table]
    if reader.name == "spark" and table not in ("bronze/orders", "silver/orders", "silver/types"):
        return  # a few will do: each costs it seconds
    if reader.name == "polars" and table.endswith("/odd"):
        return  # refused, see test_read
    want = still(reader, table)
    rows.same(rows.of_arrow(reader.read(cleaned / table), columns), want, columns)
    rows.same(pipectl.rows(cleaned / table, columns), want, columns)
