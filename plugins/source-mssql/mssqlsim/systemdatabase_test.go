package mssqlsim

import "testing"

// Microsoft: Back up and restore of system databases: master and msdb have the simple recovery model.
func TestSystemDatabasesAreOfSimpleRecovery(t *testing.T) {
	t.Parallel()
	_, conn := newDatabase(t)
	equal(t, query(t, conn, "SELECT name, recovery_model_desc FROM sys.databases WHERE database_id IN (1, 4) ORDER BY database_id"), []string{"master|SIMPLE", "msdb|SIMPLE"})
	equal(t, query(t, conn, "SELECT recovery_model_desc FROM sys.databases WHERE name = DB_NAME()"), []string{"FULL"})
}
