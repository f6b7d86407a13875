package mssqlsim

import (
	"database/sql"
	"errors"
	"reflect"
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
)

// Microsoft: CREATE PROCEDURE (Transact-SQL), EXECUTE (Transact-SQL).
func TestProceduresOfUsers(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	runBatches(t, conn,
		"CREATE TABLE dbo.kept (n int NOT NULL PRIMARY KEY)",
		"CREATE PROCEDURE dbo.twice @n int, @out int = 5 OUTPUT, @word varchar(5) = 'none' AS BEGIN SET @out = @out + 2 * @n; SELECT @word AS w; RETURN @n + 1 END",
		"CREATE PROC dbo.keep @n int AS SET NOCOUNT ON; INSERT INTO dbo.kept VALUES (@n); IF @n > 2 RETURN; INSERT INTO dbo.kept VALUES (@n + 100)",
		"CREATE PROCEDURE later AS SELECT n FROM dbo.not_yet",
		"CREATE PROCEDURE dbo.open_one AS BEGIN TRANSACTION",
		"CREATE PROCEDURE dbo.again @n int AS IF @n > 0 BEGIN SET @n = @n - 1; EXEC dbo.again @n END ELSE SELECT 1 AS n",
	)
	for _, tc := range []struct {
		batch string
		want  []string
	}{
		{"DECLARE @r int, @o int = 1; EXEC @r = dbo.twice 10, @o OUTPUT; SELECT @r, @o", []string{"none", "11|21"}},
		{"DECLARE @r int, @o int = 1; EXEC @r = twice @word = 'long word', @n = 3, @out = @o; SELECT @r, @o", []string{"long ", "4|1"}},
		{"DECLARE @o int; EXEC dbo.twice 1, DEFAULT, 'x'", []string{"x"}},
		{"EXEC dbo.keep 1; EXEC dbo.keep 7; SELECT n FROM dbo.kept ORDER BY n", []string{"1", "7", "101"}},
		{"CREATE TABLE dbo.not_yet (n int); INSERT INTO dbo.not_yet VALUES (9); EXEC later", []string{"9"}},
	} {
		equal(t, queryAll(t, conn, tc.batch), tc.want)
	}
	for _, tc := range []struct {
		batch  string
		number int32
	}{
		{"EXEC dbo.twice", 201},
		{"EXEC dbo.twice 1, 2, 'x', 4", 8144},
		{"EXEC dbo.twice @m = 1", 8145},
		{"EXEC dbo.twice 1, @n = 2", 8143},
		{"DECLARE @o nothing", 2715},
		{"DECLARE @o int; EXEC dbo.twice @o OUTPUT", 8162},
		{"EXEC dbo.twice 1, 2 OUTPUT", 179},
		{"EXEC dbo.twice 'word'", 8114},
		{"CREATE PROCEDURE dbo.twice AS SELECT 1", 2714},
		{"CREATE PROCEDURE dbo.kept AS SELECT 1", 2714},
		{"CREATE PROCEDURE nowhere.p AS SELECT 1", 2760},
		{"SELECT 1; CREATE PROCEDURE dbo.p AS SELECT 1", 111},
		{"ALTER PROCEDURE dbo.p AS SELECT 1", 208},
		{"DROP PROCEDURE dbo.p", 3701},
		{"EXEC dbo.p", 2812},
		{"RETURN 1", 178},
		{"EXEC dbo.open_one; ROLLBACK", 266},
		{"EXEC dbo.again 40", 217},
		{"CREATE PROCEDURE dbo.p @t dbo.ids READONLY AS SELECT 1", 50001},
		{"BEGIN TRANSACTION; EXEC('CREATE PROCEDURE dbo.p AS SELECT 1')", 50001},
		{"DECLARE @t TABLE (w varchar(5)); INSERT INTO @t EXEC dbo.twice 1", 50001},
	} {
		_, err := conn.ExecContext(t.Context(), tc.batch)
		var e mssql.Error
		if !errors.As(err, &e) || e.Number != tc.number {
			t.Errorf("%s: %v, want error %d", tc.batch, err, tc.number)
		}
		runBatches(t, conn, "IF @@TRANCOUNT > 0 ROLLBACK")
	}
}

func TestProceduresAreChangedAndDropped(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	runBatches(t, conn, "CREATE OR ALTER PROCEDURE dbo.p AS SELECT 1")
	equal(t, queryAll(t, conn, "EXEC p"), []string{"1"})
	runBatches(t, conn, "ALTER PROCEDURE dbo.p AS SELECT 2")
	equal(t, queryAll(t, conn, "EXEC p"), []string{"2"})
	runBatches(t, conn, "CREATE OR ALTER PROCEDURE dbo.p AS SELECT 3")
	equal(t, queryAll(t, conn, "EXEC p"), []string{"3"})
	runBatches(t, conn, "DROP PROCEDURE IF EXISTS dbo.p, dbo.q")
	if _, err := conn.Exec("EXEC dbo.p"); err == nil {
		t.Error("it is still there")
	}
}

// SET NOCOUNT in a procedure ends with it; the statements of one count otherwise.
func TestSettingsOfAProcedureEndWithIt(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	runBatches(t, conn, "CREATE TABLE dbo.t (n int)", "CREATE PROCEDURE dbo.quiet AS SET NOCOUNT ON; INSERT INTO dbo.t VALUES (1), (2)")
	done, err := conn.Exec("EXEC dbo.quiet; INSERT INTO dbo.t VALUES (3), (4), (5)")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := done.RowsAffected(); err != nil || n != 3 {
		t.Errorf("%d rows, %v", n, err)
	}
}

func TestProceduresByCall(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	runBatches(t, conn, "CREATE PROCEDURE dbo.add_up @a int = 1, @b decimal(9, 2) = 2 OUTPUT, @c varchar(max) = NULL OUTPUT AS SET @b = @a + @b; SET @c = REPLICATE(CAST('x' AS varchar(max)), 9000); RETURN -7")
	var status mssql.ReturnStatus
	var b, c string
	if _, err := conn.ExecContext(t.Context(), "dbo.add_up", &status, sql.Named("a", 40), sql.Named("c", sql.Out{Dest: &c}), sql.Named("b", sql.Out{Dest: &b, In: true})); err == nil {
		t.Errorf("an empty text became a decimal") // b is ''
	}
	b = "2.25"
	if _, err := conn.ExecContext(t.Context(), "dbo.add_up", &status, sql.Named("a", 40), sql.Named("c", sql.Out{Dest: &c}), sql.Named("b", sql.Out{Dest: &b, In: true})); err != nil {
		t.Fatal(err)
	}
	if status != -7 || b != "42.25" || len(c) != 9000 {
		t.Errorf("status %d, b %s, c of %d characters", status, b, len(c))
	}
}

// Microsoft: [MS-TDS] RETURNVALUE; what the driver's TestOutputParamWithRows asks of a server.
func TestOutputParametersComeInTheTypeOfTheCall(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	runBatches(t, conn, "CREATE PROCEDURE dbo.give @bit bit = NULL OUTPUT, @money money = NULL OUTPUT, @date date = NULL OUTPUT, @name varchar(20) = NULL OUTPUT AS "+
		"SELECT @bit = 1, @money = 2.5, @date = '2026-02-03', @name = 'x'; SELECT 'a row'")
	for _, tc := range []struct {
		name, param string
		dest, want  any
	}{
		{"a number from a bit", "bit", new(int64(5)), int64(1)},
		{"a text from a bit", "bit", new(""), "1"},
		{"a float from money", "money", new(float64(0)), 2.5},
		{"a text from a date", "date", new(""), "2026-02-03"},
		{"a text from a text", "name", new("longer than its answer"), "x"},
		{"what has no value", "bit", &sql.NullBool{}, sql.NullBool{Bool: true, Valid: true}},
	} {
		equal(t, query(t, conn, "dbo.give", sql.Named(tc.param, sql.Out{Dest: tc.dest})), []string{"a row"})
		if got := reflect.ValueOf(tc.dest).Elem().Interface(); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
	var n int64
	if _, err := conn.ExecContext(t.Context(), "dbo.give", sql.Named("name", sql.Out{Dest: &n})); number(err) != "8114" {
		t.Errorf("a text that is no number: %v, want error 8114", err)
	}
}

func TestTemporaryProceduresAreOfTheirSession(t *testing.T) {
	t.Parallel()
	_, pool := newDatabase(t)
	one, err := pool.Conn(t.Context())
	must(t, err)
	defer one.Close()
	other, err := pool.Conn(t.Context())
	must(t, err)
	defer other.Close()
	_, err = one.ExecContext(t.Context(), "CREATE PROC #answer AS RETURN 42")
	must(t, err)
	var status mssql.ReturnStatus
	_, err = one.ExecContext(t.Context(), "#answer", &status)
	must(t, err)
	if status != 42 {
		t.Errorf("status %d", status)
	}
	if _, err := other.ExecContext(t.Context(), "EXEC #answer"); err == nil {
		t.Error("another session knows it")
	}
}

// queryAll gives the rows of all results.
func queryAll(t testing.TB, conn *sql.DB, batch string) (all []string) {
	t.Helper()
	rows, err := conn.QueryContext(t.Context(), batch)
	if err != nil {
		t.Fatalf("%s: %v", batch, err)
	}
	defer func() { _ = rows.Close() }()
	for more := true; more; more = rows.NextResultSet() {
		columns, err := rows.Columns()
		must(t, err)
		values := make([]any, len(columns))
		places := make([]any, len(columns))
		for i := range values {
			places[i] = &values[i]
		}
		for rows.Next() {
			must(t, rows.Scan(places...))
			var parts []string
			for _, v := range values {
				parts = append(parts, show(v))
			}
			all = append(all, strings.Join(parts, "|"))
		}
	}
	must(t, rows.Err())
	return all
}

// runBatches runs each by itself.
func runBatches(t testing.TB, conn *sql.DB, all ...string) {
	t.Helper()
	for _, b := range all {
		if _, err := conn.ExecContext(t.Context(), b); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
	}
}
