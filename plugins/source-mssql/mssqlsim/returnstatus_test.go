package mssqlsim

import (
	"strings"
	"testing"
)

// Microsoft: INF: Interpreting Return Status Values from Stored Procedures (Q96237): 10 less the severity of the error; a RETURN with a
// value says otherwise (stackoverflow.com/questions/7001184, of SQL Server 2008 R2, also of RAISERROR).
func TestStatusOfAProcedureWithAnError(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	for name, body := range map[string]string{"divides": "SELECT 1/0; RETURN", "falls": "SELECT 1/0", "raises": "RAISERROR('x', 11, 1)", "tells": "RAISERROR('x', 10, 1)",
		"says": "SELECT 1/0; RETURN 3", "zero": "SELECT 1/0; RETURN 0", "fine": "SELECT 1"} {
		exec(t, conn, "CREATE PROCEDURE dbo."+name+" AS "+body)
	}
	exec(t, conn, "CREATE TABLE dbo.states (p varchar(20), s int)")
	for _, name := range []string{"divides", "falls", "raises", "tells", "says", "zero", "fine"} {
		_, _ = conn.ExecContext(t.Context(), "DECLARE @r int = 99; EXEC @r = dbo."+name+"; INSERT dbo.states VALUES ('"+name+"', @r)")
	}
	answers(t, conn, []documented{{"states", "SELECT p, s FROM dbo.states ORDER BY p", "divides|-6;falls|-6;fine|0;raises|-1;says|3;tells|0;zero|0"}})
}

// Microsoft: RADIANS (Transact-SQL), example; Microsoft: Variables (Transact-SQL), the warning of several assignments; Microsoft: Set
// Operators - UNION: all rows are compared with each other before one is given.
func TestSmallThingsOfValues(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	answers(t, conn, []documented{
		{"RADIANS of next to nothing", "SELECT RADIANS(1e-307), RADIANS(-45.01e0)", "0|-0.7855726963226477"},
		{"assigned and used", "DECLARE @a int = 1, @b int = 1; SELECT @a = @b + 1, @b = @a", "refused: mssqlsim does not understand a SELECT that assigns @a and then uses it in another assignment"},
		{"assigned twice", "DECLARE @a int = 1; SELECT @a = 2, @a = @a + 1", "refused: mssqlsim does not understand a SELECT that assigns @a and then uses it in another assignment"},
		{"assigned from itself", "DECLARE @a int = 1, @b int = 5; SELECT @a = @a + x, @b = @b + x FROM (VALUES (1), (2)) v(x); SELECT @a, @b", "4|8"},
	})
	if _, err := tryQuery(conn, "SELECT @@version_x"); err == nil || !strings.Contains(err.Error(), `"@@version_x"`) {
		t.Errorf("%v, want the name as it was written", err)
	}
	rows, err := conn.QueryContext(t.Context(), "SELECT 1 UNION SELECT 'a'")
	if err == nil {
		defer func() { _ = rows.Close() }()
		if rows.Next() {
			t.Error("UNION gave a row before its error")
		}
		err = rows.Err()
	}
	if err == nil || !strings.Contains(err.Error(), "Conversion failed") {
		t.Errorf("%v, want 245", err)
	}
}
