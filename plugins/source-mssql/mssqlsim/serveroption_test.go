package mssqlsim

import (
	"fmt"
	"strings"
	"testing"
)

// Microsoft: Configure the max text repl size (server configuration option); sp_configure (Transact-SQL); RECONFIGURE
// (Transact-SQL): the limit of large values in captured columns, which a statement puts in.
func TestMaxTextReplSize(t *testing.T) {
	t.Parallel()
	s, err := Start(t.Context(), Options{})
	must(t, err)
	t.Cleanup(s.Close)
	db := s.Database("shop")
	must(t, db.EnableCDC())
	conn := open(t, s.DSN("shop"))
	exec(t, conn, `CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, a nvarchar(max), b varbinary(max), plain varchar(max));
		EXEC sys.sp_cdc_enable_table N'dbo', N't', @role_name = NULL, @captured_column_list = N'id, a, b'`)
	insert := func(id int, column string, n int) error {
		_, err := conn.Exec(fmt.Sprintf("INSERT INTO dbo.t (id, %s) VALUES (%d, CAST(REPLICATE(CAST('x' AS varchar(max)), %d) AS %s))", column, id, n,
			map[string]string{"a": "nvarchar(max)", "b": "varbinary(max)", "plain": "varchar(max)"}[column]))
		return err
	}
	must(t, insert(1, "a", 32768)) // two bytes each
	wantError(t, insert(2, "a", 32769), 7139, "(65538)")
	must(t, insert(3, "b", 65536))
	wantError(t, insert(4, "b", 65537), 7139, "maximum 65536")
	must(t, insert(5, "plain", 70000)) // not captured
	exec(t, conn, "UPDATE dbo.t SET b = 0x01 WHERE id = 5")
	_, err = conn.Exec("UPDATE dbo.t SET a = REPLICATE(CAST('x' AS varchar(max)), 40000) WHERE id = 5")
	wantError(t, err, 7139, "")

	option := "EXEC sp_configure 'max text repl size'"
	equal(t, query(t, conn, option), []string{"max text repl size (B)|-1|2147483647|65536|65536"})
	exec(t, conn, option+", -1")
	equal(t, query(t, conn, option), []string{"max text repl size (B)|-1|2147483647|-1|65536"})
	wantError(t, insert(6, "b", 65537), 7139, "")
	exec(t, conn, "RECONFIGURE")
	must(t, insert(6, "b", 65537))
	equal(t, query(t, conn, "SELECT CAST(value AS int), CAST(value_in_use AS int) FROM sys.configurations WHERE name = 'max text repl size (B)'"), []string{"-1|-1"})
	exec(t, conn, "UPDATE dbo.t SET plain = 'y' WHERE id = 6") // a value that stays is not put in
	equal(t, query(t, conn, "SELECT DATALENGTH(b) FROM cdc.dbo_t_CT WHERE [__$operation] = 2 AND id = 6"), []string{"65537"})

	for _, tc := range []struct {
		sql    string
		number int32
		part   string
	}{
		{option + ", -2", 15129, "'-2'"},
		{"EXEC sp_configure 'no such option'", 15123, "no such option"},
		{"EXEC sp_configure 'user'", 15123, "'user'"}, // two have it in their names
		{"EXEC sp_configure 'clr enabled', 1", 50001, "clr enabled"},
	} {
		_, err := conn.Exec(tc.sql)
		wantError(t, err, tc.number, tc.part)
	}
	if rows := strings.Join(query(t, conn, "EXEC sp_configure"), "\n"); !strings.Contains(rows, "clr enabled") || strings.Contains(rows, "locks") {
		t.Errorf("the options are %s", rows)
	}
	s.AddLogin("plain", "Plain7secret!")
	least := open(t, s.UserDSN("plain", "Plain7secret!", "shop"))
	_, err = least.Exec(option + ", 1")
	wantError(t, err, 15247, "permission")
	_, err = least.Exec("RECONFIGURE")
	wantError(t, err, 5812, "RECONFIGURE")
}
