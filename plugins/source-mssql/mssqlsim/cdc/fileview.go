package cdc

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// file is a file that a database would have on disk: here it has none, and everything lies in memory.
type file struct {
	id         int64
	log        bool
	name, path string
	pages      int64 // of 8 KB
	max        int64 // -1 is until the disk is full
}

// growth is by how many pages a file grows, 64 MB (Microsoft: CREATE DATABASE (Transact-SQL), FILEGROWTH).
const growth = 8192

// maxLog is the size up to which a log may grow, 2 TB (Microsoft: sys.database_files (Transact-SQL), max_size).
const maxLog = 268435456

// files lists the files of a database (Microsoft: master, model, msdb and tempdb databases; CREATE DATABASE (Transact-SQL)). The lock of the
// database need not be held.
func (db *Database) files() []file {
	if kept := db.placed.Load(); kept != nil {
		return *kept
	}
	const dir = "/var/opt/mssql/data/"
	names := map[string][4]string{"tempdb": {"tempdev", "tempdb.mdf", "templog", "templog.ldf"}, "model": {"modeldev", "model.mdf", "modellog", "modellog.ldf"}, "master": {"master", "master.mdf", "mastlog", "mastlog.ldf"}, msdb: {"MSDBData", "MSDBData.mdf", "MSDBLog", "MSDBLog.ldf"}}
	n, ok := names[lower(db.Name)]
	if !ok {
		n = [4]string{db.Name, db.Name + ".mdf", db.Name + "_log", db.Name + "_log.ldf"}
	}
	const pages = newDatabaseKB / 2 / 8
	return []file{{1, false, n[0], dir + n[1], pages, -1}, {2, true, n[2], dir + n[3], pages, maxLog}}
}

// fileColumns are those of sys.database_files and sys.master_files that are not the same for all files.
var fileColumns = []tsql.Column{col("file_id", integer), col("type", tiny), ncol("type_desc", desc60), col("data_space_id", integer), col("name", sysname), ncol("physical_name", sqltype.Str(sqltype.NVarChar, 260)),
	col("size", integer), col("max_size", integer), col("growth", integer)}

func (f *file) row() sqltype.Row {
	kind, desc, space := int64(0), "ROWS", int64(1)
	if f.log {
		kind, desc, space = 1, "LOG", 0
	}
	return sqltype.Row{num(f.id), num(kind), text(desc), num(space), text(f.name), text(f.path), num(f.pages), num(f.max), num(growth)}
}

// databaseFiles is Microsoft: sys.database_files (Transact-SQL).
func databaseFiles(_ *Session, db *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: fileColumns}
	for _, f := range db.files() {
		r.Data = append(r.Data, f.row())
	}
	return r
}

// masterFiles is Microsoft: sys.master_files (Transact-SQL), which shows nothing without one of these permissions.
func masterFiles(s *Session, _ *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: append([]tsql.Column{col("database_id", integer)}, fileColumns...)}
	if !s.serverCan("CREATE ANY DATABASE") && !s.serverCan("ALTER ANY DATABASE") && !s.serverCan("VIEW ANY DEFINITION") {
		return r
	}
	for _, d := range s.srv.inOrder() {
		for _, f := range d.files() {
			r.Data = append(r.Data, append(sqltype.Row{num(int64(d.ID))}, f.row()...))
		}
	}
	return r
}

// dataSpaces is Microsoft: sys.data_spaces (Transact-SQL); all of a database is in PRIMARY.
func dataSpaces(*Session, *Database) *tsql.Rows {
	return &tsql.Rows{Cols: []tsql.Column{col("name", sysname), col("data_space_id", integer), col("type", sqltype.Str(sqltype.Char, 2)), ncol("type_desc", desc60)},
		Data: []sqltype.Row{{text("PRIMARY"), num(1), text("FG"), text("ROWS_FILEGROUP")}}}
}
