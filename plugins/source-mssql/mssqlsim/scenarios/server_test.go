package scenarios

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/client"
)

// serverVariable names a SQL Server to run the scenarios against, of a login that is a member of sysadmin:
// sqlserver://LOGIN:PASSWORD@HOST:PORT?encrypt=...
const serverVariable = "PIPECTL_TEST_MSSQL_DSN"

// target is a server that scenarios run against. How its capture job gets on is all in which the two differ.
type target struct {
	url       *url.URL
	simulated bool
	// polling waits until capture, which may have something to do, is worth asking again.
	polling func(ctx context.Context, database string) error
	// pass lets time go by.
	pass func(ctx context.Context, d time.Duration) error
	// idle gets an entry without changes written.
	idle func(ctx context.Context, database string) error
	// drop is what goes before DROP DATABASE where jobs and others are to be thrown out of it.
	drop []string
	// limit is how long something may take that the server does in the background.
	limit time.Duration
}

// simulator starts one whose clock only scenarios move, and in which no job runs by itself.
func simulator(t *testing.T) target {
	t.Helper()
	clock := mssqlsim.NewManualClock(time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC))
	s, err := mssqlsim.Start(context.Background(), mssqlsim.Options{Clock: clock, Capture: mssqlsim.CapturePolls})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	u, err := url.Parse(s.DSN("master"))
	if err != nil {
		t.Fatal(err)
	}
	return target{url: u, simulated: true, limit: 10 * time.Second,
		polling: func(_ context.Context, database string) error {
			clock.Advance(5 * time.Second) // the default polling interval
			s.Database(database).RunJobs()
			return nil
		},
		pass: func(_ context.Context, d time.Duration) error { clock.Advance(d); return nil },
		idle: func(_ context.Context, database string) error { s.Database(database).Idle(); return nil },
	}
}

// realServer is the one of the environment.
func realServer(t *testing.T) target {
	t.Helper()
	text := os.Getenv(serverVariable)
	if text == "" {
		t.Skipf("NOT TESTED HERE: a real server; %s names none", serverVariable)
	}
	u, err := url.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", serverVariable, err)
	}
	return target{url: u, limit: 7 * time.Minute, // an entry without changes comes after about five
		polling: func(ctx context.Context, _ string) error { return sleep(ctx, time.Second) },
		drop: []string{
			"IF EXISTS (SELECT * FROM sys.databases WHERE name = N'%[1]s' AND is_cdc_enabled = 1) EXEC [%[1]s].sys.sp_cdc_disable_db",
			"ALTER DATABASE [%[1]s] SET SINGLE_USER WITH ROLLBACK IMMEDIATE",
		},
		pass: sleep,
		idle: func(context.Context, string) error { return nil }, // it comes by itself
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// dsn gives the address of a database for the server's own login, or for another one.
func (s target) dsn(database, login string) string {
	u, q := *s.url, s.url.Query()
	q.Set("database", database)
	u.RawQuery = q.Encode()
	if login != "" {
		u.User = url.UserPassword(login, loginPassword)
	}
	return u.String()
}

// loginPassword is that of the logins that scenarios make; they are dropped at the end of each.
const loginPassword = "Scenario7pass!"

// makeDatabase makes a database with a name of its own and drops it, with the logins named after it, at the end.
func (s target) makeDatabase(t *testing.T) string {
	t.Helper()
	name := "pipectl_scenario_" + strings.ToLower(rand.Text()[:12])
	admin, err := client.Open(s.dsn("master", ""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.ExecContext(t.Context(), "CREATE DATABASE ["+name+"]"); err != nil {
		t.Fatalf("making a database: %v", errors.Join(err, admin.Close()))
	}
	t.Cleanup(func() {
		if err := errors.Join(s.dropDatabase(admin, name), admin.Close()); err != nil {
			t.Errorf("dropping database %s: %v", name, err)
		}
	})
	return name
}

// inUse is the error of a database or a login that somebody still uses.
var inUse = map[int32]bool{3702: true, 15434: true}

func (s target) dropDatabase(admin *sql.DB, name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var before error // is of interest when the database cannot be dropped
	for _, stmt := range s.drop {
		_, err := admin.ExecContext(ctx, fmt.Sprintf(stmt, name))
		before = errors.Join(before, err)
	}
	drop := []string{"DROP DATABASE [" + name + "]"}
	rows, err := admin.QueryContext(ctx, "SELECT name FROM sys.server_principals WHERE name LIKE '"+strings.ReplaceAll(name, "_", "[_]")+"[_]%'")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var login string
		if err := rows.Scan(&login); err != nil {
			return err
		}
		drop = append(drop, "DROP LOGIN ["+login+"]")
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, stmt := range drop {
		for { // until the server has seen that the connections are closed
			_, err := admin.ExecContext(ctx, stmt)
			var e mssql.Error
			if errors.As(err, &e) && inUse[e.Number] && ctx.Err() == nil {
				continue
			}
			if err != nil {
				return fmt.Errorf("%s: %w", stmt, errors.Join(err, before))
			}
			break
		}
	}
	return nil
}
