"""Rows as plain Python tuples that compare exactly, whichever reader they came from."""

import json
import struct
from datetime import UTC, date, datetime
from decimal import Decimal


def exact(value):
    """A value that is equal to another one only when both are the same in every bit that counts."""
    if isinstance(value, float):
        return repr(value)  # the sign of zero
    if isinstance(value, Decimal):
        return format(value, "f")  # with its scale
    if isinstance(value, datetime) and value.tzinfo is not None:
        return ("UTC", value.astimezone(UTC).replace(tzinfo=None))
    return value


def of_arrow(table, columns):
    """The rows of an Arrow table, one tuple each with the columns in this order."""
    return list(zip(*([exact(v) for v in table.column(c).to_pylist()] for c in columns), strict=True))


def of_text(value, delta_type):
    """A value from its text: of the truth, or of `pipectl table rows -json`."""
    if value is None:
        return None
    text = str(value)
    match delta_type:
        case "boolean":
            return text.lower() == "true"
        case "short" | "integer" | "long":
            return int(text)
        case "float":
            return repr(struct.unpack("f", struct.pack("f", float(text)))[0])
        case "double":
            return repr(float(text))
        case "date":
            return date.fromisoformat(text)
        case "timestamp_ntz":
            return datetime.fromisoformat(text)  # digits beyond the sixth are cut off
        case "timestamp":
            return ("UTC", datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None))
        case "binary":
            return bytes.fromhex(text)
    return text  # strings, and decimals with all digits of their scale


def of_lines(lines, columns):
    """The rows of NDJSON, one tuple each; columns maps names to Delta types."""
    out = []
    for line in lines:
        # Floats keep their text, -0.0 included; integers of any size are exact.
        row = json.loads(line, parse_float=str)
        out.append(tuple(of_text(row[c], t) for c, t in columns.items()))
    return out


def of_truth(path, columns):
    """The source's own rows. SQL Server's time has seven digits, the text in the lake nine."""
    out = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            row = json.loads(line)
            for c in columns:
                if c.startswith("c_time_") and row[c] is not None:
                    row[c] += "00"
            out.append(tuple(of_text(row[c], t) for c, t in columns.items()))
    return out


def same(got, want, columns, limit=3):
    """Fails unless both lists hold the same rows, in any order; says which rows and columns differ."""
    got, want = sorted(got, key=repr), sorted(want, key=repr)
    if got == want:
        return
    names = list(columns)
    left, right = set(map(repr, want)), set(map(repr, got))
    extra, missing = [r for r in got if repr(r) not in left], [r for r in want if repr(r) not in right]
    by_key = {r[0]: r for r in missing}
    lines = [f"{len(got)} rows, want {len(want)}; {len(extra)} not wanted, {len(missing)} missing"]
    for row in extra[:limit]:
        other = by_key.get(row[0])
        if other is None:
            lines.append(f"not wanted: {row!r:.1000}")
            continue
        for name, a, b in zip(names, row, other, strict=False):
            if a != b:
                lines.append(f"{names[0]} {row[0]}, {name}: {a!r:.300}, want {b!r:.300}")
    lines += [f"missing: {row!r:.1000}" for row in missing[:limit]] if not extra else []
    raise AssertionError("\n".join(lines))


def replay(bronze, columns, key, silver):
    """Silver's rows as bronze tells them: the snapshot's rows and every change after it, the last one of each key."""
    at = {c: i for i, c in enumerate(columns)}

    def order(row):
        # NULLs, which snapshot rows have, sort lowest.
        return (row[at["_start_lsn"]], -1 if row[at["_command_id"]] is None else row[at["_command_id"]], row[at["_seqval"]] or "", row[at["_operation"]])

    snapshot = max((row[at["_snapshot"]] for row in bronze if row[at["_operation"]] == 0), default="")
    newest = {}
    for row in bronze:
        if row[at["_operation"]] != 0 and row[at["_start_lsn"]] <= snapshot:
            continue
        k = tuple(row[at[c]] for c in key)
        if k not in newest or order(newest[k]) < order(row):
            newest[k] = row
    return [tuple(row[at[c]] for c in silver) for row in newest.values() if row[at["_operation"]] not in (1, 3)]
