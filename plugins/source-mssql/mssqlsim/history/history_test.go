package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/cdc"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

func player(t *testing.T, name string) (*Player, *cdc.Server, *cdc.Database) {
	t.Helper()
	clock := cdc.NewManualClock(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	s, err := cdc.NewServer(cdc.Config{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	s.AddLogin("sa", "x", true)
	db := s.Database("shop")
	p, err := Open(filepath.Join("testdata", name+".ndjson"), db, Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	return p, s, db
}

// events reads the history apart from the player.
func events(t *testing.T, name string) (out []Event) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var e Event
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&e); err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
	return out
}

// rows reads a statement of the database in process.
type rows struct{ out []string }

func (r *rows) Columns([]tsql.Column) error        { return nil }
func (r *rows) Done(tsql.StatementKind)            {}
func (r *rows) BeginProcedure()                    {}
func (r *rows) EndProcedure(int32, bool)           {}
func (r *rows) EndResult()                         {}
func (r *rows) Warn(*sqltype.Error)                {}
func (r *rows) Affected(int64, tsql.StatementKind) {}
func (r *rows) Info(*sqltype.Error)                {}
func (r *rows) Raise(*sqltype.Error)               {}
func (r *rows) NoCount(bool) bool                  { return false }
func (r *rows) Database(string)                    {}
func (*rows) Language(string, string)              {}
func (r *rows) Implicit(bool) bool                 { return false }
func (r *rows) DatabaseAgain(string)               {}
func (r *rows) Row(row sqltype.Row) error {
	var s []string
	for _, v := range row {
		if v.IsNull() {
			s = append(s, "NULL")
		} else if v.Str() != "" {
			s = append(s, v.Str())
		} else {
			s = append(s, fmt.Sprint(v.Int()))
		}
	}
	r.out = append(r.out, strings.Join(s, "|"))
	return nil
}

func query(t *testing.T, s *cdc.Server, sql string) []string {
	t.Helper()
	sess, err := s.NewSession("sa", "shop")
	if err != nil {
		t.Fatal(err)
	}
	defer sess.Close()
	var r rows
	if err := tsql.Exec(t.Context(), sess, tsql.Request{SQL: sql}, false, &r); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return r.out
}

// expected change rows of an instance, by the rules of the histories: op n has __$seqval LSN + n and __$command_id n +
// ordinal; an update is one pair of 3 and 4; none when no captured column changed; cleanup takes rows below the mark.
func expected(t *testing.T, es []Event, instance Event) (out []string) {
	t.Helper()
	captured := func(row map[string]any) string {
		b, err := json.Marshal(pick(row, instance.Columns))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	ordinal := instance.Ordinal
	low := instance.StartLSN
	for _, e := range es {
		switch e.Kind {
		case "cleanup":
			if e.Instance == instance.Name {
				low = e.LowLSN
			}
		case "drop_instance":
			if e.Name == instance.Name {
				return nil
			}
			ordinal = 0
		case "commit":
			if e.LSN < instance.StartLSN {
				continue
			}
			lsn, err := cdc.ParseLSN(e.LSN)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range e.Ops {
				if o.Table != instance.Table {
					continue
				}
				ops := map[string][]int{"insert": {2}, "delete": {1}, "update": {3, 4}}[o.Op]
				if o.Op == "update" && captured(o.Before) == captured(o.After) {
					continue
				}
				for _, op := range ops {
					out = append(out, fmt.Sprintf("%s|%s|%d|%d", lsn, lsn.Add(int64(o.N)), o.N+ordinal, op))
				}
			}
		}
	}
	kept := out[:0]
	for _, r := range out {
		if r >= low {
			kept = append(kept, r)
		}
	}
	return kept
}

func pick(row map[string]any, cols []Column) (out []any) {
	for _, c := range cols {
		out = append(out, row[c.Name])
	}
	return out
}

func TestHistoriesPlay(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"full", "chunked", "switch", "switch-chunked", "loss", "days"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, s, db := player(t, name)
			es := events(t, name)
			if err := p.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
			last := ""
			for _, e := range es {
				if e.Kind == "commit" || e.Kind == "idle" {
					last = e.LSN
				}
			}
			if got := db.MaxLSN().String(); got != last {
				t.Errorf("max LSN %s, want %s", got, last)
			}
			for _, e := range es {
				if e.Kind != "instance" {
					continue
				}
				want := expected(t, es, e)
				if want == nil {
					continue // dropped
				}
				got := query(t, s, "SELECT CONVERT(varchar(22), [__$start_lsn], 1), CONVERT(varchar(22), [__$seqval], 1), [__$command_id], [__$operation] FROM cdc.["+e.Name+"_CT] ORDER BY [__$start_lsn], [__$command_id], [__$seqval], [__$operation]")
				if strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("instance %s: got %d rows:\n%s\nwant %d:\n%s", e.Name, len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"))
				}
			}
			files, err := filepath.Glob(filepath.Join("testdata", "source", name+".*"))
			if err != nil || len(files) == 0 {
				t.Fatal("no source rows", err)
			}
			for _, f := range files {
				table := "dbo." + strings.TrimSuffix(strings.TrimPrefix(filepath.Base(f), name+"."), ".ndjson")
				compareSource(t, db, table, f)
			}
		})
	}
}

// compareSource compares a table with the rows it must hold at the end, in any order.
func compareSource(t *testing.T, db *cdc.Database, table, file string) {
	t.Helper()
	cols, err := db.Columns(table)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var want, got []string
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var row map[string]any
		d := json.NewDecoder(bytes.NewReader(sc.Bytes()))
		d.UseNumber()
		if err := d.Decode(&row); err != nil {
			t.Fatal(err)
		}
		vals := make(sqltype.Row, len(cols))
		for i, c := range cols {
			if vals[i], err = Value(row[c.Name], c.Type); err != nil {
				t.Fatal(err)
			}
		}
		want = append(want, image(vals, cols))
	}
	if _, err := db.Rows(table, func(row sqltype.Row) bool {
		got = append(got, image(row, cols))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	sort.Strings(want)
	sort.Strings(got)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s holds %d rows, want %d", table, len(got), len(want))
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Errorf("first difference:\n%s\n%s", got[i], want[i])
				break
			}
		}
	}
}

func image(row sqltype.Row, cols []tsql.Column) string {
	var b []byte
	for i, v := range row {
		b = v.AppendKey(b, sqltype.Type{Kind: cols[i].Type.Kind, Collation: "Latin1_General_BIN2"})
	}
	return string(b)
}

// The change rows of the history "full" carry the images that were recorded.
func TestFullHistoryImages(t *testing.T) {
	t.Parallel()
	p, s, db := player(t, "full")
	if err := p.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	cols, err := db.Columns("dbo.orders")
	if err != nil {
		t.Fatal(err)
	}
	sess, err := s.NewSession("sa", "shop")
	if err != nil {
		t.Fatal(err)
	}
	rel, err := sess.Relation(tsql.Name{Schema: "cdc", Object: "dbo_orders_CT"})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, e := range events(t, "full") {
		for _, o := range e.Ops {
			for _, img := range []map[string]any{o.Before, o.After} {
				if img == nil || o.Op == "update" && fmt.Sprint(o.Before) == fmt.Sprint(o.After) {
					continue
				}
				vals := make(sqltype.Row, len(cols))
				for i, c := range cols {
					if vals[i], err = Value(img[c.Name], c.Type); err != nil {
						t.Fatal(err)
					}
				}
				want = append(want, image(vals, cols))
			}
		}
	}
	req := tsql.ScanRequest{}
	for i := range cols {
		req.Columns = append(req.Columns, i+5)
	}
	cur, err := rel.Scan(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		row, err := cur.Next()
		if err != nil {
			t.Fatal(err)
		}
		if row == nil {
			break
		}
		got = append(got, image(row, cols))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%d images, want %d", len(got), len(want))
	}
}

// Steps come in order, and a step's reads happen when rows of the table are read, not when they are counted.
func TestStepsAndReads(t *testing.T) {
	t.Parallel()
	p, s, db := player(t, "chunked")
	steps := 0
	for {
		step, err := p.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		steps++
		for _, r := range step.Reads {
			before := db.MaxLSN()
			query(t, s, "SELECT COUNT(*), MIN("+map[string]string{"dbo.items": "item_id", "dbo.lines": "order_id"}[r.Table]+") FROM "+r.Table)
			if db.MaxLSN() != before {
				t.Errorf("step %s: counting performed the commit", step.Name)
			}
			query(t, s, "SELECT * FROM "+r.Table)
			if !before.Less(db.MaxLSN()) || db.PendingReads(r.Table) != 0 {
				t.Errorf("step %s: the read did not perform the commit", step.Name)
			}
		}
	}
	if steps != 31 {
		t.Errorf("%d steps", steps)
	}
}
