package mssql

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// readOn reads everything after a position and returns where it ended.
func readOn(t *testing.T, s *session, tab plugin.SourceTable, from plugin.Position) ([]string, plugin.BatchPlan, plugin.Position) {
	t.Helper()
	to := latest(t, s, tab, from)
	b := plan(t, s, tab, from, to)
	lines, _ := readRanges(t, s, tab, b)
	return lines, b, to
}

// instancesOf are instance and operation of lines.
func instancesOf(lines []string) []string {
	var out []string
	for _, l := range lines {
		parts := strings.Split(l, "|")
		out = append(out, parts[0]+" "+strings.Join(parts[6:], "|"))
	}
	return out
}

func TestAStreamGoesOnInTheNewerInstance(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	insert(t, db, 1)
	s := open(t, db, nil)
	tab := table()
	from := start(t, s, tab, "earliest")
	insert(t, db, 2)
	must(t, db.EnableTable("dbo.orders", mssqlsim.Capture{Name: "dbo_orders_v2", Columns: []string{"id", "note"}}))
	insert(t, db, 3, 4)
	// The newer instance lacks a column: what comes before it is a batch of its own.
	lines, b, at := readOn(t, s, tab, from)
	equal(t, instancesOf(lines), []string{"dbo_orders 1|order 1|1.50", "dbo_orders 2|order 2|1.50"})
	if len(b.Discontinued)+len(b.Events) > 0 || !at.HasCommit {
		t.Errorf("up to %+v: %+v", at, b)
	}
	lines, b, to := readOn(t, s, tab, at)
	equal(t, instancesOf(lines), []string{"dbo_orders_v2 3|order 3|NULL", "dbo_orders_v2 4|order 4|NULL"})
	equal(t, b.Discontinued, []string{"amount"})
	if len(b.Events) != 1 || b.Events[0].Name != eventSwitched {
		t.Fatalf("events %+v", b.Events)
	}
	t.Run("also in the middle of a batch that an older release stored", func(t *testing.T) {
		b := plan(t, s, tab, from, to)
		if equal(t, b.Discontinued, []string{"amount"}); len(b.Ranges) != 2 {
			t.Errorf("%d ranges", len(b.Ranges))
		}
	})
	var detail struct {
		StartLSN    string   `json:"start_lsn"`
		NotCaptured []string `json:"not_captured"`
		Text        string   `json:"text"`
		Old         string   `json:"old"`
		New         string   `json:"new"`
	}
	must(t, json.Unmarshal([]byte(b.Events[0].Detail), &detail))
	if detail.Old != "dbo_orders" || detail.New != "dbo_orders_v2" {
		t.Errorf("names %+v", detail)
	}
	if detail.StartLSN != b.Events[0].Position.Text || fmt.Sprint(detail.NotCaptured) != "[amount]" || detail.Text != "dbo_orders -> dbo_orders_v2; no longer captured, read as NULL: amount" {
		t.Errorf("detail %+v", detail)
	}
	t.Run("once", func(t *testing.T) {
		insert(t, db, 5)
		lines, b, _ := readOn(t, s, tab, to)
		equal(t, instancesOf(lines), []string{"dbo_orders_v2 5|order 5|NULL"})
		if len(b.Events) != 0 {
			t.Errorf("events %+v", b.Events)
		}
	})
	t.Run("after the older one was disabled", func(t *testing.T) {
		must(t, db.DropInstance("dbo_orders"))
		insert(t, db, 6)
		lines, _, _ := readOn(t, s, table(written{"capture_instance": str("dbo_orders")}), to)
		if len(lines) == 0 {
			t.Error("no lines")
		}
		// Too early for who stood before the switch.
		d := wantDiag(t, planError(s, tab, from, to), diag.KindDataLoss, codeDataLoss, "dbo_orders, which was disabled")
		if d.Data["capture_instance"] != "dbo_orders_v2" {
			t.Errorf("data %v", d.Data)
		}
	})
}

// What is captured no more because the table dropped it is no decision of anybody's
// about values that are there.
func TestADroppedColumnThatTheNewerInstanceLacksIsNotDiscontinued(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	insert(t, db, 1)
	s := open(t, db, nil)
	tab := table()
	_, _, at := readOn(t, s, tab, start(t, s, tab, "earliest"))
	must(t, db.DropColumn("dbo.orders", "amount"))
	must(t, db.EnableTable("dbo.orders", mssqlsim.Capture{Name: "dbo_orders_v2"}))
	two := func(id int) {
		commit(t, db, func(tx writer) error { return tx.Insert("dbo.orders", id, fmt.Sprint("order ", id)) })
	}
	for _, id := range []int{2, 3} {
		two(id)
		var b plugin.BatchPlan
		var lines []string
		lines, b, at = readOn(t, s, tab, at)
		equal(t, instancesOf(lines), []string{fmt.Sprintf("dbo_orders_v2 %d|order %d|NULL", id, id)})
		if len(b.Discontinued) > 0 {
			t.Errorf("discontinued %v", b.Discontinued)
		}
	}
	t.Run("also when the older one is gone", func(t *testing.T) {
		must(t, db.DropInstance("dbo_orders"))
		two(4)
		if _, b, _ := readOn(t, s, tab, at); len(b.Discontinued) > 0 {
			t.Errorf("discontinued %v", b.Discontinued)
		}
	})
}

func TestABatchEndsBeforeANewerInstanceThatDoesNotFit(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	s := open(t, db, nil)
	tab := table()
	insert(t, db, 1)
	_, _, at := readOn(t, s, tab, start(t, s, tab, "earliest"))
	insert(t, db, 2)
	must(t, db.AddColumn("dbo.orders", mssqlsim.Column{Name: "region", Type: "varchar(8)", Nullable: true}))
	must(t, db.EnableTable("dbo.orders", mssqlsim.Capture{Name: "dbo_orders_v2"}))
	commit(t, db, func(tx writer) error { return tx.Insert("dbo.orders", 3, "order 3", "3", "north") })
	lines, _, at := readOn(t, s, tab, at)
	equal(t, instancesOf(lines), []string{"dbo_orders 2|order 2|1.50"})
	wantDiag(t, planError(s, tab, at, latest(t, s, tab, at)), diag.KindSchemaChanged, codeSchemaChanged, "region varchar(8)")
}

func TestANewerInstanceWithANewColumnStopsTheBatchThatReachesIt(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	insert(t, db, 1)
	s := open(t, db, nil)
	tab := table()
	_, _, at := readOn(t, s, tab, start(t, s, tab, "earliest"))
	must(t, db.AddColumn("dbo.orders", mssqlsim.Column{Name: "region", Type: "varchar(8)", Nullable: true}))
	must(t, db.EnableTable("dbo.orders", mssqlsim.Capture{Name: "dbo_orders_v2"}))
	commit(t, db, func(tx writer) error { return tx.Insert("dbo.orders", 2, "two", "2", "north") })
	to := latest(t, s, tab, at)
	wantDiag(t, planError(s, tab, at, to), diag.KindSchemaChanged, codeSchemaChanged, "dbo_orders_v2", "region varchar(8)", "Start again", "`pipectl plan`", "where they cannot, it says what to do")
	again := open(t, db, nil)
	lines, b, _ := readOn(t, again, tab, at)
	equal(t, instancesOf(lines), []string{"dbo_orders_v2 2|two|2.00|north"})
	if len(b.Schema.FieldIndices("region")) != 1 {
		t.Errorf("schema %v", b.Schema)
	}
	t.Run("a rule that drops the column lets it pass", func(t *testing.T) {
		dropping := table()
		dropping.Columns = []plugin.ColumnRule{{Name: "region", Drop: true}}
		lines, _, _ := readOn(t, open(t, db, nil), dropping, at)
		equal(t, instancesOf(lines), []string{"dbo_orders_v2 2|two|2.00"})
	})
}

func TestDDLInABatch(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	insert(t, db, 1)
	s := open(t, db, nil)
	tab := table()
	_, _, at := readOn(t, s, tab, start(t, s, tab, "earliest"))
	must(t, db.AddColumn("dbo.orders", mssqlsim.Column{Name: "region", Type: "varchar(8)", Nullable: true}))
	must(t, db.DropColumn("dbo.orders", "amount"))
	commit(t, db, func(tx writer) error { return tx.Insert("dbo.orders", 2, "two", "north") })
	strict := table(nil, written{"schema_change_policy": str("fail")})
	wantDiag(t, planError(open(t, db, nil), strict, at, latest(t, s, tab, at)), diag.KindSchemaChanged, codeSchemaChanged, "ADD region", "classify")
	lines, b, to := readOn(t, s, tab, at)
	equal(t, instancesOf(lines), []string{"dbo_orders 2|two|NULL"})
	if len(b.Events) != 2 || b.Events[0].Name != eventSchemaChange || !strings.Contains(b.Events[0].Detail, "ADD region") || !strings.Contains(b.Events[1].Detail, "DROP COLUMN amount") || !b.Events[0].Position.HasCommit {
		t.Errorf("events %+v", b.Events)
	}
	// A command exactly at the start belongs to the batch before (report E-73).
	insert3 := commit(t, db, func(tx writer) error { return tx.Insert("dbo.orders", 3, "three", "north") })
	for name, tc := range map[string]struct {
		from string
		want int
	}{"at the start": {b.Events[1].Position.Text, 0}, "between": {b.Events[0].Position.Text, 1}, "before": {at.Text, 2}} {
		b := plan(t, s, tab, plugin.Position{Text: tc.from}, plugin.Position{Text: insert3.String()})
		if len(b.Events) != tc.want {
			t.Errorf("%s: events %+v", name, b.Events)
		}
	}
	b = plan(t, s, tab, at, plugin.Position{Text: b.Events[1].Position.Text})
	if len(b.Events) != 2 {
		t.Errorf("a command at the end: events %+v", b.Events)
	}
	_ = to
}

func TestATypeThatStillFitsIsAnEventAndOneThatDoesNotStopsTheBatch(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		column mssqlsim.Column
		fits   bool
	}{
		"varchar to wider varchar": {mssqlsim.Column{Name: "note", Type: "nvarchar(50)", Nullable: true}, true},
		"decimal to wider decimal": {mssqlsim.Column{Name: "amount", Type: "decimal(18,4)", Nullable: true}, false},
		"varchar to int":           {mssqlsim.Column{Name: "note", Type: "int", Nullable: true}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := wireDatabase(t)
			orders(t, db)
			commit(t, db, func(tx writer) error { return tx.Insert("dbo.orders", 1, "7", "1.25") })
			s := open(t, db, nil)
			tab := table()
			_, _, at := readOn(t, s, tab, start(t, s, tab, "earliest"))
			must(t, db.AlterColumn("dbo.orders", tc.column))
			commit(t, db, func(tx writer) error { return tx.Insert("dbo.orders", 2, "8", "2.25") })
			to := latest(t, s, tab, at)
			if tc.fits {
				b := plan(t, s, tab, at, to)
				if len(b.Events) != 1 || len(b.Ranges) != 1 {
					t.Errorf("%+v", b)
				}
				return
			}
			wantDiag(t, planError(s, tab, at, to), diag.KindSchemaChanged, codeSchemaChanged, tc.column.Name+" "+tc.column.Type, "read as", "ALTER", "`pipectl plan`", "where they cannot, it says what to do")
			again := open(t, db, nil)
			lines, _, _ := readOn(t, again, tab, at)
			if len(lines) != 1 {
				t.Errorf("after a new start: %v", lines)
			}
		})
	}
}

func TestAChangeOfATypeThatTwoInstancesSawIsOneEvent(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	must(t, db.EnableTable("dbo.orders", mssqlsim.Capture{Name: "dbo_orders_v2"}))
	insert(t, db, 1)
	s := open(t, db, nil)
	tab := table()
	_, _, at := readOn(t, s, tab, start(t, s, tab, "earliest"))
	must(t, db.AlterColumn("dbo.orders", mssqlsim.Column{Name: "note", Type: "nvarchar(80)", Nullable: true}))
	insert(t, db, 2)
	_, b, _ := readOn(t, s, tab, at)
	if len(b.Events) != 1 {
		t.Errorf("events %+v", b.Events)
	}
}

func TestADisabledInstanceIsToldFromADeniedOne(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	insert(t, db, 1)
	s := open(t, db, nil)
	tab := table()
	from := start(t, s, tab, "earliest")
	b := plan(t, s, tab, from, latest(t, s, tab, from))
	must(t, db.DropInstance("dbo_orders"))
	_, _, _, err := read(s.Read(ctx, plugin.ReadRequest{Table: tab, Range: b.Ranges[0]}))
	var d *diag.Err
	if !errors.As(err, &d) || d.List[0].Kind == diag.KindPermission || d.List[0].Code != codeInstanceGone {
		t.Errorf("got %v", err)
	}
}

// Cleanup moves the newer instance's start up; what is below it is then read
// from the older one while that exists.
func TestCleanupThatMovedTheNewerInstancesStart(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	orders(t, db)
	ids := insert(t, db, 1)
	must(t, db.EnableTable("dbo.orders", mssqlsim.Capture{Name: "dbo_orders_v2"}))
	ids = append(ids, insert(t, db, 2, 3, 4)...)
	cleanup(t, db, "dbo_orders_v2", ids[2])
	s := open(t, db, nil)
	tab := table()
	lines, _, _ := readOn(t, s, tab, start(t, s, tab, "earliest"))
	equal(t, instancesOf(lines), []string{"dbo_orders 1|order 1|1.50", "dbo_orders 2|order 2|1.50", "dbo_orders_v2 3|order 3|1.50", "dbo_orders_v2 4|order 4|1.50"})
}

func TestSkippingToANewerInstanceStillChecksIt(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	insert(t, db, 1)
	s := open(t, db, nil)
	tab := table()
	_, _, at := readOn(t, s, tab, start(t, s, tab, "earliest"))
	insert(t, db, 2)
	must(t, db.AddColumn("dbo.orders", mssqlsim.Column{Name: "region", Type: "varchar(8)", Nullable: true}))
	must(t, db.EnableTable("dbo.orders", mssqlsim.Capture{Name: "dbo_orders_v2"}))
	must(t, db.DropInstance("dbo_orders"))
	commit(t, db, func(tx writer) error { return tx.Insert("dbo.orders", 3, "three", "3", "north") })
	to := latest(t, s, tab, at)
	_, err := s.PlanBatch(ctx, plugin.PlanBatchRequest{Table: tab, Start: at, End: to, SkipLost: true})
	wantDiag(t, err, diag.KindSchemaChanged, codeSchemaChanged, "region")
	b, err := open(t, db, nil).PlanBatch(ctx, plugin.PlanBatchRequest{Table: tab, Start: at, End: to, SkipLost: true})
	must(t, err)
	if len(b.Events) != 1 || b.Events[0].Name != eventSkipped || b.Events[0].LostFrom == nil || *b.Events[0].LostFrom != at.CommitMicros {
		t.Errorf("%+v", b.Events)
	}
	lines, _ := readRanges(t, s, tab, b)
	equal(t, instancesOf(lines), []string{"dbo_orders_v2 3|three|3.00|north"})
}
