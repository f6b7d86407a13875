package cdc

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// exactly compares a name with an argument in which nothing is a pattern; none is any.
func exactly(v sqltype.Value, name string) bool {
	return v.IsNull() || sqltype.EqualName(v.Str(), name)
}

// spKeys is Microsoft: sp_pkeys (Transact-SQL).
func spKeys(s *Session, db *Database, a args) (*tsql.Rows, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	r := &tsql.Rows{Cols: []tsql.Column{ncol("TABLE_QUALIFIER", sysname), ncol("TABLE_OWNER", sysname), ncol("TABLE_NAME", sysname), ncol("COLUMN_NAME", sysname), col("KEY_SEQ", small), ncol("PK_NAME", sysname)}}
	for _, o := range s.objects(db) {
		if o.in != nil || !exactly(a["@table_owner"], o.schema) || !exactly(a["@table_name"], o.name) {
			continue
		}
		for i, id := range o.table.key {
			r.Data = append(r.Data, sqltype.Row{text(db.Name), text(o.schema), text(o.name), text(o.table.byID(id).Name), num(int64(i + 1)), text(o.table.KeyName)})
		}
	}
	return r, nil
}

// The values of TYPE in sp_statistics.
const (
	statTable     = 0
	statClustered = 1
	statOther     = 3
)

// spStatistics is Microsoft: sp_statistics (Transact-SQL): the table's own row, then the columns of its indexes, unique
// and clustered ones first.
func spStatistics(s *Session, db *Database, a args) (*tsql.Rows, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	r := &tsql.Rows{Cols: []tsql.Column{ncol("TABLE_QUALIFIER", sysname), ncol("TABLE_OWNER", sysname), ncol("TABLE_NAME", sysname), ncol("NON_UNIQUE", small), ncol("INDEX_QUALIFIER", sysname), ncol("INDEX_NAME", sysname),
		col("TYPE", small), ncol("SEQ_IN_INDEX", small), ncol("COLUMN_NAME", sysname), ncol("COLLATION", sqltype.Str(sqltype.Char, 1)), ncol("CARDINALITY", integer), ncol("PAGES", integer), ncol("FILTER_CONDITION", sqltype.Str(sqltype.VarChar, 128))}}
	for _, o := range s.objects(db) {
		if o.in != nil || !exactly(a["@table_owner"], o.schema) || !exactly(a["@table_name"], o.name) {
			continue
		}
		rows, pages := num(o.count()), num(o.count()/50+1)
		if a["@index_name"].IsNull() || a.str("@index_name") == "%" {
			r.Data = append(r.Data, sqltype.Row{text(db.Name), text(o.schema), text(o.name), null, null, null, num(statTable), null, null, null, rows, pages, null})
		}
		for _, unique := range []bool{true, false} {
			for _, x := range o.storages() {
				if x.id == 0 || x.unique != unique || !unique && a.str("@is_unique") == "Y" || a.str("@index_name") != "%" && !exactly(a["@index_name"], x.name) {
					continue
				}
				typ, different := num(statOther), null
				if x.clustered {
					typ = num(statClustered)
				}
				if unique {
					different = rows
				}
				for i, id := range x.cols {
					way := "A"
					if x.desc[i] {
						way = "D"
					}
					r.Data = append(r.Data, sqltype.Row{text(db.Name), text(o.schema), text(o.name), flag01(!unique), text(o.name), text(x.name), typ, num(int64(i + 1)), text(o.table.byID(id).Name), text(way), different, pages, null})
				}
			}
		}
	}
	return r, nil
}
