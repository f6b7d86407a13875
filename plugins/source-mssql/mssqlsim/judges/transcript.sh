#!/usr/bin/env bash
# What tsql gives for the statements of the simulator's guide is what the guide says.
# Arguments: --host= --port= --user= --password= of a server that nobody has used, --page=FILE.
# Prints one JSON object; the difference goes to standard error.
set -uo pipefail

declare -A o
for a in "$@"; do
  case $a in --*=*) a=${a#--}; o[${a%%=*}]=${a#*=} ;; *) echo "not --name=value: $a" >&2; exit 2 ;; esac
done
for name in host port user password page; do
  [ -n "${o[$name]:-}" ] || { echo "--$name= is missing" >&2; exit 2; }
done

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printf '[server]\n\thost = %s\n\tport = %s\n\ttds version = 7.4\n\tclient charset = UTF-8\n' "${o[host]}" "${o[port]}" > "$folder/freetds.conf"
export FREETDSCONF=$folder/freetds.conf LC_ALL=C.UTF-8

# The blocks of the page; what is typed into them; and what tsql writes, which shows its prompts and not what is typed.
sed -n '/^```tsql$/,/^```$/{/^```/d;p}' "${o[page]}" > "$folder/page"
sed -nE 's/^[0-9]+> //p' "$folder/page" > "$folder/typed"
awk '{ if (match($0, /^[0-9]+> /)) printf "%s", substr($0, 1, RLENGTH); else print }' "$folder/page" > "$folder/want"

# Unbuffered, so that errors, which go to standard error, come in their place.
stdbuf -o0 timeout 60 tsql -S server -U "${o[user]}" -P "${o[password]}" < "$folder/typed" 2>&1 |
  sed -E 's/^\r//
    /^(locale( charset)? is|using default charset) "/d
    s/\b[0-9a-f]{20}\b/<lsn>/g
    s/\b[A-Z][a-z]{2} [ 0-9][0-9] [0-9]{4} [ 0-9][0-9]:[0-9]{2}[0-9:]*[AP]M\b/<time>/g
    s/\b[0-9]{9,10}\b/<id>/g' > "$folder/got"

lines=$(wc -l < "$folder/want") ok=true detail="$(wc -l < "$folder/typed") lines typed, $lines lines of answers"
if [ "$lines" -lt 20 ] || ! diff -u --label "the page" --label tsql "$folder/want" "$folder/got" >&2; then
  ok=false detail="it differs from the page"
fi
printf '{"judge":"tsql","test":"the transcript of the guide","ok":%s,"detail":"%s"}\n' $ok "$detail"
[ $ok = true ]
