package deltalog

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/plugins/sink-delta/store"
)

func TestPathsOfTheLog(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, location, object string }{
		{"part-1.parquet", "", "part-1.parquet"},
		{"p=a%20b/x.parquet", "", "p=a b/x.parquet"},
		{"p=a%253A/x", "", "p=a%3A/x"},
		{"p=1+2/x", "", "p=1+2/x"},
		{"p=ts=12:30/x", "", "p=ts=12:30/x"},
		{"file:/lake/t/x%20y", "file:///lake/t/", "x y"},
		{"file:///lake/t/x", "file:///lake/t/", "x"},
		{"s3://bucket/t/x", "s3://bucket/t/", "x"},
		{"/lake/t/x", "file:///lake/t/", "x"},
	} {
		location, object, err := decodePath(c.path)
		if err != nil || location != c.location || object != c.object {
			t.Errorf("%s: %q %q %v", c.path, location, object, err)
		}
		if c.location == "" {
			if _, again, err := decodePath(EncodePath(object)); err != nil || again != object {
				t.Errorf("%s: %s %v", object, again, err)
			}
		}
	}
	if got := EncodePath("p=a b%/ü:x"); got != "p=a%20b%25/%C3%BC%3Ax" {
		t.Error(got)
	}
}

func TestLocateStaysInTheTable(t *testing.T) {
	t.Parallel()
	table := mustCreate(t, store.NewMemory(nil), CreateSpec{})
	for _, path := range []string{"../x", "a/../../x", "%2e%2e/x", "a//b", ""} {
		if _, _, err := table.Locate(t.Context(), path); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%q: %v", path, err)
		}
	}
	if _, _, err := table.Locate(t.Context(), "file:/etc/passwd"); err == nil || !strings.Contains(err.Error(), "outside") {
		t.Errorf("a file elsewhere: %v", err)
	}
	other := store.NewMemory(nil)
	open := WithOpener(func(_ context.Context, location string) (store.Store, error) {
		if location != "s3://b/t/" {
			t.Errorf("location %s", location)
		}
		return other, nil
	})
	again, err := Open(t.Context(), table.Store(), "orders", open)
	must(err)
	if st, object, err := again.Locate(t.Context(), "s3://b/t/x"); err != nil || st != other || object != "x" {
		t.Errorf("%v %s %v", st, object, err)
	}
}

func TestPartitionValuesOfAllWriters(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		typ  Type
		want string // "" is an error
		back string // as we write it
	}{
		{"a b", String, `"a b"`, "a b"},
		{"5", Integer, "5", "5"},
		{"-128", Byte, "-128", "-128"},
		{"129", Byte, "", ""},
		{"1.50", Decimal{10, 2}, "1.50", "1.50"},
		{"-3.-25", Decimal{10, 2}, "", ""}, // as delta-rs breaks negative ones
		{"true", Boolean, "true", "true"},
		{"2024-02-29", Date, "2024-02-29", "2024-02-29"},
		{"2024-02-30", Date, "", ""},
		{"0.1", Float, "0.10000000149011612", "0.1"},
		{"NaN", Double, "NaN", "NaN"},
		{"2024-01-01 00:00:00", Timestamp, "2024-01-01T00:00:00.000000", "2024-01-01T00:00:00.000000Z"},
		{"2024-01-01 00:00:00.5", Timestamp, "2024-01-01T00:00:00.500000", "2024-01-01T00:00:00.500000Z"},
		{"2024-01-01T00:00:00.123456Z", Timestamp, "2024-01-01T00:00:00.123456", "2024-01-01T00:00:00.123456Z"},
		{"1969-12-31 23:59:59.999999", TimestampNTZ, "1969-12-31T23:59:59.999999", "1969-12-31 23:59:59.999999"},
		{"\u0001\u0002", Binary, "0x0102", "\u0001\u0002"},
		{"x", &Array{Element: Long}, "", ""},
	} {
		v, err := ParsePartitionValue(&c.text, c.typ)
		if c.want == "" {
			if err == nil {
				t.Errorf("%s %q is taken as %v", c.typ, c.text, v)
			}
			continue
		}
		if err != nil || v.String() != c.want {
			t.Errorf("%s %q: %v, %v", c.typ, c.text, v, err)
			continue
		}
		back, err := FormatPartitionValue(v, c.typ)
		if err != nil || back == nil || *back != c.back {
			t.Errorf("%s %q is written as %v, %v", c.typ, c.text, back, err)
		}
	}
	empty := ""
	if v, err := ParsePartitionValue(&empty, Date); err != nil || !v.IsNull() {
		t.Errorf("an empty date: %v, %v", v, err)
	}
	if v, err := ParsePartitionValue(&empty, String); err != nil || v.IsNull() {
		t.Errorf("an empty string of delta-rs: %v, %v", v, err)
	}
	if p, err := FormatPartitionValue(StringValue(""), String); err != nil || p != nil {
		t.Errorf("an empty string is written as %v, %v", p, err)
	}
	if _, err := FormatPartitionValue(IntValue(1), String); err == nil {
		t.Error("a number is taken as a string")
	}
}

func TestIntervals(t *testing.T) {
	t.Parallel()
	for text, hours := range map[string]float64{
		"interval 1 week": 168, "interval 30 days": 720, "2 hours": 2, "INTERVAL 1 DAY 12 HOURS": 36, "interval 0 seconds": 0,
		"": -1, "interval": -1, "1 month": -1, "interval x days": -1, "-1 day": -1,
	} {
		d, ok := parseInterval(text)
		if ok != (hours >= 0) || ok && d.Hours() != hours {
			t.Errorf("%q: %v, %v", text, d, ok)
		}
	}
}

// TestPartitionFolder: names that no file system, object store or Hive trips
// over; one too long for a folder gives none.
func TestPartitionFolder(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		columns []string
		values  []*string
		want    string
	}{
		{[]string{"p"}, []*string{text("plain")}, "p=plain/"},
		{[]string{"p", "d"}, []*string{nil, text("2024-02-29")}, "p=__HIVE_DEFAULT_PARTITION__/d=2024-02-29/"},
		{[]string{"ts"}, []*string{text("2024-02-29T12:34:56.789012Z")}, "ts=2024-02-29T12%3A34%3A56.789012Z/"},
		{[]string{"a b"}, []*string{text("50% of a/b=c")}, "a%20b=50%25%20of%20a%2Fb%3Dc/"},
		{[]string{"p"}, []*string{text("dot.")}, "p=dot%2E/"},
		{[]string{"p"}, []*string{text("ü\x00")}, "p=%C3%BC%00/"},
		{[]string{"p", "q"}, []*string{text("x"), text(strings.Repeat("y", 200))}, ""},
	} {
		var fields []Field
		for _, name := range c.columns {
			fields = append(fields, Field{Name: name, Type: String})
		}
		if got := PartitionFolder(fields, c.values); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
