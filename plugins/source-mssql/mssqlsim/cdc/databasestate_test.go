package cdc

import (
	"errors"
	"sync"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// Who gets in while a database is taken from its users is seen by who takes it: behind SET OFFLINE nobody is in it.
func TestNobodyEntersADatabaseThatIsTaken(t *testing.T) {
	t.Parallel()
	srv, err := NewServer(Config{Clock: SystemClock{}})
	if err != nil {
		t.Fatal(err)
	}
	srv.AddLogin("sa", "pw", true)
	db := srv.Database("taken")
	admin, err := srv.NewSession("sa", "master")
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	yes, no := true, false
	stop := make(chan struct{})
	var users sync.WaitGroup
	defer users.Wait()
	defer close(stop)
	for range 4 {
		users.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if s, err := srv.NewSession("sa", "taken"); err == nil {
					s.Close()
				}
			}
		})
	}
	for range 10_000 {
		if err := admin.SetState(t.Context(), "taken", tsql.DatabaseState{Offline: &yes}); err != nil {
			t.Fatal(err)
		}
		srv.mu.RLock()
		in := db.sessions
		srv.mu.RUnlock()
		if in > 0 {
			t.Fatalf("%d sessions are in a database that is offline", in)
		}
		if err := admin.SetState(t.Context(), "taken", tsql.DatabaseState{Offline: &no}); err != nil {
			t.Fatal(err)
		}
	}
}

// ALLOW_SNAPSHOT_ISOLATION does not begin to change while another session waits to have the database alone, though that has come
// behind the first look (Microsoft: Database engine events and errors, 5061).
func TestSnapshotsOfADatabaseThatIsWanted(t *testing.T) {
	t.Parallel()
	srv, err := NewServer(Config{Clock: SystemClock{}})
	if err != nil {
		t.Fatal(err)
	}
	srv.AddLogin("sa", "pw", true)
	db := srv.Database("d")
	other, s := sessionOf(t, srv, "d", 51), sessionOf(t, srv, "d", 52)
	srv.mu.Lock()
	db.claimed = other
	srv.mu.Unlock()
	err = s.changeSnapshots(t.Context(), db, false)
	var e *sqltype.Error
	if !errors.As(err, &e) || e.Number != 5069 || e.First == nil || e.First.Number != 5061 {
		t.Errorf("beside another: %v", err)
	}
	if state := db.snapshots.Load(); state != snapshotsOn {
		t.Errorf("it is %s", snapshotStates[state])
	}
	if err := other.changeSnapshots(t.Context(), db, false); err != nil {
		t.Errorf("of its own: %v", err)
	}
	if state := db.snapshots.Load(); state != snapshotsOff {
		t.Errorf("it is %s", snapshotStates[state])
	}
}
