package mssql

import (
	"testing"
)

func FuzzDecodeRange(f *testing.F) {
	good, err := rangeSpec{Format: rangeFormat, Instance: "dbo_orders", From: at(1).String(), To: at(2).String(), Columns: []rangeColumn{{Name: "id", Type: "int", Source: "id"}}}.encode()
	must(f, err)
	f.Add([]byte(good))
	f.Fuzz(func(t *testing.T, data []byte) {
		spec, from, to, err := decodeRange(data)
		if err != nil {
			return
		}
		if to.Less(from) || len(spec.Instance) == 0 {
			t.Fatalf("%s is a range", data)
		}
		if _, err := spec.shape(); err != nil {
			return
		}
	})
}

func FuzzDecodeKey(f *testing.F) {
	f.Add(`["a",1,null]`, 3)
	f.Add("9223372036854775808", 1)
	f.Fuzz(func(t *testing.T, text string, n int) {
		if n < 1 || n > 8 {
			return
		}
		b, _, err := decodeKey(text, n)
		if err == nil && b != nil && len(b) != n {
			t.Fatalf("%s is a key of %d values, not %d", text, len(b), n)
		}
	})
}

func FuzzObjectName(f *testing.F) {
	f.Add("[a]]b].[c.d]")
	f.Fuzz(func(t *testing.T, text string) {
		name, err := parseObjectName(text)
		if err != nil {
			return
		}
		quoted, err := name.Quoted()
		if err != nil {
			t.Fatalf("%q reads as %+v, which cannot be quoted", text, name)
		}
		if again, err := parseObjectName(quoted); err != nil || again != name {
			t.Fatalf("%q reads as %+v, %s reads as %+v, %v", text, name, quoted, again, err)
		}
	})
}

func FuzzIndexColumns(f *testing.F) {
	f.Add("[a], [b]]c]")
	f.Fuzz(func(_ *testing.T, text string) { parseIndexColumns(text) })
}
