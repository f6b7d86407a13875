// Package mssqlsim is a SQL Server for tests and demonstrations: it listens on a port, speaks the wire protocol, runs
// T-SQL, and does change data capture, so that real drivers and their errors are exercised without a server.
//
// A test starts one, makes a database, captures a table, and connects with any client:
//
//	server, err := mssqlsim.Start(ctx, mssqlsim.Options{})
//	defer server.Close()
//	db := server.Database("shop")
//	err = db.CreateTable(mssqlsim.Table{Name: "dbo.orders", Key: []string{"id"}, Columns: []mssqlsim.Column{
//		{Name: "id", Type: "int"}, {Name: "note", Type: "nvarchar(40)", Nullable: true}}})
//	err = db.EnableCDC()
//	err = db.EnableTable("dbo.orders", mssqlsim.Capture{})
//	lsn, err := db.Tx(ctx, func(tx *mssqlsim.Tx) error { return tx.Insert("dbo.orders", 1, "first") })
//	conn, err := sql.Open("sqlserver", server.DSN("shop"))
//
// What happens to those who read is the test's choice: Freeze, Resume and SetCaptureLag hold capture back, CommitBeforeRead
// puts a commit between a reader's stamp and its read, Inject makes statements and logins fail by pattern and count,
// DropConnections is a failover, a ManualClock moves daylight saving and retention along, and Restore, or BACKUP and
// RESTORE, take LSNs back.
//
// It fails closed: what it does not understand is an error with number 50001 that names it. What it knows of SQL
// Server comes from Microsoft's documentation and from observations of SQL Server 2022 noted where they are used; it was
// never compared with a real server run by run, so facts that matter deserve a test that takes a DSN.
//
// The package must not know the pipeline that reads from it. Its parts: tds is the wire, sqltype types and values, tsql
// the language, cdc databases and capture, workload and history two ways to fill them.
package mssqlsim
