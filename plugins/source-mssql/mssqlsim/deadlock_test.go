package mssqlsim

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	mssqldb "github.com/microsoft/go-mssqldb"
)

// numbers gives all errors of a batch.
func numbers(err error) (out []int32) {
	var e mssqldb.Error
	if errors.As(err, &e) {
		for _, one := range e.All {
			out = append(out, one.Number)
		}
	}
	return out
}

// One ALTER DATABASE waits for a database at a time: another one of the same database fails, and where each waits for the session of
// the other to leave its database one is a victim. Microsoft: Database engine events and errors, 5061, 5069; sqlservercentral.com,
// Help! I'm stuck in Single User Mode: 1205 with 5069.
func TestAlterDatabaseBesideAnother(t *testing.T) {
	t.Parallel()
	const rcsi, snapshots = "ALTER DATABASE shop SET READ_COMMITTED_SNAPSHOT ON", "ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION "
	for _, tc := range []struct {
		what, in, before, first, second string
		want                            []int32
	}{
		{"both alone", "shop", "", rcsi, rcsi, []int32{5061, 5069}},
		{"snapshots beside alone", "shop", "", rcsi, snapshots + "OFF", []int32{5061, 5069}},
		{"another option", "master", "", rcsi, "ALTER DATABASE shop SET RECOVERY SIMPLE", []int32{5061, 5069}},
		{"others are not ended then", "master", "", rcsi, "ALTER DATABASE shop SET SINGLE_USER WITH ROLLBACK IMMEDIATE", []int32{5061, 5069}},
		{"both snapshots", "shop", "BEGIN TRAN; INSERT dbo.t VALUES (2)", snapshots + "OFF", snapshots + "ON", []int32{5061, 5069}},
		{"alone beside snapshots", "shop", "BEGIN TRAN; INSERT dbo.t VALUES (2)", snapshots + "OFF", rcsi, []int32{5061, 5069}},
		{"each in the way of the other", "other", "", rcsi, "ALTER DATABASE first SET READ_COMMITTED_SNAPSHOT ON", []int32{1205, 5069}},
	} {
		t.Run(tc.what, func(t *testing.T) {
			t.Parallel()
			s, err := Start(t.Context(), Options{})
			must(t, err)
			t.Cleanup(s.Close)
			s.Database("shop")
			in, at := tc.in, "shop"
			if in == "other" { // each is in the database that the other one wants
				s.Database("first")
				in, at = "shop", "first"
			}
			c := connsTo(t, s, at, in, "master", "shop")
			first, second, watch, user := c[0], c[1], c[2], c[3]
			for i, batch := range []string{"SELECT 1", "SELECT 1", "CREATE TABLE dbo.t (id int PRIMARY KEY); INSERT dbo.t VALUES (1)"} {
				if got := answer(t.Context(), []*sql.Conn{first, second, user}[i], batch); got != []string{"1", "1", ""}[i] {
					t.Fatal(got)
				}
			}
			if tc.before != "" {
				equal(t, []string{answer(t.Context(), user, tc.before)}, []string{""})
			}
			ctx, cancel := context.WithCancel(t.Context())
			result := make(chan error, 1)
			go func() {
				_, err := first.ExecContext(ctx, tc.first)
				result <- err
			}()
			until(t, watch, "SELECT COUNT(*) FROM sys.dm_exec_requests WHERE command LIKE 'ALTER%'", "1")
			for range 1000 { // the first one begins to wait
				if _, err = second.ExecContext(t.Context(), tc.second+" "); err != nil {
					break
				}
			}
			if got := numbers(err); !slices.Equal(got, tc.want) {
				t.Errorf("%v, want %v", got, tc.want)
			}
			if got := answer(t.Context(), user, "SELECT 1"); got != "1" {
				t.Errorf("another session: %s", got)
			}
			cancel()
			if err := <-result; !errors.Is(err, context.Canceled) {
				t.Errorf("the first: %v", err)
			}
		})
	}
}

// A circle is found whatever else its members wait for: two have read a row that a third one wants to change, and the second of
// these waits for the third (Microsoft: Deadlocks guide, Deadlock detection).
func TestADeadlockBehindAnotherWait(t *testing.T) {
	t.Parallel()
	db, pool := newDatabase(t)
	orders(t, db)
	exec(t, pool, "INSERT dbo.orders (id) VALUES (1), (2)")
	begin := func(batch string) *sql.Conn {
		c, err := pool.Conn(t.Context())
		must(t, err)
		t.Cleanup(func() { _ = c.Close() })
		if got := answer(t.Context(), c, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; BEGIN TRAN; DECLARE @n int; "+batch); got != "" {
			t.Fatal(got)
		}
		return c
	}
	const read = "SELECT @n = COUNT(*) FROM dbo.orders WHERE id = 1"
	idle, reader := begin(read), begin(read)
	writer := begin("UPDATE dbo.orders SET note = 'w' WHERE id = 2")
	first := make(chan string, 1)
	go func() { first <- answer(t.Context(), writer, "UPDATE dbo.orders SET note = 'w' WHERE id = 1") }()
	waitsFor(t, pool, 1)
	if got := answer(t.Context(), reader, "UPDATE dbo.orders SET note = 'r' WHERE id = 2"); got != "1205" {
		t.Errorf("the reader, which has changed nothing: %q", got)
	}
	if got := answer(t.Context(), idle, "ROLLBACK"); got != "" {
		t.Error(got)
	}
	if got := <-first; got != "" {
		t.Errorf("the writer: %q", got)
	}
}

// Transactions of two databases wait for each other when each reads what the other one changes.
func TestADeadlockOfTwoDatabases(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), Options{})
	must(t, err)
	t.Cleanup(s.Close)
	s.Database("a")
	s.Database("b")
	c := connsTo(t, s, "a", "b", "master")
	for _, x := range c[:2] {
		if got := answer(t.Context(), x, "CREATE TABLE dbo.t (id int PRIMARY KEY, n int); INSERT dbo.t VALUES (1, 0); BEGIN TRAN; UPDATE dbo.t SET n = 1"); got != "" {
			t.Fatal(got)
		}
	}
	first := make(chan string, 1)
	go func() {
		got := answer(t.Context(), c[0], "DECLARE @n int; SELECT @n = n FROM b.dbo.t")
		first <- got + answer(t.Context(), c[0], "IF @@TRANCOUNT > 0 ROLLBACK")
	}()
	until(t, c[2], "SELECT COUNT(*) FROM sys.dm_exec_requests WHERE blocking_session_id <> 0", "1")
	second := answer(t.Context(), c[1], "DECLARE @n int; SELECT @n = n FROM a.dbo.t")
	if got := answer(t.Context(), c[1], "IF @@TRANCOUNT > 0 ROLLBACK"); got != "" {
		t.Error(got)
	}
	if got := <-first + second; got != "1205" {
		t.Errorf("one of them must be the victim: %q", got)
	}
}

// Whatever transactions do, none waits for ever: each statement ends, be it as a victim.
func TestNoStatementWaitsForEver(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), Options{})
	must(t, err)
	t.Cleanup(s.Close)
	s.Database("shop")
	s.Database("other")
	admin := connsTo(t, s, "shop")[0]
	if got := answer(t.Context(), admin, `CREATE TABLE dbo.p (id int PRIMARY KEY, n int); CREATE TABLE dbo.c (id int PRIMARY KEY, p int REFERENCES dbo.p ON DELETE CASCADE, n int);
		CREATE TABLE dbo.h (n int); CREATE TABLE other.dbo.t (id int PRIMARY KEY, n int); INSERT dbo.p VALUES (1, 0), (2, 0), (3, 0); INSERT dbo.c VALUES (1, 1, 0), (2, 2, 0), (3, 3, 0); INSERT other.dbo.t VALUES (1, 0)`); got != "" {
		t.Fatal(got)
	}
	statements := []string{
		"UPDATE dbo.p SET n = n + 1 WHERE id = 1", "UPDATE dbo.p SET n = n + 1 WHERE id = 2", "UPDATE dbo.c SET n = n + 1 WHERE id = 1", "UPDATE dbo.c SET n = n + 1 WHERE id = 2",
		"UPDATE dbo.c SET p = 3 WHERE id = 2", "DELETE dbo.p WHERE id = 3", "INSERT dbo.p VALUES (3, 0)", "INSERT dbo.c VALUES (4, 3, 0)", "DELETE dbo.c WHERE id = 4", "INSERT dbo.h VALUES (1)",
		"SELECT @n = COUNT(*) FROM dbo.p WITH (HOLDLOCK)", "SELECT @n = COUNT(*) FROM dbo.c WITH (REPEATABLEREAD)", "SELECT @n = COUNT(*) FROM dbo.p WITH (UPDLOCK) WHERE id = 2",
		"SELECT @n = COUNT(*) FROM dbo.h WITH (TABLOCKX)", "SELECT @n = COUNT(*) FROM dbo.p", "SELECT @n = COUNT(*) FROM other.dbo.t",
		"ALTER TABLE dbo.h ADD m int", "ALTER TABLE dbo.h DROP COLUMN m", "ALTER TABLE dbo.c NOCHECK CONSTRAINT ALL", "ALTER TABLE dbo.c CHECK CONSTRAINT ALL", "CREATE USER u WITHOUT LOGIN", "DROP USER u", "SAVE TRAN p", "ROLLBACK TRAN p",
	}
	elsewhere := []string{"UPDATE dbo.t SET n = n + 1", "SELECT @n = COUNT(*) FROM shop.dbo.p", "SELECT @n = COUNT(*) FROM shop.dbo.h"}
	outside := []string{"ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION ON", "ALTER DATABASE shop SET ALLOW_SNAPSHOT_ISOLATION OFF"}
	var all sync.WaitGroup
	for i := range 6 {
		database, list := "shop", statements
		if i == 5 {
			database, list = "other", elsewhere
		}
		c := connsTo(t, s, database)[0]
		random := rand.New(rand.NewPCG(uint64(i), 7))
		all.Go(func() {
			for range 150 {
				var batch strings.Builder
				fmt.Fprintf(&batch, "SET XACT_ABORT %s; BEGIN TRAN; DECLARE @n int; ", []string{"ON", "OFF"}[random.IntN(2)])
				for range 1 + random.IntN(4) {
					fmt.Fprintf(&batch, "IF @@TRANCOUNT > 0 EXEC ('DECLARE @n int; %s'); ", list[random.IntN(len(list))])
				}
				fmt.Fprintf(&batch, "IF @@TRANCOUNT > 0 %s", []string{"COMMIT", "ROLLBACK"}[random.IntN(2)])
				got := answer(t.Context(), c, batch.String())
				known := []string{"", "1205", "547", "2627", "3701", "4924", "2705", "15023", "15151", "50001", "207", "213", "266", "6401"}
				if !slices.Contains(known, got) {
					t.Errorf("%s: %s", batch.String(), got)
				}
				if got := answer(t.Context(), c, "WHILE @@TRANCOUNT > 0 ROLLBACK"); got != "" && got != "1205" {
					t.Error(got)
				}
				if got := answer(t.Context(), c, "SELECT @@TRANCOUNT"); got != "0" {
					t.Errorf("@@TRANCOUNT is %s in the end", got)
				}
				if random.IntN(8) == 0 {
					if got := answer(t.Context(), c, outside[random.IntN(2)]); got != "" && got != "5069" {
						t.Error(got)
					}
				}
			}
		})
	}
	all.Wait()
	if got := answer(t.Context(), admin, "SELECT COUNT(*) FROM sys.dm_exec_requests WHERE blocking_session_id <> 0"); got != "0" {
		t.Errorf("%s requests still wait", got)
	}
}
