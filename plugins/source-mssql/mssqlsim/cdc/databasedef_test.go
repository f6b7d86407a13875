package cdc

import (
	"errors"
	"sync"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// each runs work in n goroutines that start together, each with a session of its own in master, and counts the numbers
// of their errors; 0 is none.
func each(t *testing.T, srv *Server, n int, work func(i int, s *Session) error) map[int32]int {
	t.Helper()
	errs, start := make([]error, n), make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		s, err := srv.NewSession("sa", "")
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			defer s.Close()
			<-start
			errs[i] = work(i, s)
		})
	}
	close(start)
	all.Wait()
	out := map[int32]int{}
	for _, err := range errs {
		var e *sqltype.Error
		switch {
		case err == nil:
			out[0]++
		case errors.As(err, &e):
			out[e.Number]++
		default:
			t.Error(err)
		}
	}
	return out
}

func adminServer(t *testing.T) *Server {
	t.Helper()
	srv, err := NewServer(Config{})
	if err != nil {
		t.Fatal(err)
	}
	srv.AddLogin("sa", "", true)
	return srv
}

// Of several CREATE DATABASE of one name at a time one makes it.
func TestADatabaseIsCreatedOnce(t *testing.T) {
	t.Parallel()
	for range 2000 {
		srv := adminServer(t)
		got := each(t, srv, 4, func(_ int, s *Session) error { return s.CreateDatabase("shop") })
		if got[0] != 1 || got[1801] != 3 {
			t.Fatalf("errors by number: %v", got)
		}
	}
}

// Who comes into a database while it is dropped is in one that stays, or is told that there is none.
func TestNobodyIsInADroppedDatabase(t *testing.T) {
	t.Parallel()
	for range 2000 {
		srv := adminServer(t)
		srv.Database("shop")
		each(t, srv, 4, func(i int, s *Session) error {
			if i == 0 {
				return s.DropDatabase("shop", false)
			}
			in, err := s, error(nil)
			if i == 1 {
				if in, err = srv.NewSession("sa", "shop"); err == nil {
					defer in.Close()
				}
			} else {
				err = s.Use("shop")
			}
			if err == nil && srv.Find("shop") != in.db {
				t.Error("a session is in a database that was dropped")
			}
			return err
		})
	}
}
