package cdc

import (
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// Under SNAPSHOT isolation the rows that foreign keys are held against are made once, and follow what the transaction changes and
// undoes and what others commit.
func TestRowsThatForeignKeysAreHeldAgainstUnderSnapshot(t *testing.T) {
	t.Parallel()
	srv, err := NewServer(Config{Clock: SystemClock{}})
	if err != nil {
		t.Fatal(err)
	}
	db := srv.Database("d")
	if err := db.CreateTable(tsql.TableDef{Name: tsql.Name{Schema: "dbo", Object: "t"}, Key: []string{"id"}, Columns: []tsql.ColumnDef{{Column: tsql.Column{Name: "id", Type: sqltype.Of(sqltype.Int)}}}}); err != nil {
		t.Fatal(err)
	}
	table := db.tables[0]
	add := func(tx *Tx, id int64) {
		t.Helper()
		if err := tx.write(t.Context(), table, table.shaped, []tsql.Change{{New: sqltype.Row{sqltype.FromInt(id)}}}, -1); err != nil {
			t.Fatal(err)
		}
	}
	tx := db.begin()
	tx.versions, tx.shapes, tx.started = db.versions(), db.shapes, true
	tx.snapshot = tx.versions
	has := func(want ...int64) {
		t.Helper()
		db.mu.Lock()
		defer db.mu.Unlock()
		rows := tx.now(table)
		if tx.now(table) != rows {
			t.Error("made anew")
		}
		var got []int64
		for cur := rows.ascend(nil); ; {
			row := cur.next()
			if row == nil {
				break
			}
			got = append(got, row[1].Int())
		}
		if len(got) != len(want) {
			t.Fatalf("%v, want %v", got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("%v, want %v", got, want)
			}
		}
	}
	has()
	add(tx, 2)
	has(2)
	add(tx, 3)
	has(2, 3)
	tx.undoFrom(1)
	add(tx, 4)
	has(2, 4)
	other := db.begin()
	add(other, 1)
	if _, err := other.commit(); err != nil {
		t.Fatal(err)
	}
	has(1, 2, 4)
	tx.rollback()
}
