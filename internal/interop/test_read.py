"""Other people's readers read our tables: columns, types, rows, the verdict."""

import json

import pytest
import rows
import shapes
from deltalake import DeltaTable

# polars does not know column mapping and says so.
MAPPED = {"bronze/odd", "silver/odd"}


def readable(lake, reader, table):
    """Whether the reader knows the table's features; that it says so when it does not is part of the test."""
    if reader.name == "polars" and table in MAPPED:
        with pytest.raises(Exception, match="columnMapping"):
            reader.read(lake.still / table)
        return False
    return True


@pytest.mark.parametrize("table", shapes.TABLES)
def test_columns_and_types_are_the_documented_ones(lake, reader, table):
    if not readable(lake, reader, table):
        return
    want = {c: reader.own(t) for c, t in shapes.TABLES[table].items()}
    got = reader.types(lake.still / table)
    assert list(got.items()) == list(want.items())


@pytest.mark.parametrize("name", shapes.SOURCES)
def test_silver_equals_the_source(lake, reader, still, name):
    if not readable(lake, reader, f"silver/{name}"):
        return
    got = still(reader, f"silver/{name}")
    width = len(shapes.SOURCES[name])
    rows.same([r[:width] for r in got], lake.rows(name), shapes.SOURCES[name])


@pytest.mark.parametrize("name", shapes.SOURCES)
def test_bronze_replayed_gives_silver(lake, reader, still, name):
    if not readable(lake, reader, f"silver/{name}"):
        return
    bronze = still(reader, f"bronze/{name}")
    assert {r[3] for r in bronze} == {0, 1, 2, 3, 4}, "every operation occurs"
    replayed = rows.replay(bronze, shapes.bronze(name), shapes.KEYS[name], shapes.silver(name))
    rows.same(replayed, still(reader, f"silver/{name}"), shapes.silver(name))


@pytest.mark.parametrize("table", shapes.TABLES)
def test_our_reader_agrees(lake, reader, still, pipectl, table):
    if not readable(lake, reader, table):
        return
    rows.same(pipectl.rows(lake.still / table, shapes.TABLES[table]), still(reader, table), shapes.TABLES[table])


def deleted(path):
    """Rows that deletion vectors hide, from the log itself."""
    live = {}
    for commit in sorted((path / "_delta_log").glob("*[0-9].json")):
        for line in commit.read_text().splitlines():
            action = json.loads(line)
            if "remove" in action:
                live.pop(action["remove"]["path"], None)
            if "add" in action:
                live[action["add"]["path"]] = (action["add"].get("deletionVector") or {}).get("cardinality", 0)
    return sum(live.values())


@pytest.mark.parametrize("name", shapes.SOURCES)
def test_silver_has_deletion_vectors(lake, name):
    path = lake.still / "silver" / name
    assert "deletionVectors" in DeltaTable(path).protocol().reader_features
    assert deleted(path) > 0
    assert DeltaTable(path).version() > 10 and list((path / "_delta_log").glob("*10.checkpoint.parquet"))


@pytest.mark.parametrize("name", shapes.SOURCES)
def test_facts_count_what_bronze_holds(lake, reader, still, name):
    table = f"bronze/{name}"
    if not readable(lake, reader, table):
        return
    at = {c: i for i, c in enumerate(shapes.FACTS)}
    facts = [f for f in still(reader, "ops/ingestion_facts") if f[at["target"]] == f"bronze.{name}"]
    columns = {c: i for i, c in enumerate(shapes.bronze(name))}
    bronze = still(reader, table)
    batches = {f[at["batch_id"]]: f for f in facts if f[at["event"]] is None}
    assert len(batches) > 10
    for batch, fact in batches.items():
        held = [r for r in bronze if r[columns["_batch_id"]] == batch]
        count = [sum(r[columns["_operation"]] == op for r in held) for op in (1, 2, 4)]
        assert fact[at["rows"]] == len(held), f"batch {batch}"
        assert [fact[at[c]] for c in ("deletes", "inserts", "updates")] == count, f"batch {batch}"
        lsns = [r[columns["_start_lsn"]] for r in held]
        assert (fact[at["min_lsn"]], fact[at["max_lsn"]]) == (min(lsns, default=None), max(lsns, default=None)), f"batch {batch}"
    assert {r[columns["_batch_id"]] for r in bronze} <= {None, *batches}
    snapshot = sum(f[at["rows"]] for f in facts if f[at["event"]] == "bootstrap")
    assert snapshot == sum(r[columns["_operation"]] == 0 for r in bronze) > 0


@pytest.mark.parametrize("name", shapes.SOURCES)
def test_the_verdict_is_what_the_facts_allow(reader, still, name):
    at = {c: i for i, c in enumerate(shapes.FACTS)}
    facts = [f for f in still(reader, "ops/ingestion_facts") if f[at["target"]] == f"bronze.{name}" and f[at["event"]] is None]
    control = {r[0]: dict(zip(shapes.CONTROL, r, strict=True)) for r in still(reader, "ops/table_finalization")}
    bronze, silver = control[f"bronze.{name}"], control[f"silver.{name}"]
    for row in (bronze, silver):
        assert row["finalized_until"] == row["end_commit_ts"].replace(second=0, microsecond=0)
    # A first batch that found nothing has no end in its facts. The verdict stands
    # at it until a later batch ends in a later minute.
    ends = {f[at["end_lsn"]]: f[at["end_commit_ts"]] for f in facts if f[at["end_lsn"]] is not None}
    if len(ends) == len({f[at["end_lsn"]] for f in facts}) or bronze["end_lsn"] in ends:
        assert ends[bronze["end_lsn"]] == bronze["end_commit_ts"]
    else:
        assert bronze["end_lsn"] < min(ends)
    assert bronze["finalized_until"] == max(ends.values()).replace(second=0, microsecond=0)
    assert silver["finalized_until"] == bronze["finalized_until"]
    assert silver["applied_lsn"] == max(f[at["max_lsn"]] for f in facts if f[at["max_lsn"]] is not None)
    assert bronze["applied_lsn"] is None and silver["snapshot_lsn"] is not None and silver["open_snapshot_lsn"] is None


def test_the_report_of_the_last_check(reader, still):
    at = {c: i for i, c in enumerate(shapes.REPORT)}
    report = still(reader, "ops/reconcile")
    assert {r[at["silver"]] for r in report} == {"silver.orders", "silver.types", "silver.odd"}
    assert {r[at["status"]] for r in report} == {"MATCH"}
    assert all(r[at["source_rows"]] == r[at["silver_rows"]] and r[at["source_key_sum"]] == r[at["silver_key_sum"]] for r in report)


def test_a_lake_without_deletion_vectors_is_read_by_all(lake, reader):
    path = lake.home / "still/plain/silver/orders"
    assert "deletionVectors" not in DeltaTable(path).protocol().reader_features
    want = lake.rows("orders")
    rows.same(rows.of_arrow(reader.read(path), shapes.ORDERS), want, shapes.ORDERS)
    # The reader through pyarrow, which knows no deletion vectors.
    rows.same(rows.of_arrow(DeltaTable(path).to_pyarrow_table(), shapes.ORDERS), want, shapes.ORDERS)
