"""Runs the reference implementation (PyPI mssql-cdc-pyspark) for the benchmark.

It connects, starts Spark once and prints "ready", or "cannot REASON" when it has no driver here.
Then it does what each line of standard input says and answers with one line of JSON: {"seconds": s, "rows": rows of the table} or {"error": text}.

    stream FOLDER BOOTSTRAP   all changes of the capture instance into FOLDER/bronze; "full" copies the table first
    apply FOLDER              FOLDER/bronze into FOLDER/silver
"""

import argparse
import json
import sys
import time

from pyspark.sql import SparkSession

from mssql_cdc import stream
from mssql_cdc.client import make_client
from mssql_cdc.silver import apply_changes

ap = argparse.ArgumentParser()
for name in ("host", "port", "database", "user", "password", "instance", "key", "jars"):
    ap.add_argument("--" + name, required=True)
args = ap.parse_args()

password = args.password.replace("}", "}}")
options = {
    "connectionString": f"Server={args.host},{args.port};Database={args.database};UID={args.user};PWD={{{password}}};"
    "Encrypt=no;TrustServerCertificate=yes;",
    "captureInstance": args.instance,
}
try:
    client = make_client(options)
    client.max_lsn()
    client.close()
except Exception as e:  # noqa: BLE001 - mostly libraries of the system that its driver needs
    print("cannot connect: " + " ".join(f"{type(e).__name__}: {e}".split())[:900], flush=True)
    sys.exit(0)

spark = (
    SparkSession.builder.master("local[*]").appName("bench")
    .config("spark.jars", args.jars)
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.shuffle.partitions", "4")
    .config("spark.ui.enabled", "false")
    .config("spark.ui.showConsoleProgress", "false")
    .config("spark.driver.memory", "4g")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")


def facts(folder):
    return f"{folder}/facts"


def to_bronze(folder, bootstrap):
    query = stream(spark, options).to_delta(
        f"{folder}/bronze", "bench", f"{folder}/checkpoint", facts(folder),
        trigger={"availableNow": True}, bootstrap=bootstrap == "full",
    )
    query.awaitTermination()
    if query.exception() is not None:
        raise query.exception()
    return f"{folder}/bronze"


def to_silver(folder):
    apply_changes(
        spark, f"{folder}/bronze", f"{folder}/silver", keys=[args.key],
        control_table=f"{folder}/control", facts_table=facts(folder), options=options,
    )
    return f"{folder}/silver"


commands = {"stream": to_bronze, "apply": to_silver}
print("ready", flush=True)
for line in sys.stdin:
    word, *rest = line.split()
    try:
        began = time.monotonic()
        table = commands[word](*rest)
        seconds = time.monotonic() - began
        rows = spark.read.format("delta").load(table).count()
        print(json.dumps({"seconds": seconds, "rows": rows}), flush=True)
    except Exception as e:  # noqa: BLE001 - whatever it is, the caller tells it
        print(json.dumps({"error": f"{type(e).__name__}: {e}"[:2000]}), flush=True)
spark.stop()
