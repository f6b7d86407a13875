"""One lake and one Spark session for all tests."""

import os
import pathlib

import lake as lakes
import pytest
import readers
import rows
import shapes


@pytest.fixture(scope="session")
def lake(tmp_path_factory):
    scenario = lakes.Scenario(os.environ["INTEROP_SCENARIO"])
    try:
        made = lakes.Lake(tmp_path_factory.mktemp("interop"), os.environ["INTEROP_PIPECTL"], scenario)
        made.fill()
        yield made
    finally:
        scenario.close()


@pytest.fixture(scope="session")
def spark_session(tmp_path_factory):
    # Imported here: the other tests run where there is no Java.
    from pyspark.sql import SparkSession

    jars = sorted(map(str, pathlib.Path(os.environ["INTEROP_JARS"]).glob("*.jar")))
    home = tmp_path_factory.mktemp("spark")
    session = (
        SparkSession.builder.master("local[2]").appName("interop")
        .config("spark.jars", ",".join(jars))
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(home))
        # A small machine and small tables.
        .config("spark.driver.memory", "1g").config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
        # Work on a few rows does not earn what compiling it costs.
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .config("spark.sql.codegen.wholeStage", "false").config("spark.sql.adaptive.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2").config("spark.default.parallelism", "2")
        .config("spark.databricks.delta.snapshotPartitions", "2")
        .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def spark(spark_session):
    return readers.Spark(spark_session)


@pytest.fixture(scope="session")
def pipectl():
    return readers.Pipectl(os.environ["INTEROP_PIPECTL"])


READERS = {"delta-rs": readers.DeltaRs, "duckdb": readers.DuckDB, "polars": readers.Polars}


@pytest.fixture(scope="session", params=[*READERS, "spark"])
def reader(request):
    if request.param == "spark":
        return request.getfixturevalue("spark")
    return READERS[request.param]()


@pytest.fixture(scope="session")
def still(lake):
    """Reads tables of the lake as it was after the last run; each reader reads each only once."""
    seen = {}

    def read(reader, table, version=None):
        key = (reader.name, table, version)
        if key not in seen:
            seen[key] = rows.of_arrow(reader.read(lake.still / table, version), shapes.TABLES[table])
        return seen[key]

    return read
