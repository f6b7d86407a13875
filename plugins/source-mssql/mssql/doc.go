// Package mssql is the source plugin for SQL Server change data capture: it
// finds capture instances and their columns, plans batches of commits, reads
// change tables and source tables into Arrow batches, and says what is wrong
// with a server in words that name the way out.
//
// It only reads. It needs SELECT on the captured columns and on the change
// tables and nothing else, never writes to the database and never creates or
// drops a capture instance. It knows nothing of the tables of a lake, of other
// plugins, or of how frames travel between processes.
//
// The text of every statement is in the package tsql, LSN arithmetic in the
// package lsn. Rows do not pass through database/sql: a read pulls the
// driver's rows into one reused slice and from there into column buffers that a batch of Arrow is made of.
package mssql
