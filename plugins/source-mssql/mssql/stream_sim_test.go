package mssql

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

func TestAStreamFromItsStartToItsEnd(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	tab := table()
	first := insert(t, db, 1)[0]
	second := commit(t, db, func(tx writer) error {
		return errors.Join(
			tx.Insert("dbo.orders", 2, nil, nil),
			tx.Update("dbo.orders", map[string]any{"note": "changed"}, 2),
			tx.Update("dbo.orders", map[string]any{"id": 3}, 2),
			tx.Delete("dbo.orders", 1))
	})
	s := open(t, db, nil)
	from := start(t, s, tab, "earliest")
	if from.HasCommit {
		t.Errorf("%+v is no commit, it stands just before the first", from)
	}
	to := latest(t, s, tab, from)
	if to.Text != second.String() || !to.HasCommit {
		t.Fatalf("the end is %+v, want %s with its time", to, second)
	}
	b := plan(t, s, tab, from, to)
	if len(b.Ranges) != 1 || len(b.Events) != 0 {
		t.Fatalf("%d ranges, events %v", len(b.Ranges), b.Events)
	}
	lines, ends := readRanges(t, s, tab, b)
	equal(t, short(lines), []string{"2|1|order 1|1.50", "2|2|NULL|NULL", "3|2|NULL|NULL", "4|2|changed|NULL", "1|2|changed|NULL", "2|3|changed|NULL", "1|1|order 1|1.50"})
	for i, l := range lines {
		parts := strings.Split(l, "|")
		want := first
		if i > 0 {
			want = second
		}
		if parts[0] != "dbo_orders" || parts[1] != want.String() || len(parts[2]) != lsn.TextLen || parts[4] == "NULL" || len(parts[5]) != 26 {
			t.Errorf("metadata of row %d: %s", i, l)
		}
	}
	end := ends[0]
	if end.Rows != 7 || fmt.Sprint(end.Operations) != "map[1:2 2:3 3:1 4:1]" || end.Least.Text != first.String() || end.Greatest.Text != second.String() || end.Greatest.CommitMicros != to.CommitMicros {
		t.Errorf("end %+v", end)
	}
	m := end.Metrics
	if m == nil || m.From != plusOne(t, from.Text) || m.To != to.Text || m.Rows != 7 || m.Bytes <= 0 || m.RTTMillis == nil || !m.Last ||
		m.ToCommit == nil || *m.ToCommit != to.CommitMicros || m.SourceMaxCommit == nil || m.CaptureLagSeconds == nil || m.NetworkWaitMs == nil {
		t.Errorf("metrics %+v", m)
	}
	if again := latest(t, s, tab, to); again != to {
		t.Errorf("with nothing new the end is %+v", again)
	}
}

func plusOne(t *testing.T, text string) string {
	t.Helper()
	l, err := lsn.Parse(text)
	must(t, err)
	n, err := l.Next()
	must(t, err)
	return n.String()
}

func TestStartingPositions(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	ids := insert(t, db, 1, 2, 3)
	s := open(t, db, nil)
	tab := table()
	read := func(p plugin.Position) []string {
		to := latest(t, s, tab, p)
		lines, _ := readRanges(t, s, tab, plan(t, s, tab, p, to))
		return short(lines)
	}
	t.Run("earliest reads from the watermark on", func(t *testing.T) {
		equal(t, read(start(t, s, tab, "")), []string{"2|1|order 1|1.50", "2|2|order 2|1.50", "2|3|order 3|1.50"})
	})
	t.Run("latest reads nothing that was", func(t *testing.T) {
		p := start(t, s, tab, "LATEST")
		if p.Text != ids[2].String() || !p.HasCommit {
			t.Errorf("%+v", p)
		}
		if end := latest(t, s, tab, p); end != p {
			t.Errorf("%+v", end)
		}
	})
	t.Run("an LSN is exclusive and may be short and lower case", func(t *testing.T) {
		p := start(t, s, tab, strings.ToLower(strings.TrimLeft(ids[0].String()[2:], "0")))
		if p.Text != ids[0].String() || !p.HasCommit {
			t.Errorf("%+v, want %s", p, ids[0])
		}
		equal(t, read(p), []string{"2|2|order 2|1.50", "2|3|order 3|1.50"})
	})
	t.Run("a position of another database is refused", func(t *testing.T) {
		_, err := s.Start(ctx, plugin.StartRequest{Table: tab, From: "FF000000000000000000"})
		wantDiag(t, err, diag.KindConfiguration, codePosition, "0xFF000000000000000000", ids[2].String())
	})
	t.Run("anything else is refused", func(t *testing.T) {
		_, err := s.Start(ctx, plugin.StartRequest{Table: tab, From: "yesterday"})
		wantDiag(t, err, diag.KindConfiguration, codePosition, "yesterday", "earliest")
	})
}

func TestAnIdlePollIsOneQuery(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	insert(t, db, 1)
	log := &recorder{}
	s := openWith(t, newPlugin(nil, log), dsn(db), nil)
	tab := table()
	end := latest(t, s, tab, start(t, s, tab, "earliest"))
	for range 3 {
		if got := log.during(func() {
			if r, err := s.Latest(ctx, plugin.LatestRequest{Table: tab, After: end}); err != nil || r.End != end || r.Newest != end {
				t.Fatalf("%+v, %v", r, err)
			}
		}); len(got) != 1 || got[0] != "max LSN" {
			t.Fatalf("an idle poll sends %q", got)
		}
	}
	if got := log.during(func() {
		b := plan(t, s, tab, end, end)
		if len(b.Ranges) != 0 || b.Schema != nil {
			t.Errorf("%+v", b)
		}
	}); len(got) != 0 {
		t.Errorf("an empty batch sends %q", got)
	}
}

func TestTheQueryBudgetOfARange(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	insert(t, db, 1)
	log := &recorder{}
	s := openWith(t, newPlugin(nil, log), dsn(db), nil)
	tab := table()
	from := start(t, s, tab, "earliest")
	b := plan(t, s, tab, from, latest(t, s, tab, from))
	got := log.during(func() { readRanges(t, s, tab, b) })
	equal(t, got, []string{"database", "round trip", "network wait", "max LSN", "changes", "min LSN", "network wait", "max LSN", "commit time", "commit time", "commit time"})
}

func TestCommitsPerBatchAreBounded(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	before := insert(t, db, 1000)[0]
	for i := range 10 {
		commit(t, db, func(tx writer) error {
			return errors.Join(tx.Insert("dbo.orders", 3*i, "a", "1"), tx.Insert("dbo.orders", 3*i+1, "b", "1"), tx.Insert("dbo.orders", 3*i+2, "c", "1"))
		})
	}
	s := open(t, db, nil)
	tab := table()
	at := start(t, s, tab, before.String())
	var sizes []string
	for {
		r, err := s.Latest(ctx, plugin.LatestRequest{Table: tab, After: at, MaxCommits: 4})
		must(t, err)
		if r.End == at {
			break
		}
		lines, _ := readRanges(t, s, tab, plan(t, s, tab, at, r.End))
		sizes = append(sizes, fmt.Sprint(len(lines)))
		at = r.End
	}
	if got := strings.Join(sizes, " "); got != "12 12 6" {
		t.Errorf("batches of %s rows", got)
	}
}

func TestARunHasATarget(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	insert(t, db, 1, 2)
	s := open(t, db, nil)
	tab := table()
	from := start(t, s, tab, "earliest")
	target := latest(t, s, tab, from)
	insert(t, db, 3)
	r, err := s.Latest(ctx, plugin.LatestRequest{Table: tab, After: from, Until: target})
	must(t, err)
	if r.End != target {
		t.Errorf("the run reads up to %+v, its target is %+v", r.End, target)
	}
	r, err = s.Latest(ctx, plugin.LatestRequest{Table: tab, After: target, Until: target})
	must(t, err)
	if r.End != target {
		t.Errorf("the run goes on to %+v", r.End)
	}
}

// An empty range still moves the position (report, H-116).
func TestABatchOfIdleEntriesHasNoRowsAndMovesOn(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	orders(t, db)
	insert(t, db, 1)
	s := open(t, db, nil)
	tab := table()
	at := latest(t, s, tab, start(t, s, tab, "earliest"))
	idle := db.Idle()
	end := latest(t, s, tab, at)
	if end.Text != idle.String() || !end.HasCommit {
		t.Fatalf("the end is %+v, want %s", end, idle)
	}
	lines, ends := readRanges(t, s, tab, plan(t, s, tab, at, end))
	if len(lines) != 0 || len(ends) != 1 || ends[0].Metrics == nil || ends[0].Metrics.To != end.Text || !ends[0].Least.IsZero() {
		t.Errorf("rows %v, ends %+v", lines, ends)
	}
}

func TestAReplayReadsTheSame(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	insert(t, db, 1, 2, 3)
	s := open(t, db, nil)
	tab := table()
	from := start(t, s, tab, "earliest")
	to := latest(t, s, tab, from)
	one := plan(t, s, tab, from, to)
	insert(t, db, 4)
	two := plan(t, open(t, db, nil), tab, from, to)
	if len(one.Ranges) != len(two.Ranges) || string(one.Ranges[0]) != string(two.Ranges[0]) {
		t.Fatalf("planned again\n%s\nwas\n%s", two.Ranges[0], one.Ranges[0])
	}
	a, _ := readRanges(t, s, tab, one)
	b, _ := readRanges(t, s, tab, two)
	equal(t, b, a)
}

func TestALargeBatchIsSplitByRows(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	ids := insert(t, db, 1, 2, 3, 4, 5, 6, 7, 8)
	commit(t, db, func(tx writer) error {
		var errs []error
		for id := 100; id < 108; id++ {
			errs = append(errs, tx.Insert("dbo.orders", id, nil, nil))
		}
		return errors.Join(errs...)
	})
	p := newPlugin(nil, slog.DiscardHandler)
	p.minRangeRows = 1
	s := openWith(t, p, dsn(db), nil)
	tab := table(nil, written{"partitions": cty.NumberIntVal(2)})
	from := start(t, s, tab, "earliest")
	b := plan(t, s, tab, from, latest(t, s, tab, from))
	if len(b.Ranges) != 2 {
		t.Fatalf("%d ranges", len(b.Ranges))
	}
	_, ends := readRanges(t, s, tab, b)
	if ends[0].Rows != 8 || ends[1].Rows != 8 || ends[0].Greatest.Text != ids[7].String() || ends[0].Metrics.Last || !ends[1].Metrics.Last {
		t.Errorf("ranges of %d and %d rows", ends[0].Rows, ends[1].Rows)
	}
	log := &recorder{}
	s = openWith(t, newPlugin(nil, log), dsn(db), nil)
	one := table(nil, written{"partitions": cty.NumberIntVal(1)})
	to := latest(t, s, one, from)
	if got := strings.Join(log.during(func() { plan(t, s, one, from, to) }), ", "); strings.Contains(got, "split") {
		t.Errorf("one partition asks for %s", got)
	}
}

func TestBatchesAreBoundedByRowsAndBytes(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.blobs", Key: []string{"id"}, Columns: []mssqlsim.Column{{Name: "id", Type: "int"}, {Name: "data", Type: "varbinary(max)", Nullable: true}}}))
	must(t, db.EnableTable("dbo.blobs", mssqlsim.Capture{}))
	commit(t, db, func(tx writer) error {
		var errs []error
		for id, size := range []int{2 << 20, 1 << 19, 1 << 19, 9 << 20, 10, 10} {
			errs = append(errs, tx.Insert("dbo.blobs", id, make([]byte, size)))
		}
		return errors.Join(errs...)
	})
	s := open(t, db, nil)
	for name, tc := range map[string]struct {
		rows int64
		want string
	}{"by bytes": {10000, "3 1 2"}, "by rows": {1, "1 1 1 1 1 1"}} {
		tab := table(written{"object": str("dbo.blobs")}, written{"batch_rows": cty.NumberIntVal(tc.rows)})
		from := start(t, s, tab, "earliest")
		b := plan(t, s, tab, from, latest(t, s, tab, from))
		f, err := s.Read(ctx, plugin.ReadRequest{Table: tab, Range: b.Ranges[0]})
		must(t, err)
		var sizes []string
		for {
			frame, err := f.Recv()
			if err != nil {
				break
			}
			if frame.Batch != nil && frame.Batch.Header != nil {
				sizes = append(sizes, fmt.Sprint(frame.Batch.Rows))
			}
		}
		must(t, f.Close())
		if got := strings.Join(sizes, " "); got != tc.want {
			t.Errorf("%s: batches of %s rows, want %s", name, got, tc.want)
		}
	}
}

func TestWithoutCommandID(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	insert(t, db, 1)
	s := open(t, db, nil)
	tab := table(nil, written{"include_command_id": cty.False})
	from := start(t, s, tab, "earliest")
	b := plan(t, s, tab, from, latest(t, s, tab, from))
	lines, _ := readRanges(t, s, tab, b)
	if len(b.Schema.FieldIndices(plugin.ColumnCommandID)) != 0 || len(lines) != 1 || len(strings.Split(lines[0], "|")) != 8 {
		t.Errorf("%v\n%v", b.Schema, lines)
	}
}

func TestAReadProjects(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	insert(t, db, 1)
	s := open(t, db, nil)
	tab := table()
	from := start(t, s, tab, "earliest")
	b := plan(t, s, tab, from, latest(t, s, tab, from))
	lines, schema, _, err := read(s.Read(ctx, plugin.ReadRequest{Table: tab, Range: b.Ranges[0], Columns: []string{"amount"}}))
	must(t, err)
	if schema.NumFields() != 7 || len(lines) != 1 || !strings.HasSuffix(lines[0], "|1.50") {
		t.Errorf("%v\n%v", schema, lines)
	}
}

func TestColumnRules(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	insert(t, db, 7)
	s := open(t, db, nil)
	tab := table()
	tab.Columns = []plugin.ColumnRule{{Name: "note", Drop: true}, {Name: "id", As: "string"}, {Name: "amount", As: "decimal(18,4)"}}
	from := start(t, s, tab, "earliest")
	b := plan(t, s, tab, from, latest(t, s, tab, from))
	lines, _ := readRanges(t, s, tab, b)
	equal(t, short(lines), []string{"2|7|1.5000"})

	other := open(t, db, nil)
	tab.Columns = []plugin.ColumnRule{{Name: "note", As: "long"}}
	b = plan(t, other, tab, from, latest(t, other, tab, from))
	_, _, _, err := read(other.Read(ctx, plugin.ReadRequest{Table: tab, Range: b.Ranges[0]}))
	d := wantDiag(t, err, diag.KindSchemaChanged, codeValue, "column note", "cannot be read as bigint")
	if strings.Contains(d.Summary+d.Detail, "order 7") {
		t.Errorf("a value stands in the message: %v", err)
	}
	if !strings.Contains(d.Summary, "a text of 7 characters") || !strings.Contains(d.Detail, `columns = { "note" = { as = "string" } }`) || d.Path.String() != "columns.note" {
		t.Errorf("at %s: %s: %s", d.Path, d.Summary, d.Detail)
	}

	number := open(t, db, nil)
	tab.Columns = []plugin.ColumnRule{{Name: "amount", As: "int"}}
	b = plan(t, number, tab, from, latest(t, number, tab, from))
	_, _, _, err = read(number.Read(ctx, plugin.ReadRequest{Table: tab, Range: b.Ranges[0]}))
	d = wantDiag(t, err, diag.KindSchemaChanged, codeValue, "column amount: a value of type decimal cannot be read as int")
	if d.Path.String() != "columns.amount" {
		t.Errorf("it points at %s", d.Path)
	}
}
