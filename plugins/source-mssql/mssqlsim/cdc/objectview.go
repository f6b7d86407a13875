package cdc

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// objectViews are the catalog views of tables and what belongs to them.
var objectViews = map[string]view{
	"objects":             sysObjects,
	"tables":              sysTables,
	"key_constraints":     keyConstraints,
	"check_constraints":   checkConstraints,
	"default_constraints": defaultConstraints,
	"identity_columns":    identityColumns,
	"computed_columns":    computedColumns,
	"foreign_keys":        foreignKeys,
	"foreign_key_columns": foreignKeyColumns,
	"views":               noObjects,
	"synonyms":            noObjects,
	"sequences":           noObjects,
	"procedures":          sysProcedures,
}

// part is a row of sys.objects: a table or a constraint of one.
type part struct {
	object
	id     int32
	name   string
	typ    string
	desc   string
	parent int32
	index  *index
	check  *check
	key    *foreignKey
	column *column
	// shipped: of change data capture itself
	shipped bool
	changed int64 // 0 is when it was created
}

// captureTables are the tables of change data capture besides change tables, and captureID is the object id of the
// first of them, below those of all other objects.
var captureTables = []string{"change_tables", "ddl_history", "lsn_time_mapping", "captured_columns", "index_columns"}

const captureID = 885578193

// captureParts lists what enabling a database and its tables made besides change tables, as far as the session sees it.
func (s *Session) captureParts(db *Database) (out []part) {
	if !db.enabled.Load() {
		return nil
	}
	add := func(id int32, name, typ, desc string, created int64) {
		out = append(out, part{object: object{schema: "cdc", created: created}, id: id, name: name, typ: typ, desc: desc, shipped: true})
	}
	if s.can(db, "SELECT", ofSchema("cdc")) {
		for i, name := range captureTables {
			add(captureID+int32(i), name, "U ", "USER_TABLE", db.created)
		}
	}
	for _, t := range db.tables {
		for _, in := range t.inst {
			if !s.mayInstance(in) {
				continue
			}
			add(in.ID+1, allChanges+in.Name, "IF", "SQL_INLINE_TABLE_VALUED_FUNCTION", in.at)
			if in.net {
				add(in.ID+2, netChanges+in.Name, "IF", "SQL_INLINE_TABLE_VALUED_FUNCTION", in.at)
			}
		}
	}
	return out
}

// parts lists the tables a session sees with their constraints.
func (s *Session) parts(db *Database) (out []part) {
	for _, o := range s.objects(db) {
		out = append(out, part{object: o, id: o.id, name: o.name, typ: "U ", desc: "USER_TABLE"})
		if o.in != nil {
			continue
		}
		for _, x := range o.table.indexes {
			switch x.kind {
			case tsql.PrimaryKey:
				out = append(out, part{object: o, id: x.object, name: x.name, typ: "PK", desc: "PRIMARY_KEY_CONSTRAINT", parent: o.id, index: x})
			case tsql.UniqueConstraint:
				out = append(out, part{object: o, id: x.object, name: x.name, typ: "UQ", desc: "UNIQUE_CONSTRAINT", parent: o.id, index: x})
			}
		}
		for _, c := range o.table.checks {
			out = append(out, part{object: o, id: c.object, name: c.Name, typ: "C ", desc: "CHECK_CONSTRAINT", parent: o.id, check: c})
		}
		for _, k := range o.table.foreign {
			out = append(out, part{object: o, id: k.object, name: k.name, typ: "F ", desc: "FOREIGN_KEY_CONSTRAINT", parent: o.id, key: k})
		}
		for _, c := range o.table.columns {
			if c.Named != nil {
				out = append(out, part{object: o, id: c.def, name: c.Named.Name, typ: "D ", desc: "DEFAULT_CONSTRAINT", parent: o.id, column: c})
			}
		}
	}
	return append(append(out, s.routineParts(db)...), s.captureParts(db)...)
}

var objectColumns = []tsql.Column{col("name", sysname), col("object_id", integer), ncol("principal_id", integer), col("schema_id", integer), col("parent_object_id", integer), col("type", sqltype.Str(sqltype.Char, 2)),
	ncol("type_desc", desc60), col("create_date", stamp), col("modify_date", stamp), col("is_ms_shipped", bit), col("is_published", bit), col("is_schema_published", bit)}

func (p *part) row(db *Database) sqltype.Row {
	schema, _ := db.schemaID(p.schema)
	return sqltype.Row{text(p.name), num(int64(p.id)), null, num(int64(schema)), num(int64(p.parent)), text(p.typ), text(p.desc), sqltype.FromTicks(p.created), sqltype.FromTicks(max(p.created, p.changed)), flag(p.in != nil || p.shipped),
		flag(false), flag(false)}
}

// view builds a view of the parts for which more gives further columns.
func (s *Session) view(db *Database, cols []tsql.Column, more func(p *part) sqltype.Row) *tsql.Rows {
	r := &tsql.Rows{Cols: append(objectColumns[:len(objectColumns):len(objectColumns)], cols...)}
	for _, p := range s.parts(db) {
		if row := more(&p); row != nil {
			r.Data = append(r.Data, append(p.row(db), row...))
		}
	}
	return r
}

// sysObjects is Microsoft: sys.objects (Transact-SQL).
func sysObjects(s *Session, db *Database) *tsql.Rows {
	return s.view(db, nil, func(*part) sqltype.Row { return sqltype.Row{} })
}

// sysTables is Microsoft: sys.tables (Transact-SQL).
func sysTables(s *Session, db *Database) *tsql.Rows {
	return s.view(db, []tsql.Column{col("lob_data_space_id", integer), col("max_column_id_used", integer), ncol("is_replicated", bit), ncol("is_tracked_by_cdc", bit), ncol("lock_escalation", tiny), ncol("lock_escalation_desc", desc60), ncol("is_filetable", bit), ncol("is_memory_optimized", bit),
		ncol("durability", tiny), ncol("durability_desc", desc60), ncol("temporal_type", tiny), ncol("temporal_type_desc", desc60), ncol("history_table_id", integer), ncol("is_external", bit), ncol("is_node", bit), ncol("is_edge", bit)},
		func(p *part) sqltype.Row {
			if p.typ != "U " {
				return nil
			}
			lob, last := p.table.lobs(p.in)
			return sqltype.Row{num(lob), num(int64(last)), flag(false), flag(p.in == nil && p.table != nil && len(p.table.inst) > 0), num(0), text("TABLE"), flag(false), flag(false), num(0), text("SCHEMA_AND_DATA"), num(0), text("NON_TEMPORAL_TABLE"), null,
				flag(false), flag(false), flag(false)}
		})
}

// lobs tells the data space of large values of a table or of its change table, 0 when it has no column for them, and the
// id of its newest column.
func (t *Table) lobs(in *Instance) (space int64, last int) {
	if t == nil { // of change data capture itself
		return 0, 0
	}
	var cols []tsql.Column
	if last = t.lastID; in != nil {
		cols = in.changeColumns()
		last = len(cols)
	} else {
		cols = t.describe()
	}
	for _, c := range cols {
		if c.Type.LOB() {
			space = 1
		}
	}
	return space, last
}

// keyConstraints is Microsoft: sys.key_constraints (Transact-SQL).
func keyConstraints(s *Session, db *Database) *tsql.Rows {
	return s.view(db, []tsql.Column{ncol("unique_index_id", integer), ncol("is_system_named", bit), ncol("is_enforced", bit)}, func(p *part) sqltype.Row {
		if p.index == nil {
			return nil
		}
		return sqltype.Row{num(int64(p.index.id)), flag(generated(p.index.name, p.index.object)), flag(true)}
	})
}

// checkConstraints is Microsoft: sys.check_constraints (Transact-SQL).
func checkConstraints(s *Session, db *Database) *tsql.Rows {
	return s.view(db, []tsql.Column{col("is_disabled", bit), col("is_not_for_replication", bit), col("is_not_trusted", bit), col("parent_column_id", integer), ncol("definition", longText), ncol("is_system_named", bit)},
		func(p *part) sqltype.Row {
			if p.check == nil {
				return nil
			}
			place := int64(0)
			if c := p.table.column(p.check.Column); c != nil {
				place = int64(c.id)
			}
			return sqltype.Row{flag(p.check.disabled), flag(p.check.NotForReplication), flag(p.check.Unchecked), num(place), text(p.check.Condition.Text), flag(generated(p.check.Name, p.check.object))}
		})
}

// defaultConstraints is Microsoft: sys.default_constraints (Transact-SQL).
func defaultConstraints(s *Session, db *Database) *tsql.Rows {
	return s.view(db, []tsql.Column{col("parent_column_id", integer), ncol("definition", longText), col("is_system_named", bit)}, func(p *part) sqltype.Row {
		if p.column == nil {
			return nil
		}
		return sqltype.Row{num(int64(p.column.id)), text(p.column.Named.Expr.Text), flag(generated(p.column.Named.Name, p.column.def))}
	})
}

// columnRows gives the rows of sys.columns that a session sees and more says something about.
func (s *Session) columnRows(db *Database, cols []tsql.Column, more func(t *Table, c *column) sqltype.Row) *tsql.Rows {
	all := sysColumns(s, db)
	r := &tsql.Rows{Cols: append(all.Cols, cols...)}
	at := map[int64]*Table{}
	for _, t := range db.tables {
		at[int64(t.ID)] = t
	}
	for _, row := range all.Data {
		t := at[row[0].Int()]
		if t == nil {
			continue
		}
		if own := more(t, t.byID(int(row[2].Int()))); own != nil {
			r.Data = append(r.Data, append(row, own...))
		}
	}
	return r
}

// identityColumns is Microsoft: sys.identity_columns (Transact-SQL), whose values are sql_variant of the column's type.
func identityColumns(s *Session, db *Database) *tsql.Rows {
	variant := sqltype.Of(sqltype.Variant)
	return s.columnRows(db, []tsql.Column{ncol("seed_value", variant), ncol("increment_value", variant), ncol("last_value", variant), ncol("is_not_for_replication", bit)}, func(t *Table, c *column) sqltype.Row {
		if !c.Identity {
			return nil
		}
		of := func(n int64) sqltype.Value {
			v, err := sqltype.Convert(num(n), bigint, c.Type, 0)
			if err == nil {
				v, err = sqltype.Convert(v, c.Type, variant, 0)
			}
			if err != nil {
				return null
			}
			return v
		}
		last := null
		if t.identity.used {
			last = of(t.identity.last)
		}
		return sqltype.Row{of(t.identity.seed), of(t.identity.step), last, flag(c.NotForReplication)}
	})
}

// computedColumns is Microsoft: sys.computed_columns (Transact-SQL).
func computedColumns(s *Session, db *Database) *tsql.Rows {
	return s.columnRows(db, []tsql.Column{ncol("definition", longText), col("uses_database_collation", bit), col("is_persisted", bit)}, func(_ *Table, c *column) sqltype.Row {
		if !c.Computed || c.Computation == nil {
			return nil
		}
		return sqltype.Row{text(c.Computation.Text), flag(true), flag(c.Persisted)}
	})
}

// foreignKeys is Microsoft: sys.foreign_keys (Transact-SQL).
func foreignKeys(s *Session, db *Database) *tsql.Rows {
	return s.view(db, []tsql.Column{ncol("referenced_object_id", integer), ncol("key_index_id", integer), col("is_disabled", bit), col("is_not_for_replication", bit), col("is_not_trusted", bit),
		ncol("delete_referential_action", tiny), ncol("delete_referential_action_desc", desc60), ncol("update_referential_action", tiny), ncol("update_referential_action_desc", desc60), col("is_system_named", bit)},
		func(p *part) sqltype.Row {
			if p.key == nil {
				return nil
			}
			desc := func(a tsql.ReferentialAction) sqltype.Value { return text(strings.ReplaceAll(a.String(), " ", "_")) }
			k := p.key
			return sqltype.Row{num(int64(k.to.ID)), num(int64(k.index)), flag(k.disabled), flag(k.NotForReplication), flag(k.untrusted), num(int64(k.OnDelete)), desc(k.OnDelete), num(int64(k.OnUpdate)), desc(k.OnUpdate),
				flag(generated(k.name, k.object))}
		})
}

// foreignKeyColumns is Microsoft: sys.foreign_key_columns (Transact-SQL).
func foreignKeyColumns(s *Session, db *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("constraint_object_id", integer), col("constraint_column_id", integer), col("parent_object_id", integer), col("parent_column_id", integer), col("referenced_object_id", integer), col("referenced_column_id", integer)}}
	for _, p := range s.parts(db) {
		if p.key == nil {
			continue
		}
		for i, id := range p.key.cols {
			r.Data = append(r.Data, sqltype.Row{num(int64(p.id)), num(int64(i + 1)), num(int64(p.parent)), num(int64(id)), num(int64(p.key.to.ID)), num(int64(p.key.refs[i]))})
		}
	}
	return r
}

// noObjects is a view of objects of which there are none here: sys.views, sys.synonyms and sys.sequences.
func noObjects(*Session, *Database) *tsql.Rows { return &tsql.Rows{Cols: objectColumns} }
