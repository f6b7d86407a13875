package mssql

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/zclconf/go-cty/cty"
	"go.uber.org/goleak"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/core/plugin/rows"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// The tests share one simulator; each makes a database of its own.
var (
	server *mssqlsim.Server
	// now is the server's clock; each commit moves it, so that no two share a
	// time.
	now = mssqlsim.NewManualClock(time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC))
)

func TestMain(m *testing.M) {
	ctx, cancel := context.WithCancel(context.Background())
	var err error
	server, err = mssqlsim.Start(ctx, mssqlsim.Options{Clock: now})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	server.Close()
	cancel()
	// A fuzzing process ends with goroutines of its own.
	if err := goleak.Find(); err != nil && code == 0 && flag.Lookup("test.fuzz").Value.String() == "" && flag.Lookup("test.fuzzworker").Value.String() == "false" {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// recorder is a log that keeps the statements that sessions send and the
// warnings they give.
type recorder struct {
	mu         sync.Mutex
	statements []string
	warnings   []string
}

func (r *recorder) Enabled(context.Context, slog.Level) bool { return true }
func (r *recorder) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r *recorder) WithGroup(string) slog.Handler            { return r }

func (r *recorder) Handle(_ context.Context, record slog.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := record.Message
	record.Attrs(func(a slog.Attr) bool {
		if record.Level == slog.LevelDebug && a.Key == "name" {
			r.statements = append(r.statements, a.Value.String())
		}
		text += " " + a.Value.String()
		return true
	})
	if record.Level >= slog.LevelWarn {
		r.warnings = append(r.warnings, text)
	}
	return nil
}

// during are the names of the statements sent while call runs.
func (r *recorder) during(call func()) []string {
	r.mu.Lock()
	from := len(r.statements)
	r.mu.Unlock()
	call()
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.statements[from:]...)
}

func (r *recorder) said() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.warnings...)
}

var ctx = context.Background()

var number1 = cty.NumberIntVal(1)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newDatabase makes a captured database named after the test.
func newDatabase(t testing.TB) *mssqlsim.Database {
	t.Helper()
	db := server.Database(strings.NewReplacer("/", "_", " ", "_", "#", "_", ",", "_", "'", "_").Replace(t.Name()))
	must(t, db.EnableCDC())
	return db
}

// orders makes dbo.orders, captured as dbo_orders.
func orders(t testing.TB, db database) {
	t.Helper()
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.orders", Key: []string{"id"}, Columns: []mssqlsim.Column{
		{Name: "id", Type: "int"}, {Name: "note", Type: "nvarchar(40)", Nullable: true}, {Name: "amount", Type: "decimal(9,2)", Nullable: true}}}))
	must(t, db.EnableTable("dbo.orders", mssqlsim.Capture{}))
}

// commit is one transaction; it returns its LSN.
func commit(t testing.TB, db database, fn func(writer) error) lsn.LSN {
	t.Helper()
	now.Advance(time.Second)
	l, err := write(db, fn)
	must(t, err)
	return l
}

// insert commits one order per id.
func insert(t testing.TB, db database, ids ...int) []lsn.LSN {
	t.Helper()
	var out []lsn.LSN
	for _, id := range ids {
		out = append(out, commit(t, db, func(tx writer) error { return tx.Insert("dbo.orders", id, fmt.Sprint("order ", id), "1.50") }))
	}
	return out
}

// written are arguments of a body.
type written map[string]cty.Value

// newPlugin is a plugin that does not sleep; slept receives its waits, log
// what it says.
func newPlugin(slept *[]time.Duration, log slog.Handler) *Plugin {
	p := New(slog.New(log))
	p.retry.random = func() float64 { return 0 }
	p.retry.now = func() time.Time { return time.Time{} }
	p.retry.sleep = func(_ context.Context, d time.Duration) error {
		if slept != nil {
			*slept = append(*slept, d)
		}
		return nil
	}
	return p
}

// open opens a session on a database as sa.
func open(t testing.TB, db database, args written) *session {
	t.Helper()
	return openWith(t, newPlugin(nil, slog.DiscardHandler), dsn(db), args)
}

func openWith(t testing.TB, p *Plugin, dsn string, args written) *session {
	t.Helper()
	if args == nil {
		args = written{}
	}
	args["url"] = str(dsn)
	s, err := p.OpenSource(ctx, plugin.OpenRequest{Component: Type, Address: "source.shop", Config: object(connectionSchema().EmptyValue(), args)})
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s.(*session)
}

// table is dbo.orders or another object, with arguments of its bodies.
func table(args ...written) plugin.SourceTable {
	o, r := written{"object": str("dbo.orders")}, written{}
	if len(args) > 0 && args[0] != nil {
		o = args[0]
	}
	if len(args) > 1 {
		r = args[1]
	}
	return plugin.SourceTable{Address: "table.orders", Object: object(objectSchema().EmptyValue(), o), Read: object(readSchema().EmptyValue(), r)}
}

// start is the position of a new stream.
func start(t testing.TB, s *session, tab plugin.SourceTable, from string) plugin.Position {
	t.Helper()
	p, err := s.Start(ctx, plugin.StartRequest{Table: tab, From: from})
	must(t, err)
	return p
}

// latest is the end of the next batch.
func latest(t testing.TB, s *session, tab plugin.SourceTable, after plugin.Position) plugin.Position {
	t.Helper()
	r, err := s.Latest(ctx, plugin.LatestRequest{Table: tab, After: after})
	must(t, err)
	return r.End
}

// plan is a batch's plan.
func plan(t testing.TB, s *session, tab plugin.SourceTable, from, to plugin.Position) plugin.BatchPlan {
	t.Helper()
	b, err := s.PlanBatch(ctx, plugin.PlanBatchRequest{Table: tab, Start: from, End: to})
	must(t, err)
	return b
}

// read reads a stream to its end, as lines of values.
func read(f plugin.FrameReader, err error) (lines []string, schema *arrow.Schema, end plugin.End, _ error) {
	if err != nil {
		return nil, nil, plugin.End{}, err
	}
	r, err := rows.NewReader(f, memory.DefaultAllocator)
	if err != nil {
		return nil, nil, plugin.End{}, err
	}
	schema = r.Schema()
	end, err = r.ForEach(func(b arrow.RecordBatch) error {
		for i := range int(b.NumRows()) {
			var line []string
			for _, c := range b.Columns() {
				line = append(line, show(c, i))
			}
			lines = append(lines, strings.Join(line, "|"))
		}
		return nil
	})
	return lines, schema, end, err
}

func show(c arrow.Array, i int) string {
	if c.IsNull(i) {
		return "NULL"
	}
	switch c := c.(type) {
	case *array.Timestamp:
		return c.Value(i).ToTime(arrow.Microsecond).Format("2006-01-02T15:04:05.000000")
	case *array.Decimal128:
		return c.Value(i).ToString(c.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Binary:
		return fmt.Sprintf("%x", c.Value(i))
	}
	return c.ValueStr(i)
}

// readRanges reads all ranges of a plan.
func readRanges(t testing.TB, s *session, tab plugin.SourceTable, b plugin.BatchPlan) (lines []string, ends []plugin.End) {
	t.Helper()
	for _, r := range b.Ranges {
		more, schema, end, err := read(s.Read(ctx, plugin.ReadRequest{Table: tab, Range: r}))
		must(t, err)
		if !schema.Equal(b.Schema) {
			t.Fatalf("the range's rows are\n%v\nplanned were\n%v", schema, b.Schema)
		}
		lines, ends = append(lines, more...), append(ends, end)
	}
	return lines, ends
}

// short drops the metadata columns before the operation and the commit time:
// operation and captured columns.
func short(lines []string) []string {
	var out []string
	for _, l := range lines {
		parts := strings.Split(l, "|")
		out = append(out, strings.Join(append([]string{parts[3]}, parts[6:]...), "|"))
	}
	return out
}

func equal(t testing.TB, got, want []string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// wantDiag checks the first error diagnostic.
func wantDiag(t testing.TB, err error, kind diag.Kind, code string, parts ...string) diag.Diagnostic {
	t.Helper()
	var d *diag.Err
	if !errors.As(err, &d) || len(d.List.Errors()) == 0 {
		t.Fatalf("got %v, want a diagnostic %s", err, code)
	}
	first := d.List.Errors()[0]
	if first.Kind != kind || first.Code != code {
		t.Fatalf("got %s %s: %v, want %s %s", first.Kind, first.Code, err, kind, code)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%q does not say %q", err, p)
		}
	}
	return first
}

// texts is a list of strings.
func texts(list ...string) cty.Value {
	var out []cty.Value
	for _, s := range list {
		out = append(out, cty.StringVal(s))
	}
	return cty.ListVal(out)
}
