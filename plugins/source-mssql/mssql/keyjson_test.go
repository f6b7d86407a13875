package mssql

import (
	"database/sql/driver"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

func TestKeysAsJSON(t *testing.T) {
	t.Parallel()
	moment := time.Date(2026, 9, 28, 14, 3, 12, 117_456_700, time.UTC)
	for _, tc := range []struct {
		values []driver.Value
		types  []string
		want   string
		bound  tsql.Bound
		ints   bool
	}{
		{[]driver.Value{int64(9223372036854775807)}, []string{"BIGINT"}, "9223372036854775807", tsql.Bound{{Text: "9223372036854775807"}}, true},
		{[]driver.Value{int64(-5), int64(2)}, []string{"INT", "INT"}, "[-5,2]", tsql.Bound{{Text: "-5"}, {Text: "2"}}, true},
		{[]driver.Value{nil, int64(2)}, []string{"INT", "INT"}, "[null,2]", tsql.Bound{{Null: true}, {Text: "2"}}, true},
		{[]driver.Value{"a,b", "c"}, []string{"VARCHAR", "NVARCHAR"}, `["a,b","c"]`, tsql.Bound{{Text: "a,b"}, {Text: "c"}}, false},
		{[]driver.Value{"a", "b,c"}, []string{"VARCHAR", "NVARCHAR"}, `["a","b,c"]`, tsql.Bound{{Text: "a"}, {Text: "b,c"}}, false},
		{[]driver.Value{"<é>\"\n"}, []string{"NVARCHAR"}, `"<é>\"\n"`, tsql.Bound{{Text: "<é>\"\n"}}, false},
		{[]driver.Value{true}, []string{"BIT"}, "true", tsql.Bound{{Text: "1"}}, false},
		{[]driver.Value{1.5}, []string{"FLOAT"}, "1.5", tsql.Bound{{Text: "1.5"}}, false},
		{[]driver.Value{[]byte("0.0000000000")}, []string{"DECIMAL"}, `"0.0000000000"`, tsql.Bound{{Text: "0.0000000000"}}, false},
		{[]driver.Value{[]byte{0xAB, 0x01}}, []string{"VARBINARY"}, `"0xab01"`, tsql.Bound{{Text: "0xab01"}}, false},
		{[]driver.Value{moment}, []string{"DATE"}, `"2026-09-28"`, tsql.Bound{{Text: "2026-09-28"}}, false},
		{[]driver.Value{moment}, []string{"DATETIME"}, `"2026-09-28T14:03:12.117"`, tsql.Bound{{Text: "2026-09-28T14:03:12.117"}}, false},
		{[]driver.Value{moment}, []string{"DATETIME2"}, `"2026-09-28T14:03:12.117456"`, tsql.Bound{{Text: "2026-09-28T14:03:12.117456"}}, false},
		{[]driver.Value{moment.In(time.FixedZone("", -3*3600))}, []string{"DATETIMEOFFSET"}, `"2026-09-28T14:03:12.117456+00:00"`, tsql.Bound{{Text: "2026-09-28T14:03:12.117456+00:00"}}, false},
	} {
		got, err := encodeKey(tc.values, tc.types)
		if err != nil || got != tc.want {
			t.Errorf("%v: %s, %v, want %s", tc.values, got, err, tc.want)
			continue
		}
		bound, ints, err := decodeKey(got, len(tc.values))
		if err != nil || fmt.Sprint(bound) != fmt.Sprint(tc.bound) || ints != tc.ints {
			t.Errorf("%s is read as %v, %v, %v", got, bound, ints, err)
		}
	}
	for text, n := range map[string]int{"[1]": 1, "1": 2, "[1,2,3]": 2, "{": 1, "{}": 1, "1 2": 1, "[[1],2]": 2} {
		if b, _, err := decodeKey(text, n); err == nil {
			t.Errorf("%s as a key of %d is %v", text, n, b)
		}
	}
	for _, open := range []string{"", "null"} {
		if b, _, err := decodeKey(open, 1); err != nil || b != nil {
			t.Errorf("%q is %v, %v", open, b, err)
		}
	}
	if _, err := keyRange([]string{"t"}, nil, "no bound can be given for the column t of type time(7)", `"x"`, ""); err == nil || !strings.Contains(err.Error(), "cannot be read in ranges") {
		t.Errorf("bounds of a key that has none: %v", err)
	}
}

func TestIntegerKeysAreCutByArithmetic(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		lo, hi int64
		parts  int
		want   string
	}{
		{0, 9, 4, "2 5 7"}, {5, 5, 4, ""}, {0, 2, 8, "1 2"}, {-10, -1, 2, "-5"}, {0, 9, 1, ""},
		{-9223372036854775808, 9223372036854775807, 2, "0"}, {-9223372036854775808, 9223372036854775807, 4, "-4611686018427387904 0 4611686018427387904"},
	} {
		if got := strings.Join(integerBounds(tc.lo, tc.hi, tc.parts), " "); got != tc.want {
			t.Errorf("[%d, %d] in %d: %s, want %s", tc.lo, tc.hi, tc.parts, got, tc.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Int64().Draw(t, "lo")
		hi := rapid.Int64Min(lo).Draw(t, "hi")
		n := rapid.IntRange(1, 64).Draw(t, "parts")
		last := big.NewInt(lo)
		for _, b := range integerBounds(lo, hi, n) {
			next, ok := new(big.Int).SetString(b, 10)
			if !ok || next.Cmp(last) <= 0 || next.Cmp(big.NewInt(hi)) > 0 {
				t.Fatalf("bound %s of [%d, %d] after %s", b, lo, hi, last)
			}
			last = next
		}
	})
}

func TestChunksTileTheKeySpace(t *testing.T) {
	t.Parallel()
	got := chunksAt([]string{"2", "5"})
	if len(got) != 3 || got[0].Lo != "" || got[0].Hi != "2" || got[1].Lo != "2" || got[2].Lo != "5" || got[2].Hi != "" || !got[2].Last || got[1].Last || got[2].Index != 2 {
		t.Fatalf("%+v", got)
	}
	if one := chunksAt(nil); len(one) != 1 || !one[0].Last || one[0].Lo+one[0].Hi != "" {
		t.Fatalf("%+v", one)
	}
}
