package cdc

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// The catalog procedures about keys and privileges (Microsoft: Catalog stored procedures (Transact-SQL)).
var keyProcedures = map[string]procedure{
	"sp_fkeys": {[]tsql.Param{may("@pktable_name", sysname), may("@pktable_owner", sysname), may("@pktable_qualifier", sysname), may("@fktable_name", sysname), may("@fktable_owner", sysname),
		may("@fktable_qualifier", sysname)}, spForeignKeys},
	"sp_special_columns":     {specialParams, func(s *Session, db *Database, a args) (*tsql.Rows, error) { return spSpecialColumns(s, db, a, false) }},
	"sp_special_columns_90":  {specialParams, func(s *Session, db *Database, a args) (*tsql.Rows, error) { return spSpecialColumns(s, db, a, false) }},
	"sp_special_columns_100": {specialParams, func(s *Session, db *Database, a args) (*tsql.Rows, error) { return spSpecialColumns(s, db, a, true) }},
	"sp_table_privileges":    {[]tsql.Param{need("@table_name", pattern), may("@table_owner", pattern), may("@table_qualifier", sysname), may("@fUsePattern", bit)}, spTablePrivileges},
	"sp_column_privileges":   {[]tsql.Param{need("@table_name", sysname), may("@table_owner", sysname), may("@table_qualifier", sysname), may("@column_name", pattern)}, spColumnPrivileges},
}

var specialParams = []tsql.Param{need("@table_name", sysname), may("@table_owner", sysname), may("@qualifier", sysname), may("@col_type", sqltype.Str(sqltype.Char, 1)), may("@scope", sqltype.Str(sqltype.Char, 1)),
	may("@nullable", sqltype.Str(sqltype.Char, 1)), may("@ODBCVer", integer)}

// spForeignKeys is Microsoft: sp_fkeys (Transact-SQL).
func spForeignKeys(s *Session, db *Database, a args) (*tsql.Rows, error) {
	if a["@pktable_name"].IsNull() && a["@fktable_name"].IsNull() {
		return nil, sqltype.Errorf(15252, "The primary or foreign key table name must be given.")
	}
	db.mu.RLock()
	defer db.mu.RUnlock()
	r := &tsql.Rows{Cols: []tsql.Column{ncol("PKTABLE_QUALIFIER", sysname), ncol("PKTABLE_OWNER", sysname), col("PKTABLE_NAME", sysname), col("PKCOLUMN_NAME", sysname), ncol("FKTABLE_QUALIFIER", sysname),
		ncol("FKTABLE_OWNER", sysname), col("FKTABLE_NAME", sysname), col("FKCOLUMN_NAME", sysname), col("KEY_SEQ", small), ncol("UPDATE_RULE", small), ncol("DELETE_RULE", small), ncol("FK_NAME", sysname), ncol("PK_NAME", sysname)}}
	rules := map[string]int64{"CASCADE": 0, "NO ACTION": 1, "SET NULL": 2, "SET DEFAULT": 3}
	for _, o := range s.objects(db) {
		if o.in != nil || !exactly(a["@fktable_owner"], o.schema) || !exactly(a["@fktable_name"], o.name) {
			continue
		}
		for _, k := range o.table.foreign {
			if !exactly(a["@pktable_owner"], k.to.Schema) || !exactly(a["@pktable_name"], k.to.Name) {
				continue
			}
			for i, id := range k.cols {
				r.Data = append(r.Data, sqltype.Row{text(db.Name), text(k.to.Schema), text(k.to.Name), text(k.to.byID(k.refs[i]).Name), text(db.Name), text(o.schema), text(o.name), text(o.table.byID(id).Name), num(int64(i + 1)),
					num(rules[k.OnUpdate.String()]), num(rules[k.OnDelete.String()]), text(k.name), text(k.to.indexByID(k.index).name)})
			}
		}
	}
	first := 5 // the owner and the name of the other table
	if a["@pktable_name"].IsNull() {
		first = 1
	}
	sortRows(r.Data, first, first+1, 8)
	return r, nil
}

// sortRows orders rows by texts and numbers of columns.
func sortRows(rows []sqltype.Row, columns ...int) {
	slices.SortStableFunc(rows, func(x, y sqltype.Row) int {
		for _, c := range columns {
			if d := cmp.Or(strings.Compare(lower(x[c].Str()), lower(y[c].Str())), cmp.Compare(x[c].Int(), y[c].Int())); d != 0 {
				return d
			}
		}
		return 0
	})
}

// spSpecialColumns is Microsoft: sp_special_columns (Transact-SQL): the columns that tell rows apart, or with @col_type V the
// one that a change of its row changes.
func spSpecialColumns(s *Session, db *Database, a args, newTypes bool) (*tsql.Rows, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	r := &tsql.Rows{Cols: []tsql.Column{ncol("SCOPE", small), col("COLUMN_NAME", sysname), col("DATA_TYPE", small), col("TYPE_NAME", sysname), col("PRECISION", integer), ncol("LENGTH", integer), ncol("SCALE", small),
		ncol("PSEUDO_COLUMN", small)}}
	kind := strings.ToUpper(strings.TrimSpace(a.str("@col_type")))
	if kind != "" && kind != "R" && kind != "V" {
		return nil, sqltype.Errorf(15251, "Invalid value given for parameter @col_type. Specify a valid parameter value.")
	}
	odbc3 := a["@ODBCVer"].Int() == 3
	for _, o := range s.objects(db) {
		if o.in != nil || !exactly(a["@table_owner"], o.schema) || !exactly(a["@table_name"], o.name) {
			continue
		}
		for _, id := range o.table.special(kind == "V", strings.EqualFold(a.str("@nullable"), "O")) {
			c := o.table.byID(id)
			d := odbcOf(c.Type, odbc3, newTypes)
			r.Data = append(r.Data, sqltype.Row{num(0), text(c.Name), num(d.typ), text(c.typeName()), num(d.prec), num(d.length), d.scale, num(1)})
		}
	}
	return r, nil
}

// special gives the ids of the columns that tell rows apart, or of the rowversion. Those of a key come before those of
// another unique index, which may be NULL unless strict.
func (t *Table) special(version, strict bool) []int {
	if version {
		for _, c := range t.columns {
			if c.Type.Kind == sqltype.RowVersion {
				return []int{c.id}
			}
		}
		return nil
	}
	if t.key != nil {
		return t.key
	}
next:
	for _, x := range t.indexes {
		if !x.unique {
			continue
		}
		for _, id := range x.cols {
			if strict && t.byID(id).Nullable {
				continue next
			}
		}
		return x.cols
	}
	return nil
}

// typeName is the type of a column as drivers see it.
func (c *column) typeName() string {
	if c.Identity {
		return c.Type.Kind.String() + " identity"
	}
	return c.Type.Kind.String()
}

// odbcDescription is a type as the catalog procedures describe it.
type odbcDescription struct {
	typ, prec, length   int64
	scale, radix        sqltype.Value
	dataType, sub, octs sqltype.Value
}

// odbcOf describes a type for clients of ODBC 2 or 3, of which those of before SQL Server 2008 do not know its types.
func odbcOf(t sqltype.Type, odbc3, newTypes bool) (d odbcDescription) {
	d.typ, d.prec, d.length, d.scale, d.radix = odbcType(t)
	d.dataType, d.sub, d.octs = num(d.typ), null, null
	if old := t.Kind == sqltype.DateTime || t.Kind == sqltype.SmallDateTime; t.Class() == sqltype.ClassTime && (old || newTypes) {
		d.typ, d.length, d.dataType, d.sub = odbcTime(t, odbc3)
	}
	if k := t.Class(); k == sqltype.ClassString || k == sqltype.ClassBinary {
		d.octs = num(d.length)
	}
	return d
}

// privilege is one that somebody has.
type privilege struct{ grantor, grantee, name, grantable string }

// privileges lists who has which permissions on a table, or on its column where that is not 0: its owner all of them, with
// the option to grant them, and others what they were granted.
func (s *Session) privileges(db *Database, o *object, column int, names []string) (out []privilege) {
	for _, n := range names {
		out = append(out, privilege{"dbo", "dbo", n, "YES"})
	}
	db.sec.mu.RLock()
	defer db.sec.mu.RUnlock()
	for _, g := range db.sec.perms {
		if g.class != classObject || g.major != o.id || g.minor != 0 && g.minor != column || g.state == 'D' || !slices.Contains(names, g.name) {
			continue
		}
		p := privilege{"dbo", g.grantee.name, g.name, "NO"}
		if g.grantor != nil {
			p.grantor = g.grantor.name
		}
		if g.state == 'W' {
			p.grantable = "YES"
		}
		out = append(out, p)
	}
	return out
}

// spTablePrivileges is Microsoft: sp_table_privileges (Transact-SQL).
func spTablePrivileges(s *Session, db *Database, a args) (*tsql.Rows, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	r := &tsql.Rows{Cols: []tsql.Column{ncol("TABLE_QUALIFIER", sysname), ncol("TABLE_OWNER", sysname), ncol("TABLE_NAME", sysname), ncol("GRANTOR", sysname), ncol("GRANTEE", sysname),
		col("PRIVILEGE", sqltype.Str(sqltype.VarChar, 32)), ncol("IS_GRANTABLE", sqltype.Str(sqltype.VarChar, 3))}}
	for _, o := range s.objects(db) {
		if !a.matching("@table_owner", o.schema) || !a.matching("@table_name", o.name) {
			continue
		}
		for _, p := range s.privileges(db, &o, 0, []string{"DELETE", "INSERT", "REFERENCES", "SELECT", "UPDATE"}) {
			r.Data = append(r.Data, sqltype.Row{text(db.Name), text(o.schema), text(o.name), text(p.grantor), text(p.grantee), text(p.name), text(p.grantable)})
		}
	}
	sortRows(r.Data, 1, 2, 5)
	return r, nil
}

// spColumnPrivileges is Microsoft: sp_column_privileges (Transact-SQL).
func spColumnPrivileges(s *Session, db *Database, a args) (*tsql.Rows, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	r := &tsql.Rows{Cols: []tsql.Column{ncol("TABLE_QUALIFIER", sysname), ncol("TABLE_OWNER", sysname), ncol("TABLE_NAME", sysname), ncol("COLUMN_NAME", sysname), ncol("GRANTOR", sysname), ncol("GRANTEE", sysname),
		col("PRIVILEGE", sqltype.Str(sqltype.VarChar, 32)), ncol("IS_GRANTABLE", sqltype.Str(sqltype.VarChar, 3))}}
	for _, o := range s.objects(db) {
		if !exactly(a["@table_owner"], o.schema) || !exactly(a["@table_name"], o.name) {
			continue
		}
		for _, c := range s.shownColumns(db, &o) {
			if !matches(a["@column_name"], c.Name) {
				continue
			}
			for _, p := range s.privileges(db, &o, c.place, []string{"INSERT", "REFERENCES", "SELECT", "UPDATE"}) {
				r.Data = append(r.Data, sqltype.Row{text(db.Name), text(o.schema), text(o.name), text(c.Name), text(p.grantor), text(p.grantee), text(p.name), text(p.grantable)})
			}
		}
	}
	sortRows(r.Data, 1, 2, 3, 6)
	return r, nil
}
