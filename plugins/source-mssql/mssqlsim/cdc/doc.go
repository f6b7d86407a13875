// Package cdc models SQL Server databases with change data capture: tables of immutable versions, transactions with a
// commit log, the capture process, change tables, their cleanup, and the catalog, functions and procedures through
// which clients see them.
//
// It must not know T-SQL's syntax or the wire: tsql reads it through the interfaces of that package.
//
// Where to begin: server.go has the server and its databases, database.go the commit log, table.go, tree.go and index.go
// tables and their versions, tx.go and readlock.go transactions and locks, session.go what a client is connected to.
// instance.go, capture.go and scan.go are capture; changetable.go and changefunction.go what it leaves to be read; job.go
// and cleanup.go its jobs. Files named ...view.go are catalog views, whose
// columns views.txt lists, documented.txt what a server has besides, ...procedure.go procedures, and access.go,
// permission.go and principal.go who may do what.
package cdc
