package mssqlsim

import (
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tds"
)

// A login can fail so often, for one database or user, and be cut off; others go on.
func TestFaultsOfLogins(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), Options{})
	must(t, err)
	defer s.Close()
	s.Database("shop")
	s.Database("store")
	ping := func(database string) error { return open(t, s.DSN(database)).Ping() }
	refused, err := s.Inject(LoginFault("@shop", 2, 40613, "Database 'shop' on server 'x' is not currently available."))
	must(t, err)
	for range 2 {
		wantError(t, ping("shop"), 40613, "not currently available")
	}
	must(t, ping("shop"))
	if refused.Hits() != 2 {
		t.Errorf("%d hits", refused.Hits())
	}
	failed, err := s.Inject(LoginFault("/^sa@/", 0, 18456, "Login failed for user 'sa'."))
	must(t, err)
	wantError(t, ping("store"), 18456, "Login failed")
	failed.Remove()
	cut := DropFault("@store", 1, tds.DropBefore, 0)
	cut.Login = true
	struck, err := s.Inject(cut)
	must(t, err)
	_ = ping("store") // the driver may log in again by itself
	if struck.Hits() != 1 {
		t.Errorf("the login was cut off %d times", struck.Hits())
	}
	must(t, ping("store"))
	late := LoginFault("", 1, 18456, "")
	late.Wrong.Rows = 3
	if _, err := s.Inject(late); err == nil {
		t.Error("a login has no rows to fail after")
	}
}
