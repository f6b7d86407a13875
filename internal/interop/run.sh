#!/usr/bin/env bash
# Other people's readers over tables that the real binary wrote: Spark, delta-rs, DuckDB, polars; and another implementation of
# the whole job, mssql-cdc-pyspark, over the simulator. Makes .venv once. Needs Python 3.11 or newer, Java 17 or newer, Maven,
# and libltdl for the latter; without them it is skipped loudly, and fails where CI is set.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
venv=$root/.venv

missing() {
  printf '\n*** interop: %s\n' "$1" >&2
  if [ -n "${CI:-}" ]; then
    printf '*** interop: failed, because CI is set.\n\n' >&2
    exit 1
  fi
  printf '*** interop: SKIPPED. Nothing was tested; no other reader has seen these tables.\n\n' >&2
  exit 0
}

. "$root/.ci/versions.sh"
python=${PYTHON:-python3}
for tool in python java; do
  why=$(lacking "$tool")
  [ -z "$why" ] || missing "$why"
done

# mssql-python brings the ODBC driver along, but not the libltdl that the driver loads.
without=()
if ! "$python" -c 'import ctypes; ctypes.CDLL("libltdl.so.7")' 2>/dev/null; then
  [ -z "${CI:-}" ] || missing "libltdl.so.7 (Debian: libltdl7) is missing, the driver of mssql-cdc-pyspark needs it"
  without=("--ignore=$here/test_reference.py")
fi

# Maven's repository is for one at a time, and the judges may be at it too.
maven() {
  mkdir -p "$HOME/.m2"
  if command -v flock >/dev/null; then flock "$HOME/.m2" mvn "$@" </dev/null; else mvn "$@" </dev/null; fi
}

# The mark is written last, so that an interrupted installation is done again.
mark=$venv/interop.$(cat "$here/requirements.txt" "$here/jars.txt" | cksum | cut -d' ' -f1)
if [ ! -e "$mark" ]; then
  command -v mvn >/dev/null || missing "Maven (mvn) is missing, it fetches Spark's Delta jars"
  echo "interop: making $venv"
  rm -rf "$venv"
  "$python" -m venv "$venv"
  "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
  while read -r artifact; do
    maven --quiet --batch-mode org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
      "-Dartifact=$artifact" "-DoutputDirectory=$venv/jars"
  done < <(grep -v '^#' "$here/jars.txt")
  touch "$mark"
fi

cd "$root"
go=${GO:-go}
"$go" build -o bin/ ./cmd/pipectl ./plugins/source-mssql/cmd/mssqlsim
"$go" build -o bin/tools/ ./internal/interop/scenario

export INTEROP_PIPECTL=$root/bin/pipectl INTEROP_SCENARIO=$root/bin/tools/scenario INTEROP_JARS=$venv/jars
export INTEROP_MSSQLSIM=$root/bin/mssqlsim PYSPARK_PYTHON=$venv/bin/python
export PYTHONDONTWRITEBYTECODE=1 SPARK_LOCAL_IP=127.0.0.1 TZ=UTC
code=0
"$venv/bin/python" -m pytest -p no:cacheprovider -q --durations=5 "${without[@]}" "$here" "$@" || code=$?
if [ ${#without[@]} -gt 0 ]; then
  printf '\n*** interop: libltdl.so.7 (Debian: libltdl7) is missing.\n*** interop: SKIPPED: mssql-cdc-pyspark. It has not read this simulator.\n\n' >&2
fi
exit $code
