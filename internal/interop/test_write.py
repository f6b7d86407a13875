"""Others write to our tables, and we read and go on with what they wrote."""

import pyarrow as pa
import pytest
import rows
import shapes
from deltalake import DeltaTable, write_deltalake

COLUMNS = shapes.silver("types")


@pytest.fixture(scope="session")
def copy(lake):
    return lake.copy("written")


def test_delta_rs_appends(pipectl, copy):
    """To silver, which has deletion vectors and times without a zone."""
    path = copy / "silver/types"
    before = pipectl.rows(path, COLUMNS)
    # Views of strings, which its scan gives, are not what its writer takes.
    one = pa.table(DeltaTable(path).scan())
    one = one.cast(pa.schema([pa.field(f.name, shapes.plain_arrow(f.type)) for f in one.schema]))
    one = one.sort_by("id").slice(1, 1)  # the low ends
    one = one.set_column(0, "id", pa.array([-5], pa.int32()))
    write_deltalake(path, one, mode="append")
    after = pipectl.rows(path, COLUMNS)
    rows.same(after, before + rows.of_arrow(one, COLUMNS), COLUMNS)


def test_spark_appends_and_merges(spark, pipectl, copy):
    path = copy / "silver/types"
    before = {r[0]: r for r in pipectl.rows(path, COLUMNS)}
    session = spark.session
    spark.frame(path).where("id in (0, 2, 3, 4)").selectExpr("id - 100 AS id", *[f"`{c}`" for c in list(COLUMNS)[1:]]).write.format("delta").mode("append").save(str(path))
    session.sql(f"""
        MERGE INTO delta.`{path}` t
        USING (SELECT * FROM VALUES (0, 'merged 🙂', 1.25BD), (2, NULL, NULL), (-1, 'new', 0BD) AS s(id, v, d)) s
        ON t.id = s.id
        WHEN MATCHED AND s.v IS NULL THEN DELETE
        WHEN MATCHED THEN UPDATE SET c_nvarchar = s.v, c_decimal_18_4 = s.d
        WHEN NOT MATCHED THEN INSERT (id, c_nvarchar, c_decimal_18_4) VALUES (s.id, s.v, s.d)
    """)
    at = {c: i for i, c in enumerate(COLUMNS)}

    def changed(row, **values):
        row = list(row)
        for c, v in values.items():
            row[at[c]] = v
        return tuple(row)

    want = dict(before)
    for key in (0, 2, 3, 4):
        want[key - 100] = changed(before[key], id=key - 100)
    want[0] = changed(before[0], c_nvarchar="merged 🙂", c_decimal_18_4="1.2500")
    del want[2]
    want[-1] = changed([None] * len(COLUMNS), id=-1, c_nvarchar="new", c_decimal_18_4="0.0000")
    rows.same(pipectl.rows(path, COLUMNS), list(want.values()), COLUMNS)
    assert spark.history(path)[DeltaTable(path).version()]["operationMetrics"]["numTargetDeletionVectorsAdded"] != "0"
    # What the others then see is what we see.
    rows.same(rows.of_arrow(spark.read(path), COLUMNS), list(want.values()), COLUMNS)


def test_our_runs_go_on_after_optimize(lake, spark, pipectl):
    """Spark rewrites silver, in files of its own making; the next runs merge into those."""
    for name in shapes.SOURCES:
        path = lake.home / "lake/silver" / name
        spark.session.sql(f"OPTIMIZE delta.`{path}`")
        assert spark.history(path)[DeltaTable(path).version()]["operation"] == "OPTIMIZE"
    for round in range(2):
        lake.scenario.tell("change 60")
        lake.pipectl("run", "-exclude", "check.all,check.plain")
    assert "equal" in lake.pipectl("check")
    truth = lake.truth("truth-optimized")
    for name, columns in shapes.SOURCES.items():
        path = lake.home / "lake/silver" / name
        rows.same(pipectl.rows(path, columns), lake.rows(name, truth), columns)
        rows.same(rows.of_arrow(spark.read(path), columns), lake.rows(name, truth), columns)
