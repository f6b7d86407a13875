package mssql

import (
	"crypto/rand"
	"database/sql"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/client"
)

// guideGrants gives the statements with which the guide makes a login that may read and nothing else, for a login and a
// password of the test's.
func guideGrants(t *testing.T, login, password string) (out []string) {
	t.Helper()
	guide, err := os.ReadFile("../../../docs/guides/sql-server.md")
	must(t, err)
	_, rest, ok := strings.Cut(string(guide), "-- A login that may read, and nothing else\n")
	block, _, _ := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("the guide has no such block any more")
	}
	for line := range strings.Lines(block) {
		statement, _, _ := strings.Cut(line, "--")
		if statement = strings.TrimSpace(statement); statement != "" {
			out = append(out, strings.NewReplacer("cdc_reader", login, "'...'", "'"+password+"'").Replace(statement))
		}
	}
	return out
}

// The login that the guide tells a DBA to make is enough for everything the source does, and each of its statements is
// needed: without it the user is told what is missing. All of it is done by statement, as a DBA does it.
func TestTheLoginOfTheGuide(t *testing.T) {
	t.Parallel()
	const password = "Str0ng!reading"
	reads := func(t *testing.T, s *session) ([]string, error) {
		t.Helper()
		tab := table(nil, written{"partitions": number1})
		r, err := s.Inspect(ctx, plugin.InspectRequest{Tables: []plugin.SourceTable{tab}})
		if err != nil {
			return nil, err
		}
		if err := r.Tables[0].Diagnostics.Err(); err != nil {
			return nil, err
		}
		from := start(t, s, tab, "earliest")
		lines, _ := readRanges(t, s, tab, plan(t, s, tab, from, latest(t, s, tab, from)))
		return short(lines), nil
	}
	for _, tc := range []struct {
		name    string
		without string // what the statement begins with that is left out
		kind    diag.Kind
		code    string
		parts   []string
	}{
		{name: "all"},
		{"without the login", "CREATE LOGIN", diag.KindPermission, codeLogin, nil},
		{"without the user", "CREATE USER", diag.KindPermission, codeDatabase, []string{"has a user in it"}},
		{"without the table", "GRANT SELECT ON dbo.", diag.KindPermission, codeUnknownTable, []string{"GRANT SELECT ON"}},
		{"without the change table", "GRANT SELECT ON cdc.", diag.KindPermission, codeChangeGrant, []string{"GRANT SELECT ON cdc.[dbo_orders_CT] TO"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			db := wireDatabase(t)
			orders(t, db)
			insert(t, db, 1)
			login := "reader_" + strings.ToLower(rand.Text()[:8])
			admin, err := client.Open(dsn(db))
			must(t, err)
			t.Cleanup(func() { must(t, admin.Close()) })
			left := ""
			for _, statement := range guideGrants(t, login, password) {
				if tc.without != "" && strings.HasPrefix(statement, tc.without) {
					left = statement
					continue
				}
				if left != "" && (tc.code == codeLogin || tc.code == codeDatabase) {
					continue // nobody to grant to
				}
				_, err := admin.ExecContext(ctx, statement)
				must(t, err)
			}
			if (left == "") != (tc.without == "") {
				t.Fatalf("the guide has no statement that begins with %s", tc.without)
			}
			// A server may not have seen yet that the last connection is closed; then the login, which can do nothing, stays.
			t.Cleanup(func() { _, _ = admin.Exec("DROP LOGIN " + bracket(login)) })
			u, err := url.Parse(dsn(db))
			must(t, err)
			u.User = url.UserPassword(login, password)
			s := openWith(t, newPlugin(nil, slog.DiscardHandler), u.String(), nil)
			t.Cleanup(func() { _ = s.Close() })
			lines, err := reads(t, s)
			if tc.code != "" {
				wantDiag(t, err, tc.kind, tc.code, tc.parts...)
				if left != "" && strings.HasPrefix(left, "GRANT") {
					_, err := admin.ExecContext(ctx, left)
					must(t, err)
					lines, err = reads(t, s)
					must(t, err)
					equal(t, lines, []string{"2|1|order 1|1.50"})
				}
				return
			}
			must(t, err)
			equal(t, lines, []string{"2|1|order 1|1.50"})
			_, err = sqlAs(t, u.String(), "INSERT INTO dbo.orders (id) VALUES (2)")
			if err == nil || sqlNumber(err) != 229 {
				t.Errorf("the login may write: %v", err)
			}
		})
	}
}

func sqlAs(t *testing.T, dsn, statement string) (sql.Result, error) {
	t.Helper()
	conn, err := client.Open(dsn)
	must(t, err)
	defer func() { must(t, conn.Close()) }()
	return conn.ExecContext(ctx, statement)
}

// A gating role that CDC made, and a member that a DBA adds to it.
func TestAGatingRoleByStatement(t *testing.T) {
	t.Parallel()
	db := wireDatabase(t)
	login := "gated_" + strings.ToLower(rand.Text()[:8])
	for _, statement := range []string{
		"CREATE TABLE dbo.orders (id int NOT NULL PRIMARY KEY)",
		"EXEC sys.sp_cdc_enable_table @source_schema = N'dbo', @source_name = N'orders', @role_name = N'cdc_gate'",
		"CREATE LOGIN " + login + " WITH PASSWORD = 'Str0ng!reading'", "CREATE USER " + login + " FOR LOGIN " + login,
		"GRANT SELECT ON dbo.orders TO " + login, "GRANT SELECT ON cdc.[dbo_orders_CT] TO " + login,
	} {
		must(t, db.Exec(ctx, statement))
	}
	t.Cleanup(func() { _ = db.Exec(ctx, "DROP LOGIN "+login) }) // see above
	u, err := url.Parse(dsn(db))
	must(t, err)
	u.User = url.UserPassword(login, "Str0ng!reading")
	s := openWith(t, newPlugin(nil, slog.DiscardHandler), u.String(), nil)
	t.Cleanup(func() { _ = s.Close() })
	wantDiag(t, inspect(t, s, table()).Tables[0].Diagnostics.Err(), diag.KindConfiguration, codeUnknownInstance, "membership of its gating role")
	must(t, db.Exec(ctx, "ALTER ROLE cdc_gate ADD MEMBER "+login))
	if err := inspect(t, s, table()).Tables[0].Diagnostics.Err(); err != nil {
		t.Error(err)
	}
}
