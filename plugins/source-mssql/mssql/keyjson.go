package mssql

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// A key travels as JSON: a scalar for one column, a list for several. What
// JSON has no type for is text: ISO 8601 times, plain decimals, binaries as 0x
// and lower-case digits. A bound must be monotonic, not exact: times are cut
// to the microsecond.

// encodeKey is the JSON of a key that the server answered.
func encodeKey(values []driver.Value, types []string) (string, error) {
	out := make([]any, len(values))
	for i, v := range values {
		x, err := keyValue(v, types[i])
		if err != nil {
			return "", err
		}
		out[i] = x
	}
	var whole any = out
	if len(out) == 1 {
		whole = out[0]
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(whole); err != nil {
		return "", fmt.Errorf("a key as JSON: %w", err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func keyValue(v driver.Value, from string) (any, error) {
	switch x := v.(type) {
	case nil, bool, int64, string:
		return x, nil
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("a key of type %s is no number", from)
		}
		if from == "REAL" {
			return json.Number(strconv.FormatFloat(x, 'g', -1, 32)), nil
		}
		return x, nil
	case time.Time:
		switch from {
		case "DATE":
			return x.Format(dateLayout), nil
		case "DATETIME", "SMALLDATETIME":
			return x.Format(millisLayout), nil
		case "DATETIME2":
			return x.Format(microsLayout), nil
		case "DATETIMEOFFSET":
			return x.UTC().Format(offsetLayout), nil
		}
	case []byte:
		switch from {
		case "DECIMAL", "MONEY", "SMALLMONEY":
			return string(x), nil
		case "UNIQUEIDENTIFIER":
			if len(x) == 16 {
				return string(appendGUID(nil, x)), nil
			}
		case "BINARY", "VARBINARY":
			return string(appendBinary(nil, x)), nil
		}
	}
	return nil, fmt.Errorf("a key of type %s came as %T", from, v)
}

// readsBack reports whether all texts of a key are what the server holds. The
// driver reads what it cannot decode, half of a pair of UTF-16 or a byte that
// the code page does not have, as U+FFFD, which sorts anywhere.
func readsBack(key string) bool {
	return !strings.Contains(key, "\uFFFD") && !strings.Contains(key, `\ufffd`)
}

// decodeKey reads a bound of a key of n columns; "" and null are open.
// integers tells that all its values are integers.
func decodeKey(text string, n int) (b tsql.Bound, integers bool, err error) {
	if text == "" {
		return nil, true, nil
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var whole any
	if err := d.Decode(&whole); err != nil || d.More() {
		return nil, false, fmt.Errorf("a bound of a key is no JSON value")
	}
	if whole == nil {
		return nil, true, nil
	}
	list, isList := whole.([]any)
	if !isList {
		list = []any{whole}
	}
	if len(list) != n || isList != (n > 1) {
		return nil, false, fmt.Errorf("a bound of %d values does not fit a key of %d columns", len(list), n)
	}
	integers = true
	for _, v := range list {
		switch x := v.(type) {
		case nil:
			b = append(b, tsql.Value{Null: true})
		case json.Number:
			if strings.ContainsAny(x.String(), ".eE") {
				integers = false
			}
			b = append(b, tsql.Value{Text: x.String()})
		case bool:
			integers = false
			text := "0"
			if x {
				text = "1"
			}
			b = append(b, tsql.Value{Text: text})
		case string:
			integers = false
			b = append(b, tsql.Value{Text: x})
		default:
			return nil, false, fmt.Errorf("a bound of a key holds a %T", v)
		}
	}
	return b, integers, nil
}

// keyRange binds two bounds to key columns: as integer literals when all are
// integers, else converted to the columns' types. cols is nil when the key
// cannot be cut; reason then says why.
func keyRange(keys []string, cols []tsql.KeyColumn, reason, lo, hi string) (tsql.Range, error) {
	low, lowInts, err := decodeKey(lo, len(keys))
	if err != nil {
		return tsql.Range{}, diag.Errorf(diag.KindInternal, codeKey, "", "%s", err).Err()
	}
	high, highInts, err := decodeKey(hi, len(keys))
	if err != nil {
		return tsql.Range{}, diag.Errorf(diag.KindInternal, codeKey, "", "%s", err).Err()
	}
	if low == nil && high == nil {
		return tsql.Range{Keys: cols}, nil
	}
	if cols == nil {
		return tsql.Range{}, diag.Errorf(diag.KindConfiguration, codeKey, "Choose other columns with snapshot_keys.", "The key cannot be read in ranges: %s", reason).At(argSnapshotKeys).Err()
	}
	if lowInts && highInts {
		inlined := make([]tsql.KeyColumn, len(cols))
		for i, c := range cols {
			inlined[i] = tsql.KeyColumn{Name: c.Name}
		}
		cols = inlined
	}
	return tsql.Range{Keys: cols, Lo: low, Hi: high}, nil
}
