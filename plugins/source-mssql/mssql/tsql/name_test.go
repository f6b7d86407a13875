package tsql_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

func TestCaptureInstanceNames(t *testing.T) {
	t.Parallel()
	for _, ok := range []string{"dbo_orders", "dbo_Café", "a", strings.Repeat("x", 100), "with space", "dollar$", "a.b", "[open", "'; DROP TABLE t --"} {
		if err := tsql.CheckCaptureInstance(ok); err != nil {
			t.Errorf("%q: %v", ok, err)
		}
	}
	for _, bad := range []string{"", "a]b", "a\n", "a\x00", strings.Repeat("x", 101), "zero\u200bwidth", "\xff", "a\u202e"} {
		if err := tsql.CheckCaptureInstance(bad); err == nil || !strings.Contains(err.Error(), "invalid capture instance") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestAQuotedNameStaysOneName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"order_id": "[order_id]", "a.b": "[a.b]", "x]y": "[x]]y]", "]; DROP TABLE t; --": "[]]; DROP TABLE t; --]", "$": "[$]", "naïve name": "[naïve name]",
	} {
		if got, err := tsql.Quote(name); err != nil || got != want {
			t.Errorf("Quote(%q) = %s, %v", name, got, err)
		}
	}
	for _, bad := range []string{"", "a\nb", "\x00", strings.Repeat("x", 129)} {
		if got, err := tsql.Quote(bad); err == nil {
			t.Errorf("Quote(%q) = %s", bad, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		q, err := tsql.Quote(name)
		if err != nil {
			return
		}
		inner := strings.ReplaceAll(q[1:len(q)-1], "]]", "")
		if q[0] != '[' || q[len(q)-1] != ']' || strings.Contains(inner, "]") {
			t.Fatalf("%q becomes %s", name, q)
		}
	})
}

func TestWhatIsInlinedIsChecked(t *testing.T) {
	t.Parallel()
	const attack = "UTC'; DROP TABLE t; --"
	for name, build := range map[string]func() error{
		"zone of an entry":    func() error { _, err := tsql.Entry("0x1", attack); return err },
		"zone of an earlier":  func() error { _, err := tsql.EntryBefore("0x1", attack); return err },
		"zone of drops":       func() error { _, err := tsql.Drops("2026-01-01T00:00:00", "0x1", attack); return err },
		"zone of a range":     func() error { _, err := tsql.RangeOffsets("0x1", "0x2", attack); return err },
		"zone of changes":     func() error { _, err := tsql.Changes{Instance: "i", Zone: attack}.Query(); return err },
		"zone with a newline": func() error { _, err := tsql.Entry("0x1", "UTC\n"); return err },
		"instance":            func() error { _, err := tsql.Changes{Instance: "i_CT] --"}.Query(); return err },
		"instance of split":   func() error { _, err := tsql.Split("i]", "0x1", "0x2", 4); return err },
		"column":              func() error { _, err := tsql.Changes{Instance: "i", Columns: []string{""}}.Query(); return err },
		"tiles":               func() error { _, err := tsql.Split("i", "0x1", "0x2", 0); return err },
		"commits":             func() error { _, err := tsql.NthAfter("0x1", -1); return err },
		"limit":               func() error { _, err := tsql.Pending("0x1", 0); return err },
		"type": func() error {
			return rows(tsql.KeyColumn{Name: "k", Type: "int) OR (1=1"}, "1")
		},
		"type with a newline": func() error { return rows(tsql.KeyColumn{Name: "k", Type: "int\n"}, "1") },
		"collation":           func() error { return rows(tsql.KeyColumn{Name: "k", Type: "varchar(8) COLLATE x;y"}, "1") },
		"integer bound":       func() error { return rows(tsql.KeyColumn{Name: "k"}, "1 OR 1=1") },
		"empty integer bound": func() error { return rows(tsql.KeyColumn{Name: "k"}, "") },
		"bucket width": func() error {
			_, err := table.Buckets("k", false, 0, tsql.Range{})
			return err
		},
		"table": func() error {
			_, err := tsql.TableRead{Table: tsql.Table{Schema: "", Name: "t"}}.Count(tsql.Range{})
			return err
		},
	} {
		if err := build(); err == nil {
			t.Errorf("%s is not refused", name)
		}
	}
	for _, ok := range []string{"int", "decimal(38,10)", "varchar(max)", "varchar(8) COLLATE Greek_CI_AS", "datetime2(7)"} {
		if err := tsql.CheckType(ok); err != nil {
			t.Error(err)
		}
	}
	for _, ok := range []string{"UTC", "E. South America Standard Time", "W. Central Africa Standard Time", "UTC-11", "Central Standard Time (Mexico)"} {
		if err := tsql.CheckZone(ok); err != nil {
			t.Error(err)
		}
	}
}

var table = tsql.TableRead{Table: tsql.Table{Schema: "dbo", Name: "t"}, Locking: tsql.Locking{TimeoutMillis: -1}}

func rows(k tsql.KeyColumn, bound string) error {
	_, err := table.Rows([]string{"k"}, tsql.Range{Keys: []tsql.KeyColumn{k}, Lo: tsql.Bound{{Text: bound}}})
	return err
}

func FuzzQuote(f *testing.F) {
	f.Add("a]b")
	f.Fuzz(func(t *testing.T, name string) {
		if q, err := tsql.Quote(name); err == nil && strings.Count(q[1:len(q)-1], "]")%2 != 0 {
			t.Fatalf("%q becomes %s", name, q)
		}
	})
}
