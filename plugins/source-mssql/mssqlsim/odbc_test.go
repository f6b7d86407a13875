package mssqlsim

import "testing"

// JDBC and ODBC drivers take the types of columns from here, and programs over them, such as Debezium, believe them.
func TestSpColumnsGivesODBCNumbersOfDatesAndTimes(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	if _, err := conn.Exec("CREATE TABLE dbo.times (d date, t0 time(0), t7 time(7), old datetime, small smalldatetime, d0 datetime2(0), d6 datetime2(6), o7 datetimeoffset(7), n int)"); err != nil {
		t.Fatal(err)
	}
	const columns = `DECLARE @c TABLE (q sysname, o sysname, t sysname, name sysname, DATA_TYPE smallint, TYPE_NAME sysname, PRECISION int, LENGTH int, SCALE smallint, RADIX smallint,
NULLABLE smallint, REMARKS varchar(254), COLUMN_DEF nvarchar(4000), SQL_DATA_TYPE smallint, SQL_DATETIME_SUB smallint, CHAR_OCTET_LENGTH int, ORDINAL_POSITION int, IS_NULLABLE varchar(254)`
	const tail = `SELECT name, DATA_TYPE, PRECISION, LENGTH, SCALE, SQL_DATA_TYPE, SQL_DATETIME_SUB FROM @c ORDER BY ORDINAL_POSITION`
	const ss = `, s1 smallint, s2 smallint, s3 smallint, s4 smallint, u1 sysname NULL, u2 sysname NULL, u3 sysname NULL, x1 sysname NULL, x2 sysname NULL, x3 sysname NULL`
	for _, tc := range []struct {
		call string
		want []string
	}{
		// Microsoft: Catalog Metadata (ODBC date and time improvements), SQLColumns.
		{columns + ss + ", ss tinyint); INSERT INTO @c EXEC sp_columns_100 @table_name = N'times', @ODBCVer = 3; " + tail, []string{
			"d|91|10|6|0|9|1", "t0|-154|8|10|0|-154|NULL", "t7|-154|16|10|7|-154|NULL", "old|93|23|16|3|9|3", "small|93|16|16|0|9|3", "d0|93|19|16|0|9|3",
			"d6|93|26|16|6|9|3", "o7|-155|34|20|7|-155|NULL", "n|4|10|4|0|4|NULL"}},
		// Clients of before SQL Server 2008 get its types as text; ODBC 2 has another number for datetime.
		{columns + ", ss tinyint); INSERT INTO @c EXEC sp_columns @table_name = N'times'; " + tail, []string{
			"d|-9|10|20|0|-9|NULL", "t0|-9|8|16|0|-9|NULL", "t7|-9|16|32|7|-9|NULL", "old|11|23|16|3|9|3", "small|11|16|16|0|9|3", "d0|-9|19|38|0|-9|NULL",
			"d6|-9|26|52|6|-9|NULL", "o7|-9|34|68|7|-9|NULL", "n|4|10|4|0|4|NULL"}},
	} {
		equal(t, query(t, conn, tc.call), tc.want)
	}
}
