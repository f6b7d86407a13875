package mssql

import (
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/lsn"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

func cleanup(t testing.TB, db *mssqlsim.Database, instance string, mark lsn.LSN) {
	t.Helper()
	l, err := mssqlsim.ParseLSN(mark.String())
	must(t, err)
	must(t, db.Cleanup(instance, l))
}

func planError(s *session, tab plugin.SourceTable, from, to plugin.Position) error {
	_, err := s.PlanBatch(ctx, plugin.PlanBatchRequest{Table: tab, Start: from, End: to})
	return err
}

func TestPurgedChangesAreAnErrorAtPlanning(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	orders(t, db)
	ids := insert(t, db, 1, 2, 3)
	s := open(t, db, nil)
	tab := table()
	from := start(t, s, tab, "earliest")
	to := latest(t, s, tab, from)
	cleanup(t, db, "dbo_orders", ids[2])
	d := wantDiag(t, planError(s, tab, from, to), diag.KindDataLoss, codeDataLoss, "purged", "dbo_orders", ids[2].String(), "another target, and the stream another app_id")
	if d.Data["capture_instance"] != "dbo_orders" || d.Data["min_lsn"] != ids[2].String() {
		t.Errorf("data %v", d.Data)
	}
	t.Run("a position is lost when the change after it is", func(t *testing.T) {
		r, err := s.Lost(ctx, plugin.LostRequest{Table: tab, Positions: []plugin.Position{from, {Text: ids[0].String()}, {Text: ids[1].String()}, {Text: ids[2].String()}}})
		must(t, err)
		if len(r.Lost) != 4 || !r.Lost[0] || !r.Lost[1] || r.Lost[2] && r.Lost[3] || r.Oldest.Text != ids[2].String() || !r.Oldest.HasCommit {
			t.Errorf("%+v", r)
		}
	})
	t.Run("an explicit start that is purged", func(t *testing.T) {
		for _, at := range []string{ids[0].String(), "0x00"} {
			_, err := s.Start(ctx, plugin.StartRequest{Table: tab, From: at})
			d := wantDiag(t, err, diag.KindDataLoss, codeDataLoss, "starting position", "no longer kept", ids[2].String(), "\"earliest\"")
			if strings.Contains(d.Detail, "target") || d.Path.String() != "starting_position" {
				t.Errorf("it has read nothing yet: %+v", d)
			}
		}
		// The one before the oldest change kept loses nothing.
		if got := start(t, s, tab, start(t, s, tab, "earliest").Text); got.Text != start(t, s, tab, "earliest").Text {
			t.Errorf("%+v", got)
		}
	})
	t.Run("nothing is planned of an empty batch", func(t *testing.T) {
		if b := plan(t, s, tab, from, from); len(b.Ranges) != 0 {
			t.Errorf("%+v", b)
		}
	})
}

func TestSkippingWhatIsLost(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	orders(t, db)
	ids := insert(t, db, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
	s := open(t, db, nil)
	tab := table()
	at := start(t, s, tab, ids[0].String())
	cleanup(t, db, "dbo_orders", ids[5])
	var batches []string
	for {
		r, err := s.Latest(ctx, plugin.LatestRequest{Table: tab, After: at, MaxCommits: 2})
		must(t, err)
		if r.End == at {
			break
		}
		b, err := s.PlanBatch(ctx, plugin.PlanBatchRequest{Table: tab, Start: at, End: r.End, SkipLost: true})
		must(t, err)
		lines, _ := readRanges(t, s, tab, b)
		line := strings.Join(short(lines), " ")
		for _, e := range b.Events {
			line += " " + e.Name + " up to " + e.Position.Text
			if e.Name != eventSkipped || !strings.Contains(e.Detail, `"certain":true`) || !strings.Contains(e.Detail, `"to":"`+ids[5].String()) {
				t.Errorf("event %+v", e)
			}
		}
		batches = append(batches, line)
		at = r.End
	}
	// Cleanup also removed the entries of what it purged, so the first batch
	// ends with the second commit that is left.
	equal(t, batches, []string{"2|6|order 6|1.50 2|7|order 7|1.50 data_skipped up to " + ids[5].String(), "2|8|order 8|1.50 2|9|order 9|1.50", "2|10|order 10|1.50"})
}

func TestSkippingABatchThatIsPurgedWhole(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	orders(t, db)
	ids := insert(t, db, 1, 2, 3, 4)
	s := open(t, db, nil)
	tab := table()
	from := start(t, s, tab, "earliest")
	r, err := s.Latest(ctx, plugin.LatestRequest{Table: tab, After: from, MaxCommits: 2})
	must(t, err)
	cleanup(t, db, "dbo_orders", ids[3])
	b, err := s.PlanBatch(ctx, plugin.PlanBatchRequest{Table: tab, Start: from, End: r.End, SkipLost: true})
	must(t, err)
	if len(b.Ranges) != 0 || len(b.Events) != 1 || b.Events[0].LostTo == nil {
		t.Errorf("%+v", b)
	}
}

// Cleanup moves the watermark, then deletes: a range that was planned before
// must not come short (report A-1).
func TestCleanupBetweenPlanningAndReading(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	orders(t, db)
	ids := insert(t, db, 1, 2, 3)
	s := open(t, db, nil)
	tab := table()
	from := start(t, s, tab, "earliest")
	to := latest(t, s, tab, from)
	strict := plan(t, s, tab, from, to)
	lenient, err := s.PlanBatch(ctx, plugin.PlanBatchRequest{Table: tab, Start: from, End: to, SkipLost: true})
	must(t, err)
	cleanup(t, db, "dbo_orders", ids[1])
	lines, _, _, err := read(s.Read(ctx, plugin.ReadRequest{Table: tab, Range: strict.Ranges[0]}))
	wantDiag(t, err, diag.KindDataLoss, codeDataLoss, ids[1].String())
	_ = lines // what came before the error is not used
	lines, ends := readRanges(t, s, tab, lenient)
	equal(t, short(lines), []string{"2|2|order 2|1.50", "2|3|order 3|1.50"})
	if e := ends[0].Events; len(e) != 1 || e[0].Name != eventSkipped || !strings.Contains(e[0].Detail, `"certain":false`) || !strings.Contains(e[0].Detail, `"reason":`) {
		t.Errorf("events %+v", e)
	}
	if m := ends[0].Metrics; m.RetentionWatermark == nil {
		t.Errorf("metrics %+v", m)
	}
}

func TestCleanupOfAnotherTableDoesNotMatter(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	orders(t, db)
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.other", Key: []string{"id"}, Columns: []mssqlsim.Column{{Name: "id", Type: "int"}}}))
	must(t, db.EnableTable("dbo.other", mssqlsim.Capture{}))
	insert(t, db, 1)
	last := commit(t, db, func(tx writer) error { return tx.Insert("dbo.other", 1) })
	s := open(t, db, nil)
	tab := table()
	from := start(t, s, tab, "earliest")
	b := plan(t, s, tab, from, latest(t, s, tab, from))
	cleanup(t, db, "dbo_other", last)
	lines, _ := readRanges(t, s, tab, b)
	equal(t, short(lines), []string{"2|1|order 1|1.50"})
}

// A restore in place sets the history back (report H-120).
func TestARestoredDatabaseIsNoticed(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	orders(t, db)
	ids := insert(t, db, 1, 2, 3)
	s := open(t, db, nil)
	tab := table()
	from := start(t, s, tab, "earliest")
	at := latest(t, s, tab, from)
	back, err := mssqlsim.ParseLSN(ids[1].String())
	must(t, err)
	db.Restore(back)
	t.Run("when the newest commit is before the position", func(t *testing.T) {
		_, err := s.Latest(ctx, plugin.LatestRequest{Table: tab, After: at})
		wantDiag(t, err, diag.KindRewound, codeRewound, at.Text, "restored")
	})
	t.Run("when a stored batch is planned again", func(t *testing.T) {
		wantDiag(t, planError(s, tab, from, at), diag.KindRewound, codeRewound, at.Text)
	})
	t.Run("when new commits hide it", func(t *testing.T) {
		var end lsn.LSN
		for id := 100; !at0(t, at).Less(end); id++ {
			end = insert(t, db, id)[0]
		}
		_, err := s.Latest(ctx, plugin.LatestRequest{Table: tab, After: at})
		wantDiag(t, err, diag.KindRewound, codeRewound, at.Text)
		wantDiag(t, planError(s, tab, at, plugin.Position{Text: end.String()}), diag.KindRewound, codeRewound, at.Text)
	})
}

func at0(t *testing.T, p plugin.Position) lsn.LSN {
	t.Helper()
	l, err := lsn.Parse(p.Text)
	must(t, err)
	return l
}

func TestAJustEnabledInstance(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.orders", Key: []string{"id"}, Columns: []mssqlsim.Column{
		{Name: "id", Type: "int"}, {Name: "note", Type: "nvarchar(40)", Nullable: true}, {Name: "amount", Type: "decimal(9,2)", Nullable: true}}}))
	must(t, db.EnableTable("dbo.orders", mssqlsim.Capture{Quiet: true}))
	s := open(t, db, nil)
	tab := table()
	t.Run("earliest is not ready", func(t *testing.T) {
		_, err := s.Start(ctx, plugin.StartRequest{Table: tab, From: "earliest"})
		wantDiag(t, err, diag.KindNotReady, codeNotReady, "SQL Server Agent", "Retry", "dbo_orders")
	})
	// The newest LSN is below the start of a fresh instance (report A-16).
	t.Run("latest stands just before its start, and loses nothing", func(t *testing.T) {
		p := start(t, s, tab, "latest")
		if p.HasCommit {
			t.Errorf("%+v", p)
		}
		r, err := s.Latest(ctx, plugin.LatestRequest{Table: tab, After: p})
		must(t, err)
		if r.End != p {
			t.Errorf("nothing was captured and the end is %+v", r.End)
		}
		insert(t, db, 1)
		to := latest(t, s, tab, p)
		lines, _ := readRanges(t, s, tab, plan(t, s, tab, p, to))
		equal(t, short(lines), []string{"2|1|order 1|1.50"})
	})
}

func TestNothingNewWhileCaptureHasNeverWritten(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.orders", Key: []string{"id"}, Columns: []mssqlsim.Column{{Name: "id", Type: "int"}}}))
	must(t, db.EnableTable("dbo.orders", mssqlsim.Capture{Quiet: true}))
	s := open(t, db, nil)
	after := plugin.Position{Text: at(7).String(), HasCommit: true}
	r, err := s.Latest(ctx, plugin.LatestRequest{Table: table(), After: after})
	must(t, err)
	if r.End != after || !r.Newest.IsZero() {
		t.Errorf("%+v", r)
	}
}

func TestAClockThatIsUTCIsNeverAskedFor(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	orders(t, db)
	insert(t, db, 1)
	log := &recorder{}
	s := openWith(t, newPlugin(nil, log), server.DSN(db.Name()), written{"source_time_zone": cty.StringVal("UTC")})
	got := strings.Join(log.during(func() { latest(t, s, table(), start(t, s, table(), "earliest")) }), ", ")
	if strings.Contains(got, "zone") || strings.Contains(got, "version") {
		t.Errorf("asked for %s", got)
	}
}
