package mssqlsim

import (
	"context"
	"errors"
	"testing"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/cdc"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// A change of shape that is not committed keeps others off its table wherever they are, also who reads row versions or what is not
// committed: Sch-M bars Sch-S, which every query takes (Microsoft: Transaction locking and row versioning guide, Schema locks). What it
// let in was lost when it was undone.
func TestAShapeInAnotherDatabase(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), Options{})
	must(t, err)
	t.Cleanup(s.Close)
	s.Database("shop")
	s.Database("other")
	c := connsTo(t, s, "shop", "other", "other")
	in, from, elsewhere := c[0], c[1], c[2]
	for _, batch := range []string{
		"CREATE TABLE dbo.t (id int PRIMARY KEY, n int NULL); CREATE TABLE dbo.u (id int); INSERT dbo.t VALUES (1, 1); CREATE TABLE other.dbo.t (id int)",
		"CREATE PROCEDURE dbo.p AS RETURN 0",
		"ALTER DATABASE shop SET READ_COMMITTED_SNAPSHOT ON WITH ROLLBACK IMMEDIATE",
	} {
		if got := answer(t.Context(), in, batch); got != "" {
			t.Fatalf("%s: %s", batch, got)
		}
	}
	for _, shape := range []string{"ALTER TABLE dbo.t ADD late int NULL", "TRUNCATE TABLE dbo.t", "CREATE INDEX ix ON dbo.t (n)", "DROP TABLE dbo.t"} {
		if got := answer(t.Context(), in, "BEGIN TRAN; "+shape); got != "" {
			t.Fatalf("%s: %s", shape, got)
		}
		for _, batch := range []string{
			"INSERT shop.dbo.t (id) VALUES (5)",
			"INSERT shop.dbo.t (id) SELECT id FROM dbo.t",
			"UPDATE shop.dbo.t SET n = 2 WHERE id = 1",
			"UPDATE shop.dbo.t SET n = 2 WHERE id = 7",
			"DELETE shop.dbo.t",
			"MERGE shop.dbo.t AS t USING (VALUES (1)) AS s (id) ON t.id = s.id WHEN MATCHED THEN DELETE;",
			"BEGIN TRAN; INSERT shop.dbo.t (id) VALUES (5); COMMIT",
			"INSERT dbo.t SELECT id FROM shop.dbo.t",
			"SELECT COUNT(*) FROM shop.dbo.t",
			"SELECT COUNT(*) FROM dbo.t AS a CROSS JOIN shop.dbo.t AS b",
			"SELECT COUNT(*) FROM shop.dbo.t WITH (NOLOCK)",
			"SET TRANSACTION ISOLATION LEVEL READ UNCOMMITTED; SELECT COUNT(*) FROM shop.dbo.t",
			"SET TRANSACTION ISOLATION LEVEL SNAPSHOT; SELECT COUNT(*) FROM shop.dbo.t",
			"SELECT COUNT(*) FROM shop.sys.columns",
			"ALTER TABLE shop.dbo.t ADD other int NULL",
			"DROP TABLE shop.dbo.t",
			"SELECT id INTO shop.dbo.made FROM dbo.t",
			"USE shop; SELECT COUNT(*) FROM dbo.t",
			"EXEC ('DECLARE @n int; SELECT @n = COUNT(*) FROM shop.dbo.t')",
		} {
			if got := answer(t.Context(), from, "SET LOCK_TIMEOUT 0; "+batch); got != "1222" {
				t.Errorf("beside %s, %s: %q, want 1222", shape, batch, got)
			}
			if got := answer(t.Context(), from, "USE other; IF @@TRANCOUNT > 0 ROLLBACK; SET TRANSACTION ISOLATION LEVEL READ COMMITTED"); got != "" {
				t.Fatal(got)
			}
		}
		if got := answer(t.Context(), from, "DECLARE @n int; SELECT @n = COUNT(*) FROM dbo.t; IF 1 = 0 SELECT late FROM shop.dbo.t"); got != "" {
			t.Errorf("beside %s, of its own: %q", shape, got)
		}
		if got := answer(t.Context(), from, "USE shop; USE other; EXEC shop.dbo.p"); got != "" {
			t.Errorf("beside %s, of no table: %q", shape, got)
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Database("shop").Model().Write(cancelled, func(w *cdc.Writer) error {
			return w.Insert("dbo.u", sqltype.Row{sqltype.FromInt(1)})
		}); !errors.Is(err, context.Canceled) {
			t.Errorf("beside %s, a program: %v", shape, err)
		}
		done := make(chan string, 1)
		go func() { done <- answer(t.Context(), elsewhere, "SET LOCK_TIMEOUT -1; UPDATE shop.dbo.t SET n = n + 1") }()
		if got := answer(t.Context(), in, "ROLLBACK"); got != "" {
			t.Fatal(got)
		}
		if got := <-done; got != "" {
			t.Errorf("behind %s: %q", shape, got)
		}
	}
	if got := answer(t.Context(), from, "SELECT n FROM shop.dbo.t"); got != "5" {
		t.Errorf("rows: %s", got)
	}
}

// Two who wait for one another's databases are a deadlock also where one of them waits for a shape (Microsoft: Deadlocks guide).
func TestADeadlockOverAShapeInAnotherDatabase(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), Options{})
	must(t, err)
	t.Cleanup(s.Close)
	s.Database("shop")
	s.Database("other")
	c := connsTo(t, s, "shop", "other")
	in, from := c[0], c[1]
	if got := answer(t.Context(), in, "CREATE TABLE dbo.t (id int); CREATE TABLE dbo.u (id int PRIMARY KEY, n int); INSERT dbo.u VALUES (1, 1)"); got != "" {
		t.Fatal(got)
	}
	if got := answer(t.Context(), from, "SET DEADLOCK_PRIORITY LOW; BEGIN TRAN; UPDATE shop.dbo.u SET n = 2"); got != "" {
		t.Fatal(got)
	}
	if got := answer(t.Context(), in, "BEGIN TRAN; ALTER TABLE dbo.t ADD n int"); got != "" {
		t.Fatal(got)
	}
	done := make(chan string, 1)
	go func() { done <- answer(t.Context(), in, "UPDATE dbo.u SET n = 3; COMMIT") }()
	if got := answer(t.Context(), from, "INSERT shop.dbo.t (id) VALUES (1)"); got != "1205" {
		t.Errorf("the victim: %q", got)
		if got := answer(t.Context(), from, "IF @@TRANCOUNT > 0 ROLLBACK"); got != "" { // so that the other one ends
			t.Error(got)
		}
	}
	if got := <-done; got != "" {
		t.Errorf("the other: %q", got)
	}
}
