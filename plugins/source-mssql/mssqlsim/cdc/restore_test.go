package cdc

import (
	"runtime"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// A view of the server that is read through a database asks for the server behind the database, which a RESTORE that waits for the
// database must not be in the way of.
func TestARestoreWaitsForADatabaseWithoutTheServer(t *testing.T) {
	t.Parallel()
	srv, err := NewServer(Config{Clock: SystemClock{}})
	if err != nil {
		t.Fatal(err)
	}
	srv.AddLogin("sa", "pw", true)
	srv.AddLogin("clerk", "pw", false)
	db := srv.Database("d")
	s, err := srv.NewSession("sa", "master")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Backup("d", "x", false); err != nil {
		t.Fatal(err)
	}
	db.mu.RLock() // as a statement that reads a view of d
	restored := make(chan error, 1)
	go func() { restored <- s.RestoreDatabase(tsql.Restore{Database: "d", Device: "x", Set: 1, Replace: true}) }()
	for !db.restoring.Load() {
		runtime.Gosched()
	}
	if n := len(srv.databases()); n != 5 {
		t.Errorf("%d databases", n)
	}
	if _, err := srv.NewSession("sa", "d"); err == nil {
		t.Error("a database is entered in the middle of a restore")
	}
	db.mu.RUnlock()
	_ = srv.Login("clerk").mayUse(db) // as sys.databases asks meanwhile
	if err := <-restored; err != nil {
		t.Fatal(err)
	}
	again, err := srv.NewSession("sa", "d")
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}
