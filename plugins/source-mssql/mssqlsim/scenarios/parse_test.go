package scenarios

import (
	"strings"
	"testing"
)

const source = "-- source: \"Microsoft: SELECT (Transact-SQL)\"\n"

// A script that the runner does not understand expects nothing, so it must fail.
func TestScriptsThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"no source":               {"SELECT 1\n-- expect\n--   1\nGO\n", "says where this is documented"},
		"a source of others":      {"-- source: \"a blog\"\nSELECT 1\nGO\n", "is not of the form"},
		"a misspelt line":         {source + "SELECT 1\n-- expcet\n--   1\nGO\n", "-- expcet"},
		"a comment of two dashes": {source + "-- hello\nSELECT 1\nGO\n", "/* like this */"},
		"no GO at the end":        {source + "SELECT 1\n-- expect\n--   1\n", "has no GO"},
		"a table without rows":    {source + "SELECT 1\n-- expect\nGO\n", "(no rows)"},
		"a row without a table":   {source + "SELECT 1\n--   1\nGO\n", "below -- expect"},
		"rows of other lengths":   {source + "SELECT 1\n-- expect\n--   1 | 2\n--   1\nGO\n", "1 cells"},
		"names of other columns":  {source + "SELECT 1\n-- expect a\n--   1 | 2\nGO\n", "2 cells"},
		"an error without number": {source + "SELECT 1\n-- error\nGO\n", "without a number"},
		"an error that is none":   {source + "SELECT 1\n-- error many\nGO\n", "not an error number"},
		"capture inside a batch":  {source + "SELECT 1\n-- capture\nGO\n", "inside a batch"},
		"statements after":        {source + "SELECT 1\n-- expect\n--   1\nSELECT 2\nGO\n", "GO comes first"},
		"nothing to expect it of": {source + "-- error 1\nGO\n", "of no statement"},
		"GO alone":                {source + "GO\n", "GO without a batch"},
		"waits and expects":       {source + "SELECT 1\n-- waits\n-- expect\n--   1\nGO\n", "where it -- ends"},
		"ends with statements":    {source + "SELECT 1\n-- ends\nGO\n", "stands alone"},
		"time without a unit":     {source + "-- pass 5\nSELECT 1\nGO\n", "-- pass"},
		"a session without name":  {source + "-- session\nSELECT 1\nGO\n", "without a name"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := parse(tc.text); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

func TestCells(t *testing.T) {
	t.Parallel()
	for row, want := range map[string]string{"1 | a b |NULL": "1;a b;NULL", "'a | b' | ''": "'a | b';''", "x": "x"} {
		if got := strings.Join(cells(row), ";"); got != want {
			t.Errorf("%q: %q, want %q", row, got, want)
		}
	}
}

// Names are bound at first sight; the values of one kind are in the order of the names' numbers.
func TestNamesAreBoundAndOrdered(t *testing.T) {
	t.Parallel()
	const a, b, c = "0x0000002A000001F00001", "0x0000002A000001F00002", "0x0000002A000001F00003"
	for name, tc := range map[string]struct {
		pairs []string // name and value, by turns
		ok    bool
	}{
		"one name, one value":        {[]string{"$lsn1", a, "$lsn1", a}, true},
		"one name, two values":       {[]string{"$lsn1", a, "$lsn1", b}, false},
		"in order":                   {[]string{"$lsn1", a, "$lsn2", b}, true},
		"in between":                 {[]string{"$lsn1", a, "$lsn3", c, "$lsn2", b}, true},
		"out of order":               {[]string{"$lsn2", a, "$lsn1", b}, false},
		"two names, one value":       {[]string{"$lsn1", a, "$lsn2", a}, false},
		"sequence values in any":     {[]string{"$seq1", b, "$seq2", a}, true},
		"sequence values twice":      {[]string{"$seq1", a, "$seq2", a}, false},
		"zero is no LSN":             {[]string{"$lsn1", "0x00000000000000000000"}, false},
		"an LSN of another length":   {[]string{"$lsn1", "0x01"}, false},
		"NULL is no value":           {[]string{"$time1", "NULL"}, false},
		"equal times":                {[]string{"$time1", "2026-01-01 00:00:00.000", "$time2", "2026-01-01 00:00:00.000"}, true},
		"times out of order":         {[]string{"$time1", "2026-01-01 00:00:00.003", "$time2", "2026-01-01 00:00:00.000"}, false},
		"commands as numbers":        {[]string{"$cmd1", "9", "$cmd2", "10"}, true},
		"a kind that there is not":   {[]string{"$what1", "1"}, false},
		"a name without a number":    {[]string{"$lsn", a}, false},
		"anything":                   {[]string{"$any", "x", "$any", "y"}, true},
		"anything but NULL":          {[]string{"$any", "NULL"}, false},
		"identifiers have 36 places": {[]string{"$guid1", "6F9619FF-8B86-D011-B42D-00C04FC964FF"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, ok := names{}, true
			for i := 0; i < len(tc.pairs); i += 2 {
				ok = n.match(tc.pairs[i], tc.pairs[i+1])
			}
			if ok != tc.ok {
				t.Errorf("%v, want %v", ok, tc.ok)
			}
		})
	}
}
