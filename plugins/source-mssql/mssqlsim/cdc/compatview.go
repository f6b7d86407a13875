package cdc

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// compatViews are the views that were system tables before SQL Server 2005 (Microsoft: System compatibility views
// (Transact-SQL)). Those of a database are found without a schema and in dbo, too.
var compatViews = map[string]view{"sysobjects": compatObjects, "syscolumns": compatColumns, "sysindexes": compatIndexes, "sysdatabases": compatDatabases}

// compatView finds a view by a name without the schema sys, nil when it is no such one's. That of the databases is in master.
func (s *Session) compatView(db *Database, n tsql.Name) tsql.Relation {
	name := lower(n.Object)
	v := compatViews[name]
	if v == nil || n.Schema != "" && !sqltype.EqualName(n.Schema, "dbo") || name == "sysdatabases" && db.Name != "master" {
		return nil
	}
	return s.shape("sys."+name, v(s, db))
}

// compatObjects is Microsoft: sys.sysobjects (Transact-SQL).
func compatObjects(s *Session, db *Database) *tsql.Rows {
	kind := sqltype.Str(sqltype.Char, 2)
	r := &tsql.Rows{Cols: []tsql.Column{col("name", sysname), col("id", integer), col("xtype", kind), ncol("uid", small), col("parent_obj", integer), col("crdate", stamp), col("type", kind), col("refdate", stamp)}}
	for _, p := range s.parts(db) {
		old := p.typ
		if p.index != nil {
			old = "K "
		}
		schema, _ := db.schemaID(p.schema)
		r.Data = append(r.Data, sqltype.Row{text(p.name), num(int64(p.id)), text(p.typ), num(int64(schema)), num(int64(p.parent)), sqltype.FromTicks(p.created), text(old), sqltype.FromTicks(p.created)})
	}
	return r
}

// compatColumns is Microsoft: sys.syscolumns (Transact-SQL): columns, and the parameters of procedures.
func compatColumns(s *Session, db *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{ncol("name", sysname), col("id", integer), col("xtype", tiny), col("xusertype", small), col("length", small), col("xprec", tiny), col("xscale", tiny), col("colid", small),
		col("cdefault", integer), col("number", small), ncol("colorder", small), ncol("prec", small), ncol("scale", integer), ncol("iscomputed", integer), ncol("isoutparam", integer), ncol("isnullable", integer),
		ncol("collation", sysname)}}
	add := func(id int32, name string, t sqltype.Type, place int, def int32, computed, output, nullable bool) {
		n, prec, scale := size(t)
		collation := null
		if t.Class() == sqltype.ClassString && t.Kind != sqltype.XML {
			collation = text(collationOf(t))
		}
		r.Data = append(r.Data, sqltype.Row{text(name), num(int64(id)), num(typeIDs[t.Kind]), num(userTypeID(t.Kind)), num(n), num(prec), num(scale), num(int64(place)), num(int64(def)), num(0), num(int64(place)), precisionOf(t, prec),
			scaleValue(t, scale), flag(computed), flag(output), flag(nullable), collation})
	}
	for _, o := range s.objects(db) {
		for _, c := range s.shownColumns(db, &o) {
			def := int32(0)
			if c.defined != nil {
				def = c.defined.def
			}
			add(o.id, c.Name, c.Type, c.place, def, c.Computed, false, c.Nullable)
		}
	}
	for _, p := range s.routinesOf(db) {
		for i, x := range p.Parameters() {
			add(p.ID, x.Name, x.Type, i+1, 0, false, x.Output, true)
		}
	}
	return r
}

// precisionOf gives the level of precision of a type: characters of text, -1 of what has no length, and digits of numbers.
func precisionOf(t sqltype.Type, prec int64) sqltype.Value {
	switch t.Class() {
	case sqltype.ClassString, sqltype.ClassBinary:
		if c := describe(t).chars; !c.IsNull() && c.Int() <= 8000 {
			return c
		}
		return num(-1)
	}
	return num(prec)
}

// scaleValue is the scale, NULL of types that have none.
func scaleValue(t sqltype.Type, scale int64) sqltype.Value {
	switch t.Class() {
	case sqltype.ClassInt, sqltype.ClassDecimal, sqltype.ClassTime:
		return num(scale)
	}
	return null
}

// compatIndexes is Microsoft: sys.sysindexes (Transact-SQL).
func compatIndexes(s *Session, db *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("id", integer), col("indid", small), ncol("keycnt", small), ncol("rowcnt", bigint), ncol("name", sysname), ncol("rows", integer)}}
	for _, o := range s.objects(db) {
		for _, x := range o.storages() {
			n := o.count()
			r.Data = append(r.Data, sqltype.Row{num(int64(o.id)), num(int64(x.id)), num(int64(len(x.cols))), num(n), orNull(x.name), num(min(n, 1<<31-1))})
		}
	}
	return r
}

// compatDatabases is Microsoft: sys.sysdatabases (Transact-SQL).
func compatDatabases(s *Session, _ *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{ncol("name", sysname), ncol("dbid", small), ncol("crdate", stamp), ncol("cmptlevel", tiny), ncol("filename", sqltype.Str(sqltype.NVarChar, 260)), ncol("version", small)}}
	for _, d := range s.srv.inOrder() {
		if !s.serverCan("VIEW ANY DATABASE") && !s.reaches(d) {
			continue
		}
		version := s.databaseProperty(text(d.Name), text("Version"))
		if v, err := sqltype.Convert(version, sysname, small, 0); err == nil {
			version = v
		}
		r.Data = append(r.Data, sqltype.Row{text(d.Name), num(int64(d.ID)), sqltype.FromTicks(d.created), num(s.srv.level()), text(d.files()[0].path), version})
	}
	return r
}
