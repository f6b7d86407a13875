package cdc

import (
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// Others may list the transactions while one of them goes to another database than it began in: the race detector tells when they may not.
func TestTransactionsAreListedWhileOneGoesElsewhere(t *testing.T) {
	t.Parallel()
	srv, err := NewServer(Config{Clock: SystemClock{}})
	if err != nil {
		t.Fatal(err)
	}
	srv.AddLogin("sa", "pw", true)
	here, there := srv.Database("here"), srv.Database("there")
	mover, viewer := sessionOf(t, srv, "here", 51), sessionOf(t, srv, "here", 52)
	if err := there.CreateTable(tsql.TableDef{Name: tsql.Name{Schema: "dbo", Object: "t"}, Columns: []tsql.ColumnDef{{Column: tsql.Column{Name: "id", Type: sqltype.Of(sqltype.Int)}}}}); err != nil {
		t.Fatal(err)
	}
	if err := mover.Begin(); err != nil {
		t.Fatal(err)
	}
	listed := make(chan int)
	go func() { listed <- len(databaseTransactions(viewer, here).Data) }()
	there.mu.Lock()
	err = mover.starts(there.table("dbo", "t"), tsql.ReadCommitted, true)
	there.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	if n := <-listed; n != 1 {
		t.Errorf("%d transactions", n)
	}
	if id := databaseTransactions(viewer, here).Data[0][1].Int(); id != int64(there.ID) {
		t.Errorf("the transaction is of database %d, want %d", id, there.ID)
	}
	if err := mover.Commit(); err != nil {
		t.Fatal(err)
	}
}

// sessionOf gives a session that others see under a number.
func sessionOf(t *testing.T, srv *Server, database string, spid int16) *Session {
	t.Helper()
	s, err := srv.NewSession("sa", database)
	if err != nil {
		t.Fatal(err)
	}
	s.Connected(Connection{SPID: spid, Kill: func() {}})
	t.Cleanup(s.Close)
	return s
}
