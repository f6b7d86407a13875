package cdc

import (
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// Back at a savepoint a transaction has the changes and the locks of that, whoever looks at them meanwhile.
func TestBackAtASavepointWhileOthersLook(t *testing.T) {
	t.Parallel()
	srv, err := NewServer(Config{Clock: SystemClock{}})
	if err != nil {
		t.Fatal(err)
	}
	db := srv.Database("d")
	if err := db.CreateTable(tsql.TableDef{Name: tsql.Name{Schema: "dbo", Object: "t"}, Key: []string{"id"}, Columns: []tsql.ColumnDef{{Column: tsql.Column{Name: "id", Type: sqltype.Of(sqltype.Int)}}}}); err != nil {
		t.Fatal(err)
	}
	table, tx := db.tables[0], db.begin()
	insert := func(id int64) {
		if err := tx.write(t.Context(), table, table.shaped, []tsql.Change{{New: sqltype.Row{sqltype.FromInt(id)}}}, -1); err != nil {
			t.Fatal(err)
		}
	}
	insert(1)
	tx.save("s")
	looked := make(chan int, 1)
	for id := range int64(100) {
		insert(id + 2)
		go func() {
			db.mu.Lock()
			defer db.mu.Unlock()
			looked <- len(table.lockers(nil, func(sqltype.Row) bool { return true }))
		}()
		if !tx.undo("s") {
			t.Fatal("no savepoint")
		}
		if n := <-looked; n != 1 {
			t.Fatalf("%d transactions have changed something", n)
		}
	}
	if len(tx.ops) != 1 || len(tx.locks) != 1 || len(table.locks) != 1 {
		t.Errorf("%d changes, %d and %d locks, want 1 of each", len(tx.ops), len(tx.locks), len(table.locks))
	}
	tx.rollback()
}
