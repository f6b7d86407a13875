package cdc

import (
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// infoViews are the views of INFORMATION_SCHEMA (Microsoft: System information schema views (Transact-SQL)).
var infoViews = map[string]view{
	"tables":                  infoTables,
	"columns":                 infoColumns,
	"schemata":                infoSchemata,
	"key_column_usage":        infoKeyColumns,
	"table_constraints":       infoConstraints,
	"check_constraints":       infoChecks,
	"constraint_column_usage": infoConstraintColumns,
	"referential_constraints": infoReferences,
	"parameters":              infoParameters,
	"routines":                infoRoutines,
}

func infoTables(s *Session, db *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{ncol("TABLE_CATALOG", sysname), ncol("TABLE_SCHEMA", sysname), col("TABLE_NAME", sysname), ncol("TABLE_TYPE", sqltype.Str(sqltype.VarChar, 10))}}
	for _, o := range s.objects(db) {
		r.Data = append(r.Data, sqltype.Row{text(db.Name), text(o.schema), text(o.name), text("BASE TABLE")})
	}
	return r
}

func infoSchemata(_ *Session, db *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{ncol("CATALOG_NAME", sysname), col("SCHEMA_NAME", sysname), ncol("SCHEMA_OWNER", sysname), ncol("DEFAULT_CHARACTER_SET_NAME", sysname)}}
	for _, n := range db.allSchemas() {
		id := db.sec.ownerID(n)
		owner := db.sec.find(func(p *principal) bool { return p.id == id })
		r.Data = append(r.Data, sqltype.Row{text(db.Name), text(n), text(db.sec.nameOf(owner)), text("iso_1")})
	}
	return r
}

// shown is a column of a table or change table as the catalog shows it.
type shown struct {
	tsql.Column
	place   int
	def     string // text of its DEFAULT
	sparse  bool
	defined *column // nil in change tables
}

// shownColumns lists the columns of an object that a session sees; place is the id of a column.
func (s *Session) shownColumns(db *Database, o *object) (out []shown) {
	seen, _ := s.visible(db, o)
	if o.in != nil {
		for i, c := range o.in.changeColumns() {
			if seen(securedColumn{c.Name, i + 1}) {
				out = append(out, shown{Column: c, place: i + 1})
			}
		}
		return out
	}
	for _, c := range o.table.columns {
		if !seen(securedColumn{c.Name, c.id}) {
			continue
		}
		x := shown{Column: c.Column, place: c.id, sparse: c.Sparse, defined: c}
		if c.Named != nil {
			x.def = c.Named.Expr.Text
		}
		out = append(out, x)
	}
	return out
}

// described is how INFORMATION_SCHEMA and the procedures of CDC give a type; each is NULL where it does not apply.
type described struct{ chars, octets, precision, radix, scale, digits sqltype.Value }

func describe(t sqltype.Type) (d described) {
	switch t.Class() {
	case sqltype.ClassString, sqltype.ClassBinary:
		n, unit := int64(t.Len), int64(1)
		if t.Unicode() {
			unit = 2
		}
		switch t.Kind {
		case sqltype.Text, sqltype.Image:
			n = 1<<31 - 1
		case sqltype.NText:
			n = 1<<30 - 1
		case sqltype.XML:
			n = -1
		}
		d.chars, d.octets = num(n), num(n)
		if n > 0 && t.Kind != sqltype.NText {
			d.octets = num(n * unit)
		} else if t.Kind == sqltype.NText {
			d.octets = num(1<<31 - 2)
		}
		if t.Kind == sqltype.RowVersion {
			d.chars, d.octets = null, null
		}
	case sqltype.ClassInt, sqltype.ClassDecimal:
		x := t.AsDecimal()
		d.precision, d.radix, d.scale = num(int64(x.Prec)), num(10), num(int64(x.Scale))
	case sqltype.ClassFloat:
		d.precision, d.radix = num(53), num(2)
		if t.Kind == sqltype.Real {
			d.precision = num(24)
		}
	case sqltype.ClassTime:
		d.digits = num(int64(t.Scale))
		switch t.Kind {
		case sqltype.DateTime:
			d.digits = num(3)
		case sqltype.SmallDateTime, sqltype.Date:
			d.digits = num(0)
		}
	}
	return d
}

// infoColumns is Microsoft: COLUMNS (Transact-SQL).
func infoColumns(s *Session, db *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{ncol("TABLE_CATALOG", sysname), ncol("TABLE_SCHEMA", sysname), col("TABLE_NAME", sysname), ncol("COLUMN_NAME", sysname), ncol("ORDINAL_POSITION", integer), ncol("COLUMN_DEFAULT", sqltype.Str(sqltype.NVarChar, 4000)),
		ncol("IS_NULLABLE", sqltype.Str(sqltype.VarChar, 3)), ncol("DATA_TYPE", sysname), ncol("CHARACTER_MAXIMUM_LENGTH", integer), ncol("CHARACTER_OCTET_LENGTH", integer), ncol("NUMERIC_PRECISION", tiny),
		ncol("NUMERIC_PRECISION_RADIX", small), ncol("NUMERIC_SCALE", integer), ncol("DATETIME_PRECISION", small), ncol("CHARACTER_SET_CATALOG", sysname), ncol("CHARACTER_SET_SCHEMA", sysname), ncol("CHARACTER_SET_NAME", sysname),
		ncol("COLLATION_CATALOG", sysname), ncol("COLLATION_SCHEMA", sysname), ncol("COLLATION_NAME", sysname), ncol("DOMAIN_CATALOG", sysname), ncol("DOMAIN_SCHEMA", sysname), ncol("DOMAIN_NAME", sysname)}}
	for _, o := range s.objects(db) {
		for _, c := range s.shownColumns(db, &o) {
			d := describe(c.Type)
			collation, charset := textOf(c.Type)
			r.Data = append(r.Data, sqltype.Row{text(db.Name), text(o.schema), text(o.name), text(c.Name), num(int64(c.place)), orNull(c.def), text(yesNo(c.Nullable)), text(c.Type.Kind.String()),
				d.chars, d.octets, d.precision, d.radix, d.scale, d.digits, null, null, charset, null, null, collation, null, null, null})
		}
	}
	return r
}

func yesNo(on bool) string {
	if on {
		return "YES"
	}
	return "NO"
}

var constraintColumns = []tsql.Column{ncol("CONSTRAINT_CATALOG", sysname), ncol("CONSTRAINT_SCHEMA", sysname), col("CONSTRAINT_NAME", sysname), ncol("TABLE_CATALOG", sysname), ncol("TABLE_SCHEMA", sysname),
	ncol("TABLE_NAME", sysname)}

// constraintRows gives rows for the constraints of tables, one for each that more gives.
func (s *Session) constraintRows(db *Database, cols []tsql.Column, more func(p *part) []sqltype.Row) *tsql.Rows {
	r := &tsql.Rows{Cols: append(constraintColumns[:6:6], cols...)}
	for _, p := range s.parts(db) {
		if p.index == nil && p.check == nil && p.key == nil {
			continue
		}
		for _, row := range more(&p) {
			r.Data = append(r.Data, append(sqltype.Row{text(db.Name), text(p.schema), text(p.name), text(db.Name), text(p.schema), text(p.table.Name)}, row...))
		}
	}
	return r
}

// infoKeyColumns is Microsoft: KEY_COLUMN_USAGE (Transact-SQL).
func infoKeyColumns(s *Session, db *Database) *tsql.Rows {
	return s.constraintRows(db, []tsql.Column{ncol("COLUMN_NAME", sysname), col("ORDINAL_POSITION", integer)}, func(p *part) (rows []sqltype.Row) {
		for i, id := range p.columns() {
			rows = append(rows, sqltype.Row{text(p.table.byID(id).Name), num(int64(i + 1))})
		}
		return rows
	})
}

// columns gives the ids of the columns of a key.
func (p *part) columns() []int {
	switch {
	case p.index != nil:
		return p.index.cols
	case p.key != nil:
		return p.key.cols
	}
	return nil
}

// infoReferences is Microsoft: REFERENTIAL_CONSTRAINTS (Transact-SQL).
func infoReferences(s *Session, db *Database) *tsql.Rows {
	rule := sqltype.Str(sqltype.VarChar, 11)
	r := &tsql.Rows{Cols: append(constraintColumns[:3:3], ncol("UNIQUE_CONSTRAINT_CATALOG", sysname), ncol("UNIQUE_CONSTRAINT_SCHEMA", sysname), ncol("UNIQUE_CONSTRAINT_NAME", sysname),
		ncol("MATCH_OPTION", sqltype.Str(sqltype.VarChar, 7)), ncol("UPDATE_RULE", rule), ncol("DELETE_RULE", rule))}
	for _, p := range s.parts(db) {
		if k := p.key; k != nil {
			r.Data = append(r.Data, sqltype.Row{text(db.Name), text(p.schema), text(p.name), text(db.Name), text(k.to.Schema), text(k.to.indexByID(k.index).name), text("SIMPLE"), text(k.OnUpdate.String()), text(k.OnDelete.String())})
		}
	}
	return r
}

// infoConstraints is Microsoft: TABLE_CONSTRAINTS (Transact-SQL).
func infoConstraints(s *Session, db *Database) *tsql.Rows {
	no := sqltype.Str(sqltype.VarChar, 2)
	return s.constraintRows(db, []tsql.Column{ncol("CONSTRAINT_TYPE", sqltype.Str(sqltype.VarChar, 11)), col("IS_DEFERRABLE", no), col("INITIALLY_DEFERRED", no)}, func(p *part) []sqltype.Row {
		typ := map[string]string{"PK": "PRIMARY KEY", "UQ": "UNIQUE", "C ": "CHECK", "F ": "FOREIGN KEY"}[p.typ]
		return []sqltype.Row{{text(typ), text("NO"), text("NO")}}
	})
}

// infoChecks is Microsoft: CHECK_CONSTRAINTS (Transact-SQL).
func infoChecks(s *Session, db *Database) *tsql.Rows {
	r := s.constraintRows(db, []tsql.Column{ncol("CHECK_CLAUSE", sqltype.Str(sqltype.NVarChar, 4000))}, func(p *part) []sqltype.Row {
		if p.check == nil {
			return nil
		}
		return []sqltype.Row{{text(p.check.Condition.Text)}}
	})
	r.Cols = append(r.Cols[:3:3], r.Cols[6])
	for i, row := range r.Data {
		r.Data[i] = append(row[:3:3], row[6])
	}
	return r
}

// infoConstraintColumns is Microsoft: CONSTRAINT_COLUMN_USAGE (Transact-SQL).
func infoConstraintColumns(s *Session, db *Database) *tsql.Rows {
	r := s.constraintRows(db, []tsql.Column{ncol("COLUMN_NAME", sysname)}, func(p *part) (rows []sqltype.Row) {
		if p.check == nil {
			for _, id := range p.columns() {
				rows = append(rows, sqltype.Row{text(p.table.byID(id).Name)})
			}
			return rows
		}
		for _, n := range p.check.Condition.Columns() {
			rows = append(rows, sqltype.Row{text(p.table.column(n).Name)})
		}
		return rows
	})
	for i, row := range r.Data { // the table and its column come first
		r.Data[i] = sqltype.Row{row[3], row[4], row[5], row[6], row[0], row[1], row[2]}
	}
	c := r.Cols
	r.Cols = []tsql.Column{c[3], c[4], c[5], c[6], c[0], c[1], c[2]}
	return r
}
