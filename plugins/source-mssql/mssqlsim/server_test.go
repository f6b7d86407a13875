package mssqlsim

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	mssql "github.com/microsoft/go-mssqldb"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/client"
)

// The tests of this package share one server; each makes a database of its own.
var (
	testServer *Server
	testClock  = NewManualClock(time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC))
)

func TestMain(m *testing.M) {
	ctx, cancel := context.WithCancel(context.Background())
	var err error
	if testServer, err = Start(ctx, Options{Clock: testClock}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	testServer.Close()
	cancel()
	os.Exit(code)
}

// open connects to a database of the shared server.
func open(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	db, err := client.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// newDatabase makes a captured database and a connection to it. Its name is the test's.
func newDatabase(t testing.TB) (*Database, *sql.DB) {
	t.Helper()
	name := strings.NewReplacer("/", "_", " ", "_", "#", "_").Replace(t.Name())
	db := testServer.Database(name)
	must(t, db.EnableCDC())
	return db, open(t, testServer.DSN(name))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// orders makes dbo.orders with two columns, captured.
func orders(t testing.TB, db *Database) {
	t.Helper()
	must(t, db.CreateTable(Table{Name: "dbo.orders", Key: []string{"id"}, Columns: []Column{
		{Name: "id", Type: "int"}, {Name: "note", Type: "nvarchar(40)", Nullable: true}, {Name: "amount", Type: "decimal(18,4)", Nullable: true}}}))
	must(t, db.EnableTable("dbo.orders", Capture{}))
}

func tx(t testing.TB, db *Database, fn func(*Tx) error) LSN {
	t.Helper()
	lsn, err := db.Tx(context.Background(), fn)
	if err != nil {
		t.Fatal(err)
	}
	return lsn
}

// query gives all rows of a statement as text, values separated by "|".
func query(t testing.TB, db *sql.DB, stmt string, args ...any) []string {
	t.Helper()
	out, err := tryQuery(db, stmt, args...)
	if err != nil {
		t.Fatalf("%s: %v", stmt, err)
	}
	return out
}

func tryQuery(db *sql.DB, stmt string, args ...any) ([]string, error) {
	rows, err := db.Query(stmt, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	cols, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var out []string
	for rows.Next() {
		vals := make([]any, len(cols))
		ptrs := make([]any, len(cols))
		for i := range vals {
			ptrs[i] = &vals[i]
		}
		if err := rows.Scan(ptrs...); err != nil {
			return nil, err
		}
		var parts []string
		for _, v := range vals {
			parts = append(parts, show(v))
		}
		out = append(out, strings.Join(parts, "|"))
	}
	return out, rows.Err()
}

func show(v any) string {
	switch x := v.(type) {
	case nil:
		return "NULL"
	case []byte:
		for _, c := range x {
			if c < '-' || c > '9' || c == '/' {
				return fmt.Sprintf("0x%X", x)
			}
		}
		return string(x) // decimals arrive as text
	case time.Time:
		return x.Format("2006-01-02 15:04:05.9999999 -07:00")
	}
	return fmt.Sprint(v)
}

func equal(t testing.TB, got, want []string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// wantError checks the number of an error and that its text holds a part.
func wantError(t testing.TB, err error, number int32, part string) {
	t.Helper()
	var e mssql.Error
	if !errors.As(err, &e) || e.Number != number || !strings.Contains(e.Message, part) {
		t.Errorf("got %v, want error %d with %q", err, number, part)
	}
}

const readChanges = `SELECT CONVERT(varchar(22), c.[__$start_lsn], 1) AS _start_lsn, CONVERT(varchar(22), c.[__$seqval], 1) AS _seqval, c.[__$operation] AS _operation,
       c.[__$command_id] AS _command_id, CONVERT(datetime2(3), DATEADD(minute, -(60), m.tran_end_time)) AS _commit_ts, c.[id], c.[note], c.[amount]
FROM cdc.[dbo_orders_CT] AS c
JOIN cdc.lsn_time_mapping AS m ON m.start_lsn = c.[__$start_lsn]
WHERE c.[__$start_lsn] BETWEEN CONVERT(binary(10), @p1, 1) AND CONVERT(binary(10), @p2, 1)
ORDER BY c.[__$start_lsn], c.[__$command_id], c.[__$seqval], c.[__$operation]`

func TestChangesOfTransaction(t *testing.T) {
	t.Parallel()
	db, conn := newDatabase(t)
	orders(t, db)
	first := tx(t, db, func(x *Tx) error { return x.Insert("dbo.orders", 1, "Zürich 🙂", "12.5") })
	second := tx(t, db, func(x *Tx) error {
		return errors.Join(
			x.Insert("dbo.orders", 2, nil, nil),
			x.Update("dbo.orders", map[string]any{"note": "new"}, 1),
			x.Update("dbo.orders", map[string]any{"id": 3}, 2),
			x.Delete("dbo.orders", 1))
	})
	f, s := first.String(), second.String()
	at := "|2026-03-01 07:00:00 +00:00|"
	seq := func(l LSN, n int64) string { return l.Add(n).String() }
	equal(t, query(t, conn, readChanges, f, s), []string{
		f + "|" + seq(first, 1) + "|2|1" + at + "1|Zürich 🙂|12.5000",
		s + "|" + seq(second, 1) + "|2|1" + at + "2|NULL|NULL",
		s + "|" + seq(second, 2) + "|3|2" + at + "1|Zürich 🙂|12.5000",
		s + "|" + seq(second, 2) + "|4|2" + at + "1|new|12.5000",
		s + "|" + seq(second, 4) + "|1|4" + at + "2|NULL|NULL",
		s + "|" + seq(second, 4) + "|2|5" + at + "3|NULL|NULL",
		s + "|" + seq(second, 6) + "|1|6" + at + "1|new|12.5000",
	})
	equal(t, query(t, conn, "SELECT * FROM dbo.orders"), []string{"3|NULL|NULL"})
}
