#!/usr/bin/env bash
# Judges a server through tsql, the client of FreeTDS: a C library that speaks TDS 7.1 to 7.4.
# Arguments: --host= --port= --database= --user= --password= --tls=off|login|on --values=FILE [--only=logins].
# Prints one JSON object a line for each test.
set -uo pipefail

declare -A o
for a in "$@"; do
  case $a in --*=*) a=${a#--}; o[${a%%=*}]=${a#*=} ;; *) echo "not --name=value: $a" >&2; exit 2 ;; esac
done
for name in host port database user password tls values; do
  [ -n "${o[$name]:-}" ] || { echo "--$name= is missing" >&2; exit 2; }
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for mode in off request require; do
  printf '[%s]\n\thost = %s\n\tport = %s\n\tencryption = %s\n\tclient charset = UTF-8\n' "$mode" "${o[host]}" "${o[port]}" "$mode"
done > "$folder/freetds.conf"
export FREETDSCONF=$folder/freetds.conf

passed=0 failed=0

# judge NAME PATTERN OUTPUT: passes when the output matches the pattern of the shell.
judge() {
  local ok=true text
  # shellcheck disable=SC2053 # it is a pattern
  if [[ $3 == $2 ]]; then passed=$((passed + 1)); else ok=false failed=$((failed + 1)); fi
  text=$(printf %s "$3" | tr '\n\t' '  ' | tr -d '"\\' | cut -c1-300)
  printf '{"judge":"tsql","test":"%s","ok":%s,"detail":"%s"}\n' "$1" $ok "$text"
}

# ask ENCRYPTION TDS-VERSION SQL [PASSWORD]
ask() {
  printf '%s\ngo\nquit\n' "$3" | TDSVER=$2 timeout 30 tsql -S "$1" -D "${o[database]}" -U "${o[user]}" -P "${4:-${o[password]}}" -o q -t '|' 2>&1 |
    grep -v '^locale\|charset'
}

# everything is a batch for each value.
everything() {
  grep -v '^#\|^$' "${o[values]}" | while IFS=$'\t' read -r _ _ expression _; do
    printf "SELECT 'before' AS x, %s AS v, 'after' AS w\ngo\n" "$expression"
  done
}

for mode in off request require; do
  pattern="*${o[database]}|*"
  name="login with encryption $mode"
  # Which asks for none must be refused by a server that insists, and the other way round.
  case ${o[tls]}-$mode in off-require | on-off) pattern='*There was a problem connecting to the server*' name+=' is refused' ;; esac
  judge "$name" "$pattern" "$(ask $mode 7.4 "SELECT DB_NAME() AS a, 1 AS b")"
done
judge "login with a wrong password" "*18456*" "$(ask request 7.4 'SELECT 1' not-it)"

if [ "${o[only]:-}" != logins ]; then
  for version in 7.1 7.2 7.3 7.4; do
    judge "TDS $version" "*one|${o[database]}*" "$(ask request $version "SELECT 'one' AS a, DB_NAME() AS b")"
  done
  all=$(grep -vc '^#\|^$' "${o[values]}")
  for mode in off request require; do
    judge "all types with encryption $mode" "$all values" "$(ask $mode 7.4 "$(everything)" | grep -c '^before|.*after$') values"
  done
  # That the columns around a value are right says that it was read to its end.
  while IFS=$'\t' read -r name type expression text; do
    case $name in '#'* | '') continue ;; esac
    case $type in
      hierarchyid) value= ;; # tsql leaves the column out
      real | float | date* | time* | smalldate* | *'(max)') value='*|' ;; # shown in a form of its own, or too long for this
      *) value="${text#0x}|" ;;
    esac
    judge "type $name" "*before|${value}after*" "$(ask request 7.4 "SELECT 'before' AS x, $expression AS v, 'after' AS w")"
    judge "type $name NULL" "*before|NULL|after*" "$(ask request 7.4 "SELECT 'before' AS x, CAST(NULL AS $type) AS v, 'after' AS w")"
  done < "${o[values]}"
  for failing in "8134;SELECT 1/0" "208;SELECT * FROM dbo.no_such_table" "50000;RAISERROR('text', 16, 3)" "2812;EXEC dbo.no_such_procedure"; do
    judge "error ${failing%%;*}" "*Msg ${failing%%;*}*" "$(ask request 7.4 "${failing#*;}")"
  done
fi
printf '{"judge":"tsql","passed":%d,"failed":%d}\n' $passed $failed
[ $failed -eq 0 ] && [ $passed -gt 0 ]
