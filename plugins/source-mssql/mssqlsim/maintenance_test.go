package mssqlsim

import "testing"

// Microsoft: CHECKPOINT (Transact-SQL); UPDATE STATISTICS (Transact-SQL); ALTER INDEX (Transact-SQL), REBUILD and REORGANIZE;
// Database engine events and errors, 1088, 2706 and 2727.
func TestStatementsThatPutStorageInOrder(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	exec(t, conn, "CREATE TABLE dbo.t (id int NOT NULL CONSTRAINT PK_t PRIMARY KEY, n int NULL); CREATE INDEX ix ON dbo.t (n); INSERT dbo.t VALUES (1, 2)")
	const rows = "; SELECT * FROM dbo.t"
	answers(t, conn, []documented{
		{"CHECKPOINT", "CHECKPOINT" + rows, "1|2"},
		{"of a duration", "CHECKPOINT 10" + rows, "1|2"},
		{"of none", "CHECKPOINT 0", "refused: mssqlsim does not understand CHECKPOINT of a duration that is not above zero"},
		{"statistics of a table", "UPDATE STATISTICS dbo.t" + rows, "1|2"},
		{"of an index", "UPDATE STATISTICS dbo.t PK_t WITH FULLSCAN" + rows, "1|2"},
		{"of several", "UPDATE STATISTICS dbo.t (PK_t, ix)" + rows, "1|2"},
		{"of no index", "UPDATE STATISTICS dbo.t (nothing)", "refused: mssqlsim does not understand UPDATE STATISTICS of what is no index"},
		{"of no table", "UPDATE STATISTICS dbo.nothing", "error 2706"},
		{"an index is rebuilt", "ALTER INDEX ix ON dbo.t REBUILD" + rows, "1|2"},
		{"that of the key", "ALTER INDEX PK_t ON dbo.t REBUILD WITH (FILLFACTOR = 80, ONLINE = ON, DATA_COMPRESSION = PAGE)" + rows, "1|2"},
		{"all", "ALTER INDEX ALL ON dbo.t REBUILD" + rows, "1|2"},
		{"reorganized", "ALTER INDEX ALL ON dbo.t REORGANIZE WITH (LOB_COMPACTION = ON)" + rows, "1|2"},
		{"one that there is not", "ALTER INDEX nothing ON dbo.t REBUILD", "error 2727"},
		{"of no table", "ALTER INDEX ix ON dbo.nothing REBUILD", "error 1088"},
		{"an option that changes what it does", "ALTER INDEX ix ON dbo.t REBUILD WITH (IGNORE_DUP_KEY = ON)", "refused: mssqlsim does not understand the index option IGNORE_DUP_KEY = ON"},
		{"switched off", "ALTER INDEX ix ON dbo.t DISABLE", "refused: mssqlsim does not understand ALTER INDEX ... DISABLE"},
	})
}
