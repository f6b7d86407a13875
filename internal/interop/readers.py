"""The readers under test. Each reads a table into Arrow and names the types of its columns in its own words."""

import glob
import json
import subprocess

import duckdb
import duckdb_extension_delta
import polars
import pyarrow as pa
from deltalake import DeltaTable

import rows
import shapes


class DeltaRs:
    name = "delta-rs"

    def read(self, path, version=None):
        return pa.table(DeltaTable(path, version=version).scan())

    def types(self, path):
        return {f["name"]: f["type"] for f in json.loads(DeltaTable(path).schema().to_json())["fields"]}

    def own(self, delta_type):
        return delta_type


class DuckDB:
    name = "duckdb"

    def __init__(self):
        self.connection = duckdb.connect()
        (extension,) = glob.glob(f"{list(duckdb_extension_delta.__path__)[0]}/extensions/*/delta.duckdb_extension")
        self.connection.execute(f"LOAD '{extension}'")
        self.connection.execute("SET TimeZone = 'UTC'")

    def relation(self, path, version=None):
        at = "" if version is None else f", version => {version}"
        return self.connection.sql(f"SELECT * FROM delta_scan('{path}'{at})")

    def read(self, path, version=None):
        return self.relation(path, version).to_arrow_table()

    def types(self, path):
        r = self.relation(path)
        return dict(zip(r.columns, map(str, r.types), strict=True))

    def own(self, delta_type):
        return shapes.duckdb(delta_type)


class Polars:
    name = "polars"

    def read(self, path, version=None):
        return polars.scan_delta(str(path), version=version).collect().to_arrow()

    def types(self, path):
        return {f.name: shapes.plain_arrow(f.type) for f in polars.scan_delta(str(path)).head(0).collect().to_arrow().schema}

    def own(self, delta_type):
        return shapes.arrow(delta_type)


class Spark:
    name = "spark"

    def __init__(self, session):
        self.session = session

    def frame(self, path, version=None):
        reader = self.session.read.format("delta")
        if version is not None:
            reader = reader.option("versionAsOf", version)
        return reader.load(str(path))

    def read(self, path, version=None):
        return self.frame(path, version).toArrow()

    def types(self, path):
        return dict(self.frame(path).dtypes)

    def own(self, delta_type):
        return shapes.spark(delta_type)

    def history(self, path):
        """Commits by version."""
        return {r["version"]: r for r in self.session.sql(f"DESCRIBE HISTORY delta.`{path}`").collect()}


class Pipectl:
    """Our own reader, held against the same rows."""

    name = "pipectl"

    def __init__(self, binary):
        self.binary = binary

    def rows(self, path, columns, version=None):
        at = [] if version is None else ["-version", str(version)]
        out = subprocess.run([self.binary, "table", "rows", "-json", *at, str(path)], check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
        return rows.of_lines(out.splitlines(), columns)
