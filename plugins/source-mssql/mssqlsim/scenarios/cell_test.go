package scenarios

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	mssql "github.com/microsoft/go-mssqldb"
)

// cell writes a value as scenarios show it. typ is the name of its SQL type.
func cell(v any, typ string) string {
	switch x := v.(type) {
	case nil:
		return "NULL"
	case bool:
		return map[bool]string{false: "0", true: "1"}[x]
	case float64:
		if typ == "REAL" {
			return strconv.FormatFloat(x, 'g', -1, 32)
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	case time.Time:
		return moment(x, typ)
	case string:
		return quote(x)
	case []byte:
		switch typ {
		case "DECIMAL", "MONEY", "SMALLMONEY":
			return string(x)
		case "UNIQUEIDENTIFIER":
			var u mssql.UniqueIdentifier
			if u.Scan(x) == nil {
				return u.String()
			}
		}
		return fmt.Sprintf("0x%X", x)
	}
	return fmt.Sprint(v)
}

// moment writes a date or time; digits of a second only as far as they are there, of datetime always three.
func moment(t time.Time, typ string) string {
	switch typ {
	case "DATE":
		return t.Format("2006-01-02")
	case "TIME":
		return t.Format("15:04:05.9999999")
	case "DATETIME":
		return t.Format("2006-01-02 15:04:05.000")
	case "SMALLDATETIME":
		return t.Format("2006-01-02 15:04:05")
	case "DATETIMEOFFSET":
		return t.Format("2006-01-02 15:04:05.9999999 -07:00")
	}
	return t.Format("2006-01-02 15:04:05.9999999")
}

// quote writes text as it is, in quotes where it would be read as something else.
func quote(s string) string {
	if s == "" || s != strings.TrimSpace(s) || strings.ContainsAny(s, "|\r\n'") || s[0] == '$' || s == "NULL" || s == noRows {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return s
}

// names are values that differ from run to run, bound when a scenario sees them first: $lsn1, $time2.
type names map[string]string

// kinds say of each kind of name what form its values have, and how values of two numbers compare.
var kinds = map[string]struct {
	form func(string) bool
	// order tells whether a may come before b, which has the higher number.
	order func(a, b string) bool
}{
	"lsn":  {lsnForm, func(a, b string) bool { return a < b }},
	"seq":  {lsnForm, func(a, b string) bool { return a != b }}, // Microsoft: cdc.<capture_instance>_CT: not for ordering
	"time": {timeForm, func(a, b string) bool { return a <= b }},
	"id":   {numberForm, func(a, b string) bool { return a != b }},
	"cmd":  {numberForm, func(a, b string) bool { x, _ := strconv.Atoi(a); y, _ := strconv.Atoi(b); return x < y }},
	"guid": {func(s string) bool { return len(s) == 36 && strings.Count(s, "-") == 4 }, func(a, b string) bool { return a != b }},
}

func lsnForm(s string) bool {
	b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	return strings.HasPrefix(s, "0x") && err == nil && len(b) == 10 && strings.Trim(s, "0x") != ""
}

func timeForm(s string) bool {
	_, err := time.Parse("2006-01-02 15:04:05", strings.SplitN(s, ".", 2)[0])
	return err == nil
}

func numberForm(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n > 0
}

// match compares a cell with what is expected of it, and binds names. $any is all but NULL.
func (n names) match(want, got string) bool {
	if want == "$any" {
		return got != "NULL"
	}
	if !strings.HasPrefix(want, "$") {
		return want == got
	}
	if was, ok := n[want]; ok {
		return was == got
	}
	kind, number, err := nameOf(want)
	if err != nil || !kinds[kind].form(got) {
		return false
	}
	for other, value := range n {
		k, i, _ := nameOf(other)
		if k != kind {
			continue
		}
		if i < number && !kinds[kind].order(value, got) || i > number && !kinds[kind].order(got, value) {
			return false
		}
	}
	n[want] = got
	return true
}

// nameOf cuts $lsn1 into lsn and 1.
func nameOf(name string) (kind string, number int, err error) {
	kind = strings.TrimRight(name[1:], "0123456789")
	if _, ok := kinds[kind]; !ok {
		return kind, 0, fmt.Errorf("%s is no name of a kind that there is", name)
	}
	if number, err = strconv.Atoi(name[1+len(kind):]); err != nil {
		return kind, 0, fmt.Errorf("%s has no number", name)
	}
	return kind, number, nil
}
