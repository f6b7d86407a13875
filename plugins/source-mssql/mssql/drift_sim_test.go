package mssql

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

// warned are the warnings of the one table: code, path and summary. Other tests
// move the clock that the databases share, so a silent capture is none of them.
func warned(t *testing.T, r plugin.InspectResponse) []string {
	t.Helper()
	must(t, r.Tables[0].Diagnostics.Err())
	var out []string
	for _, d := range r.Tables[0].Diagnostics {
		if d.Code == codeSilent {
			continue
		}
		if d.Severity != diag.Warning || d.Detail == "" {
			t.Errorf("%+v", d)
		}
		out = append(out, fmt.Sprintf("%s %s: %s", d.Code, d.Path, d.Summary))
	}
	return out
}

func TestColumnsThatCameAndWentAreTold(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	// note is captured by none on purpose, and is the last column.
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.orders", Key: []string{"id"}, Columns: []mssqlsim.Column{
		{Name: "id", Type: "int"}, {Name: "amount", Type: "decimal(9,2)", Nullable: true}, {Name: "note", Type: "nvarchar(40)", Nullable: true}}}))
	must(t, db.EnableTable("dbo.orders", mssqlsim.Capture{Columns: []string{"id", "amount"}}))
	look := func(rules ...plugin.ColumnRule) []string {
		tab := table()
		tab.Columns = rules
		return warned(t, inspect(t, open(t, db, nil), tab))
	}
	equal(t, look(), nil)
	must(t, db.AddColumn("dbo.orders", mssqlsim.Column{Name: "region", Type: "varchar(8)", Nullable: true}))
	commit(t, db, func(tx writer) error { return tx.Insert("dbo.orders", 1, "1", "a", "north") })
	equal(t, look(), []string{"mssql.column_not_captured object: No capture instance has the new column region"})
	must(t, db.DropColumn("dbo.orders", "amount"))
	commit(t, db, func(tx writer) error { return tx.Insert("dbo.orders", 2, "a", "north") })
	equal(t, look(), []string{
		"mssql.column_dropped columns.amount: The table has no column amount any more, which dbo_orders still captures",
		"mssql.column_not_captured object: No capture instance has the new column region"})
	equal(t, look(plugin.ColumnRule{Name: "amount", Drop: true}), []string{"mssql.column_not_captured object: No capture instance has the new column region"})
}

func TestANewerInstanceWithFewerColumnsIsTold(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	insert(t, db, 1)
	must(t, db.EnableTable("dbo.orders", mssqlsim.Capture{Name: "second", Columns: []string{"id", "note"}}))
	insert(t, db, 2)
	r := inspect(t, open(t, db, nil), table())
	equal(t, r.Tables[0].Discontinued, []string{"amount"})
	equal(t, warned(t, r), []string{
		"mssql.capture_instance_switched object: dbo.orders has a newer capture instance second beside dbo_orders",
		"mssql.column_not_captured object: The newest capture instance second lacks the column amount, which dbo_orders still captures"})
	without := table()
	without.Columns = []plugin.ColumnRule{{Name: "amount", Drop: true}}
	r = inspect(t, open(t, db, nil), without)
	equal(t, r.Tables[0].Discontinued, nil)
}

func TestANewerInstanceAndOneThatIsGoneAreTold(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	before := insert(t, db, 1)[0]
	must(t, db.EnableTable("dbo.orders", mssqlsim.Capture{Name: "second"}))
	after := insert(t, db, 2)[0]
	tab := table()
	for since, says := range map[string]string{
		before.String(): "The stream goes on in it from",
		after.String():  "the older one can be disabled",
		"":              "both capture every change",
	} {
		r, err := open(t, db, nil).Inspect(ctx, plugin.InspectRequest{Tables: []plugin.SourceTable{tab}, Since: map[string]plugin.Position{tab.Address: {Text: since}}})
		must(t, err)
		equal(t, warned(t, r), []string{"mssql.capture_instance_switched object: dbo.orders has a newer capture instance second beside dbo_orders"})
		if d := r.Tables[0].Diagnostics[0].Detail; !strings.Contains(d, says) {
			t.Errorf("at %q: %s", since, d)
		}
	}
	must(t, db.DropInstance("dbo_orders"))
	equal(t, warned(t, inspect(t, open(t, db, nil), tab)), nil)
	equal(t, warned(t, inspect(t, open(t, db, nil), table(written{"capture_instance": str("dbo_orders")}))),
		[]string{"mssql.capture_instance_gone capture_instance: The capture instance dbo_orders is gone; second of dbo.orders is followed"})
}

// A key is unique for sure when it holds all of a unique index, and its rows
// stay apart when none of its columns has more digits than the tables keep
// (Microsoft: datetime2, datetimeoffset: a scale of 7 is 100 ns).
func TestDoubtsAboutKeys(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	columns := []mssqlsim.Column{{Name: "id", Type: "int"}, {Name: "line", Type: "int"}}
	for _, typ := range []string{"datetime2(7)", "datetime2(6)", "datetimeoffset(7)", "datetimeoffset(3)", "time(7)", "datetime"} {
		columns = append(columns, mssqlsim.Column{Name: strings.Trim(strings.ReplaceAll(typ, "(", "_"), ")"), Type: typ})
	}
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.lines", Key: []string{"id", "line"}, Columns: columns}))
	must(t, db.EnableTable("dbo.lines", mssqlsim.Capture{}))
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.heap", Columns: columns}))
	must(t, db.EnableTable("dbo.heap", mssqlsim.Capture{}))
	precise := func(column, typ string) string {
		return fmt.Sprintf("mssql.key_precision key: The key column %s is %s", column, typ)
	}
	for _, c := range []struct {
		object string
		key    []string
		want   []string
	}{
		{"dbo.lines", nil, nil},
		{"dbo.lines", []string{"LINE", "id"}, nil},
		{"dbo.lines", []string{"id", "line", "datetime2_6", "time_7", "datetime", "datetimeoffset_3"}, nil},
		{"dbo.lines", []string{"id"}, []string{"mssql.key_not_known_unique key: Nothing says that the key id of dbo.lines is unique"}},
		{"dbo.heap", []string{"id"}, []string{"mssql.key_not_known_unique key: Nothing says that the key id of dbo.heap is unique"}},
		{"dbo.lines", []string{"id", "line", "datetime2_7", "datetimeoffset_7"}, []string{precise("datetime2_7", "datetime2(7)"), precise("datetimeoffset_7", "datetimeoffset(7)")}},
	} {
		tab := table(written{"object": str(c.object)})
		tab.Key = c.key
		equal(t, warned(t, inspect(t, open(t, db, nil), tab)), c.want)
	}
	// The table's own key is told of, too.
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.readings", Key: []string{"at"}, Columns: []mssqlsim.Column{{Name: "at", Type: "datetime2(7)"}}}))
	must(t, db.EnableTable("dbo.readings", mssqlsim.Capture{}))
	equal(t, warned(t, inspect(t, open(t, db, nil), table(written{"object": str("dbo.readings")}))), []string{"mssql.key_precision object: The key column at is datetime2(7)"})
}

// An idle capture writes about every five minutes, so one that has not for a
// quarter of an hour does not run.
func TestASilentCaptureIsTold(t *testing.T) {
	t.Parallel()
	clock := mssqlsim.NewManualClock(time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC))
	own, err := mssqlsim.Start(context.Background(), mssqlsim.Options{Clock: clock})
	must(t, err)
	t.Cleanup(own.Close)
	db := own.Database("quiet")
	must(t, db.EnableCDC())
	orders(t, db)
	_, err = db.Tx(ctx, func(tx *mssqlsim.Tx) error { return tx.Insert("dbo.orders", 1, "a", "1.50") })
	must(t, err)
	look := func() []string {
		var out []string
		for _, d := range inspect(t, openWith(t, newPlugin(nil, &recorder{}), own.DSN("quiet"), nil), table()).Tables[0].Diagnostics {
			out = append(out, fmt.Sprintf("%s: %s", d.Code, d.Summary))
		}
		return out
	}
	db.Freeze()
	clock.Advance(14 * time.Minute)
	equal(t, look(), nil)
	clock.Advance(5 * time.Minute)
	equal(t, look(), []string{"mssql.capture_silent: Capture has written nothing for 19 min"})
	db.Resume()
	_, err = db.Tx(ctx, func(tx *mssqlsim.Tx) error { return tx.Insert("dbo.orders", 2, "b", "1.50") })
	must(t, err)
	equal(t, look(), nil)
}
