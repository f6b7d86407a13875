package mssqlsim

import (
	"errors"
	"strings"
	"testing"

	mssql "github.com/microsoft/go-mssqldb"
)

// Microsoft: Database Engine error severities: 20 and more end the connection, and no CATCH sees them.
func TestFatalErrorsEndTheConnection(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	conn.SetMaxOpenConns(1)
	exec(t, conn, "SET LOCK_TIMEOUT 77")
	_, err := conn.ExecContext(t.Context(), "BEGIN TRY RAISERROR('the end', 20, 1) WITH LOG END TRY BEGIN CATCH SELECT 1 END CATCH")
	var gone mssql.ServerError // what the driver makes of it
	if !errors.As(err, &gone) {
		t.Fatalf("%v", err)
	}
	equal(t, query(t, conn, "SELECT @@LOCK_TIMEOUT"), []string{"-1"}) // of another connection
	_, err = conn.ExecContext(t.Context(), "RAISERROR('not logged', 20, 1)")
	var e mssql.Error
	if !errors.As(err, &e) || e.Number != 2754 {
		t.Errorf("without LOG: %v", err)
	}
}

// Microsoft: Collation precedence: a CAST of characters keeps their collation, which decides the code page that is sent.
func TestTextOfOtherCodePages(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	for collation, text := range map[string]string{"Thai_CI_AI": "สวัสดี", "Chinese_Hong_Kong_Stroke_90_CI_AI": "你好", "Polish_CI_AI": "cześć", "Lithuanian_CI_AI": "ačiū", "Latin1_General_CI_AS": "caf\u00e9 ???"} {
		got := query(t, conn, "SELECT CAST(CAST(N'"+strings.ReplaceAll(text, "???", "漢字好")+"' AS nvarchar(max)) COLLATE "+collation+" AS varchar(max))")
		equal(t, got, []string{text})
	}
}

func TestBaseTypesOfVariants(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	equal(t, query(t, conn, `SELECT SQL_VARIANT_PROPERTY(N'x', 'BaseType'), SQL_VARIANT_PROPERTY(CAST(1.5 AS decimal(9, 2)), 'basetype'),
SQL_VARIANT_PROPERTY(CAST(CAST('2026-01-01' AS date) AS sql_variant), 'BaseType'), SQL_VARIANT_PROPERTY(CAST('x' AS varchar(max)), 'BaseType')`), []string{"nvarchar|decimal|date|NULL"})
	if _, err := tryQuery(conn, "SELECT SQL_VARIANT_PROPERTY(1, 'Precision')"); err == nil || !strings.Contains(err.Error(), "Precision") {
		t.Errorf("another property: %v", err)
	}
}

// Microsoft: [MS-TDS] LOGIN7, ibChangePassword.
func TestALoginMayBringANewPassword(t *testing.T) {
	t.Parallel()
	db, admin := newDatabase(t)
	exec(t, admin, "CREATE LOGIN changes_password WITH PASSWORD = 'Before-1234'; CREATE USER changes_password")
	login := func(password, more string) error {
		return open(t, testServer.UserDSN("changes_password", password, db.name)+more).PingContext(t.Context())
	}
	must(t, login("Before-1234", "&change+password=After-5678"))
	if err := login("Before-1234", ""); err == nil {
		t.Error("the old password still opens")
	}
	must(t, login("After-5678", ""))
	if err := login("After-5678", "&change+password=short"); err == nil {
		t.Error("a password against the policy was taken")
	}
}

// Rows in bulk and table-valued parameters are out: each is refused by its name, and the connection goes on within its transaction.
func TestBulkCopyAndTableValuedParametersAreRefusedByName(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY)")
	tx, err := conn.BeginTx(t.Context(), nil)
	must(t, err)
	defer func() { must(t, tx.Rollback()) }()
	type row struct{ ID int }
	for _, tc := range []struct {
		name string
		do   func() error
		part string
	}{
		{"bulk copy", func() error {
			st, err := tx.PrepareContext(t.Context(), mssql.CopyIn("dbo.t", mssql.BulkOptions{}, "id"))
			if err != nil {
				return err
			}
			defer func() { _ = st.Close() }()
			_, err = st.ExecContext(t.Context(), 1)
			return err
		}, "SET FMTONLY ON"},
		{"INSERT BULK", func() error { _, err := tx.ExecContext(t.Context(), "INSERT BULK dbo.t (id int)"); return err }, "the statement INSERT BULK"},
		{"BULK INSERT", func() error { _, err := tx.ExecContext(t.Context(), "BULK INSERT dbo.t FROM 'x'"); return err }, "the statement BULK INSERT"},
		{"a type of tables", func() error {
			_, err := tx.ExecContext(t.Context(), "CREATE TYPE dbo.tt AS TABLE (id int)")
			return err
		}, "the statement CREATE TYPE AS TABLE"},
		{"a table-valued parameter", func() error {
			_, err := tx.ExecContext(t.Context(), "EXEC dbo.p @rows", mssql.TVP{TypeName: "dbo.tt", Value: []row{{1}}})
			return err
		}, "table-valued parameters"},
	} {
		wantError(t, tc.do(), 50001, tc.part)
		var n int
		if err := tx.QueryRowContext(t.Context(), "SELECT COUNT(*) + @@TRANCOUNT FROM dbo.t").Scan(&n); err != nil || n != 1 {
			t.Errorf("%s: the connection behind it: %d, %v", tc.name, n, err)
		}
	}
}
