package mssqlsim

import (
	"strings"
	"testing"
)

// Microsoft: rowversion (Transact-SQL): timestamp needs no name in CREATE TABLE and ALTER TABLE and gives its own.
func TestTimestampNamesItsColumn(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	column := func(table string) string {
		return strings.Replace("; SELECT name, TYPE_NAME(user_type_id), is_nullable FROM sys.columns WHERE object_id = OBJECT_ID('dbo.%') AND name = 'timestamp'", "%", table, 1)
	}
	answers(t, conn, []documented{
		{"behind a column", "CREATE TABLE dbo.a (id int PRIMARY KEY, timestamp)" + column("a"), "timestamp|timestamp|false"},
		{"before all others", "CREATE TABLE dbo.b (TimeStamp, id int)" + column("b"), "timestamp|timestamp|false"},
		{"alone", "CREATE TABLE dbo.c (timestamp)" + column("c"), "timestamp|timestamp|false"},
		{"added", "CREATE TABLE dbo.d (id int); ALTER TABLE dbo.d ADD timestamp" + column("d"), "timestamp|timestamp|false"},
		{"it counts", "INSERT dbo.b (id) VALUES (1), (2); SELECT COUNT(DISTINCT timestamp) FROM dbo.b", "2"},
		{"with a type", "CREATE TABLE dbo.e (timestamp date, id int)" + column("e"), "timestamp|date|true"},
		{"twice", "CREATE TABLE dbo.f (timestamp, timestamp)", "error 2705"},
		{"in brackets", "CREATE TABLE dbo.g (id int, [timestamp])", "refused: mssqlsim does not understand a column [timestamp] without a type"},
		{"rowversion does not", "CREATE TABLE dbo.h (id int, rowversion)", "error 173"},
	})
}
