package mssql

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
)

func inspect(t *testing.T, s *session, tables ...plugin.SourceTable) plugin.InspectResponse {
	t.Helper()
	r, err := s.Inspect(ctx, plugin.InspectRequest{Tables: tables})
	must(t, err)
	return r
}

func TestWhatInspectSays(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	orders(t, db)
	ids := insert(t, db, 1, 2, 3)
	s := open(t, db, nil)
	tab := table()
	r, err := s.Inspect(ctx, plugin.InspectRequest{Tables: []plugin.SourceTable{tab}, Since: map[string]plugin.Position{tab.Address: {Text: ids[0].String()}}, PendingLimit: 100})
	must(t, err)
	if r.Newest.Text != ids[2].String() || !r.Newest.HasCommit || !strings.Contains(r.Display, db.Name()+" on ") || !strings.HasPrefix(r.Identity, db.Name()+":") {
		t.Errorf("%+v", r)
	}
	info := r.Tables[0]
	if len(warned(t, r)) != 0 || info.Object != "dbo.orders" || info.Address != tab.Address || fmt.Sprint(info.Key) != "[id]" || fmt.Sprint(info.Instances) != "[dbo_orders]" ||
		info.RowsEstimate != 3 || info.Pending != 2 || info.Oldest.IsZero() || info.Identity == "" || info.Schema.NumFields() != 9 {
		t.Errorf("%+v", info)
	}
	t.Run("a limit of what is counted", func(t *testing.T) {
		r, err := s.Inspect(ctx, plugin.InspectRequest{Tables: []plugin.SourceTable{tab}, Since: map[string]plugin.Position{tab.Address: {Text: ids[0].String()}}, PendingLimit: 1})
		must(t, err)
		if r.Tables[0].Pending != 1 {
			t.Errorf("%+v", r.Tables[0])
		}
	})
	t.Run("a table made anew has another identity", func(t *testing.T) {
		other := open(t, db, nil)
		must(t, db.DropInstance("dbo_orders"))
		must(t, db.Exec(ctx, "DROP TABLE dbo.orders"))
		orders(t, db)
		again := inspect(t, other, tab)
		if again.Identity != r.Identity || again.Tables[0].Identity == info.Identity {
			t.Errorf("%+v", again)
		}
	})
	t.Run("another database of the same name has another identity", func(t *testing.T) {
		db.Replace()
		if again := inspect(t, open(t, db, nil)); again.Identity == r.Identity {
			t.Errorf("%+v", again)
		}
	})
}

// An instance whose name cannot stand in a statement is in the way of one beside it,
// and the advice is what helps.
func TestAnInstanceThatCannotBeNamed(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.orders", Key: []string{"id"}, Columns: []mssqlsim.Column{{Name: "id", Type: "int"}}}))
	must(t, db.EnableTable("dbo.orders", mssqlsim.Capture{Name: "a]b"}))
	says := func() diag.List { return inspect(t, open(t, db, nil), table()).Tables[0].Diagnostics.Errors() }
	wantDiag(t, says().Err(), diag.KindUnsupported, codeUnknownInstance, "closing bracket", "disables that instance with sys.sp_cdc_disable_table")
	must(t, db.EnableTable("dbo.orders", mssqlsim.Capture{Name: "second"}))
	wantDiag(t, says().Err(), diag.KindUnsupported, codeUnknownInstance, "One beside it is not enough")
	must(t, db.DropInstance("a]b"))
	must(t, says().Err())
}

func TestInspectIsAFixedNumberOfRoundTripsATable(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	var tables []plugin.SourceTable
	log := &recorder{}
	s := openWith(t, newPlugin(nil, log), dsn(db), nil)
	for i := range 6 {
		name := fmt.Sprint("t", i)
		must(t, db.CreateTable(mssqlsim.Table{Name: name, Key: []string{"id"}, Columns: []mssqlsim.Column{{Name: "id", Type: "int"}}}))
		must(t, db.EnableTable(name, mssqlsim.Capture{}))
		tab := table(written{"object": str("dbo." + name)})
		tab.Address = name
		tables = append(tables, tab)
	}
	counts := map[int]int{}
	for _, n := range []int{1, 2, 6} {
		counts[n] = len(log.during(func() { inspect(t, s, tables[:n]...) }))
	}
	again := len(log.during(func() { inspect(t, s, tables[:1]...) }))
	each := (counts[6] - again) / 5
	if counts[6] != again+5*each || counts[2] != again+each || each > 6 {
		t.Errorf("round trips %v, one table again %d", counts, again)
	}
}

func TestInspectReportsPerTable(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.plain", Key: []string{"id"}, Columns: []mssqlsim.Column{{Name: "id", Type: "int"}}}))
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.heap", Columns: []mssqlsim.Column{{Name: "id", Type: "int"}}}))
	must(t, db.EnableTable("dbo.heap", mssqlsim.Capture{}))
	named := func(args written) plugin.SourceTable { return table(args) }
	keyed := table()
	keyed.Key = []string{"NOTE"}
	wrongKey := table()
	wrongKey.Key = []string{"nope"}
	misspeltKey := table()
	misspeltKey.Key = []string{"amuont"}
	dropped := table()
	dropped.Columns = []plugin.ColumnRule{{Name: "id", Drop: true}}
	misspelt := table()
	misspelt.Columns = []plugin.ColumnRule{{Name: "amuont", Drop: true}}
	for name, tc := range map[string]struct {
		table plugin.SourceTable
		kind  diag.Kind
		code  string
		path  string
		says  []string
		key   string
	}{
		"captured":                      {table: table(), key: "[id]"},
		"without key":                   {table: named(written{"object": str("dbo.heap")}), key: "[]"},
		"another key":                   {table: keyed, key: "[note]"},
		"a key that is not captured":    {table: wrongKey, kind: diag.KindConfiguration, code: codeKey, path: "key[0]", says: []string{`No column "nope" is captured by dbo_orders`, "Captured are: id, "}},
		"a key that a rule drops":       {table: dropped, kind: diag.KindConfiguration, code: codeKey, path: "columns.id", says: []string{"The key column id is left out", "Do not leave it out"}},
		"a misspelt key":                {table: misspeltKey, kind: diag.KindConfiguration, code: codeKey, path: "key[0]", says: []string{"Did you mean amount?"}},
		"a rule for an unknown column":  {table: misspelt, kind: diag.KindConfiguration, code: codeColumnRule, path: "columns.amuont", says: []string{"amuont", "Did you mean amount?"}},
		"no CDC on the table":           {table: named(written{"object": str("dbo.plain")}), kind: diag.KindConfiguration, code: codeTableNotEnabled, path: "object", says: []string{"dbo.plain", "sp_cdc_enable_table"}},
		"no such table":                 {table: named(written{"object": str("dbo.nothing")}), kind: diag.KindConfiguration, code: codeUnknownTable, path: "object", says: []string{"dbo.nothing"}},
		"no such instance":              {table: named(written{"capture_instance": str("dbo_order")}), kind: diag.KindConfiguration, code: codeUnknownInstance, path: "capture_instance", says: []string{"dbo_order", "There is dbo_orders (of dbo.orders)"}},
		"an instance, ignoring case":    {table: named(written{"capture_instance": str("DBO_ORDERS")}), key: "[id]"},
		"an object, ignoring case":      {table: named(written{"object": str("DBO.ORDERS")}), key: "[id]"},
		"a name that tries to break in": {table: named(written{"object": str("dbo.[x'; DROP TABLE dbo.orders; --]")}), kind: diag.KindConfiguration, code: codeUnknownTable, path: "object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := inspect(t, open(t, db, nil), tc.table, func() plugin.SourceTable { x := table(); x.Address = "other"; return x }())
			info := r.Tables[0]
			if tc.code == "" {
				if info.Diagnostics.HasErrors() || fmt.Sprint(info.Key) != tc.key {
					t.Fatalf("%+v", info)
				}
			} else {
				d := wantDiag(t, info.Diagnostics.Err(), tc.kind, tc.code, tc.says...)
				if d.Path.String() != tc.path || d.Detail == "" || info.Schema != nil {
					t.Errorf("path %q, detail %q, schema %v", d.Path, d.Detail, info.Schema)
				}
			}
			if len(r.Tables) != 2 || r.Tables[1].Diagnostics.HasErrors() || r.Tables[1].Schema == nil {
				t.Errorf("the other table: %+v", r.Tables[1])
			}
		})
	}
}

func TestADatabaseWithoutCDC(t *testing.T) {
	t.Parallel()
	db := server.Database(t.Name())
	s := open(t, db, nil)
	_, err := s.Inspect(ctx, plugin.InspectRequest{Tables: []plugin.SourceTable{table()}})
	d := wantDiag(t, err, diag.KindConfiguration, codeNotEnabled, db.Name(), "sp_cdc_enable_db")
	if d.Path.String() != argURL {
		t.Errorf("path %s", d.Path)
	}
	_, err = s.Start(ctx, plugin.StartRequest{Table: table()})
	wantDiag(t, err, diag.KindConfiguration, codeNotEnabled, "sp_cdc_enable_db")
}

// A login sees what it may read, and is told what it lacks.
func TestGrants(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	orders(t, db)
	insert(t, db, 1)
	login := server.AddLogin("grants_reader", "Reader-1!")
	s := func() *session {
		return openWith(t, newPlugin(nil, slog.DiscardHandler), server.UserDSN("grants_reader", "Reader-1!", db.Name()), nil)
	}
	tab := table()
	diags := func(tab plugin.SourceTable) error { return inspect(t, s(), tab).Tables[0].Diagnostics.Err() }

	t.Run("nothing is granted", func(t *testing.T) {
		if err := diags(tab); err == nil {
			t.Error("no error")
		}
		wantDiag(t, diags(table(written{"capture_instance": str("dbo_orders")})), diag.KindConfiguration, codeUnknownInstance, "SELECT")
	})
	login.Grant(db.Name(), "dbo.orders")
	t.Run("the change table is not granted", func(t *testing.T) {
		d := wantDiag(t, diags(tab), diag.KindPermission, codeChangeGrant, "GRANT SELECT ON cdc.[dbo_orders_CT] TO [grants_reader]", "dbo_orders")
		if d.Path.String() != argObject || d.Data["capture_instance"] != "dbo_orders" {
			t.Errorf("%+v", d)
		}
		// Planning works without it; reading does not, and says so.
		one := s()
		from := start(t, one, tab, "earliest")
		// Without partitions nothing reads the change table to plan.
		single := table(nil, written{"partitions": number1})
		b := plan(t, one, single, from, latest(t, one, single, from))
		_, _, _, err := read(one.Read(ctx, plugin.ReadRequest{Table: single, Range: b.Ranges[0]}))
		wantDiag(t, err, diag.KindPermission, codeChangeGrant, "GRANT SELECT ON cdc.[dbo_orders_CT] TO [grants_reader]")
		// With them, planning says the same.
		wantDiag(t, planError(one, tab, from, latest(t, one, tab, from)), diag.KindPermission, codeChangeGrant, "GRANT SELECT ON cdc.[dbo_orders_CT] TO [grants_reader]")
		// The same batch works after the grant.
		login.Grant(db.Name(), "cdc.dbo_orders_CT")
		lines, _ := readRanges(t, one, single, b)
		equal(t, short(lines), []string{"2|1|order 1|1.50"})
	})
	t.Run("all is granted", func(t *testing.T) {
		if err := diags(tab); err != nil {
			t.Error(err)
		}
	})
	t.Run("a newer instance needs its own grant", func(t *testing.T) {
		must(t, db.EnableTable("dbo.orders", mssqlsim.Capture{Name: "dbo_orders_v2"}))
		wantDiag(t, diags(tab), diag.KindPermission, codeChangeGrant, "GRANT SELECT ON cdc.[dbo_orders_v2_CT]")
	})
	t.Run("the rows of the table are not granted", func(t *testing.T) {
		login.Grant(db.Name(), "cdc.dbo_orders_v2_CT")
		one := s()
		info, err := one.OpenSnapshot(ctx, plugin.OpenSnapshotRequest{Table: tab})
		must(t, err)
		if !slices.Equal(info.Keys, []string{"id"}) {
			t.Errorf("%+v", info)
		}
		login.Revoke(db.Name(), "dbo.orders")
		if err := diags(tab); err == nil {
			t.Error("no error")
		}
	})
}

// A gating role hides an instance from who is not in it (report H-125).
func TestAGatingRole(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	must(t, db.CreateTable(mssqlsim.Table{Name: "dbo.orders", Key: []string{"id"}, Columns: []mssqlsim.Column{{Name: "id", Type: "int"}}}))
	must(t, db.EnableTable("dbo.orders", mssqlsim.Capture{Role: "cdc_gate"}))
	login := server.AddLogin("gated_reader", "Reader-1!")
	login.Grant(db.Name(), "dbo.orders")
	login.Grant(db.Name(), "cdc.dbo_orders_CT")
	s := openWith(t, newPlugin(nil, slog.DiscardHandler), server.UserDSN("gated_reader", "Reader-1!", db.Name()), nil)
	wantDiag(t, inspect(t, s, table()).Tables[0].Diagnostics.Err(), diag.KindConfiguration, codeUnknownInstance, "gating role")
	login.JoinRole(db.Name(), "cdc_gate")
	if err := inspect(t, s, table()).Tables[0].Diagnostics.Err(); err != nil {
		t.Error(err)
	}
}

// A name of which nothing is listed any more still tells its table, unless it
// is another table's.
func TestTheDefaultNameStaysATablesName(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	orders(t, db)
	must(t, db.EnableTable("dbo.orders", mssqlsim.Capture{Name: "Second"}))
	must(t, db.DropInstance("dbo_orders"))
	if got := fmt.Sprint(inspect(t, open(t, db, nil), table()).Tables[0].Instances); got != "[second dbo_orders]" {
		t.Error(got)
	}
	must(t, db.Exec(ctx, "CREATE TABLE dbo.others (id int NOT NULL PRIMARY KEY)"))
	must(t, db.EnableTable("dbo.others", mssqlsim.Capture{Name: "dbo_orders"}))
	if got := fmt.Sprint(inspect(t, open(t, db, nil), table()).Tables[0].Instances); got != "[second]" {
		t.Error(got)
	}
}
