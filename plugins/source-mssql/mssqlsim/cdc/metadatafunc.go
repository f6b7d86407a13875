package cdc

import (
	"slices"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

var variantType = sqltype.Of(sqltype.Variant)

// asVariant puts a value into a sql_variant.
func asVariant(v sqltype.Value, t sqltype.Type) sqltype.Value {
	w, err := sqltype.Convert(v, t, variantType, 0)
	if err != nil {
		return null
	}
	return w
}

// whole gives an argument as a number, -1 when it is none.
func whole(v sqltype.Value) int64 {
	w, err := sqltype.Convert(v, longText, bigint, 0)
	if err != nil || w.IsNull() {
		return -1
	}
	return w.Int()
}

// metadataFunction answers the functions about objects, columns, indexes, types and files (Microsoft: Metadata functions
// (Transact-SQL)): NULL for what is not there or may not be seen. The lock of the database is held.
func (s *Session) metadataFunction(db *Database, name string, arg func(int) sqltype.Value) (v sqltype.Value, t sqltype.Type, ok bool, err error) {
	switch name {
	case "TYPE_NAME":
		return typeName(db, s, whole(arg(0))), sysname, true, nil
	case "TYPE_ID":
		return typeID(db, s, arg(0).Str()), integer, true, nil
	case "COL_LENGTH":
		v, err = s.columnLength(db, arg(0).Str(), arg(1).Str())
		return v, small, true, err
	case "COL_NAME":
		for _, c := range s.columnsByID(db, whole(arg(0))) {
			if int64(c.place) == whole(arg(1)) {
				return text(c.Name), sysname, true, nil
			}
		}
		return null, sysname, true, nil
	case "COLUMNPROPERTY":
		v, err = s.columnProperty(db, whole(arg(0)), arg(1).Str(), arg(2).Str())
		return v, integer, true, err
	case "INDEXPROPERTY":
		v, err = s.indexProperty(db, whole(arg(0)), arg(1).Str(), arg(2).Str())
		return v, integer, true, err
	case "INDEX_COL":
		if o, err := s.helped(db, arg(0).Str()); err == nil {
			name, _, _ := o.indexKey(whole(arg(1)), whole(arg(2)))
			return orNull(name), sysname, true, nil
		}
		return null, sysname, true, nil
	case "INDEXKEY_PROPERTY":
		return s.indexKeyProperty(db, whole(arg(0)), whole(arg(1)), whole(arg(2)), arg(3).Str()), integer, true, nil
	case "OBJECTPROPERTY", "OBJECTPROPERTYEX":
		v, err = s.objectProperty(db, whole(arg(0)), arg(1).Str(), name == "OBJECTPROPERTYEX")
		if name == "OBJECTPROPERTY" {
			return v, integer, true, err
		}
		return v, variantType, true, err
	case "OBJECT_DEFINITION":
		return s.objectDefinition(db, whole(arg(0))), longText, true, nil
	case "FILE_NAME", "FILE_ID", "FILE_IDEX", "FILEGROUP_NAME", "FILEGROUP_ID":
		v, t = fileFunction(db, name, arg(0))
		return v, t, true, nil
	case "ORIGINAL_DB_NAME":
		return text(s.original), sysname, true, nil
	}
	return s.connectionFunction(name, arg(0))
}

// connectionFunction answers functions about the connection and the session.
func (s *Session) connectionFunction(name string, arg sqltype.Value) (v sqltype.Value, t sqltype.Type, ok bool, err error) {
	switch name {
	case "SESSIONPROPERTY": // Microsoft: SESSIONPROPERTY (Transact-SQL)
		bits := map[string]int64{"ANSI_NULLS": 32, "ANSI_PADDING": 16, "ANSI_WARNINGS": 8, "ARITHABORT": 64, "CONCAT_NULL_YIELDS_NULL": 4096, "NUMERIC_ROUNDABORT": 8192, "QUOTED_IDENTIFIER": 256}
		if bit := bits[strings.ToUpper(arg.Str())]; bit != 0 {
			return asVariant(flag(s.settings.Options&bit != 0), integer), variantType, true, nil
		}
		return null, variantType, true, nil
	case "CONNECTIONPROPERTY":
		return s.connectionProperty(lower(arg.Str())), variantType, true, nil
	case "SESSION_CONTEXT":
		return s.values[lower(arg.Str())].value, variantType, true, nil
	case "GETANSINULL": // Microsoft: GETANSINULL (Transact-SQL); ANSI_NULL_DEFAULT of databases is OFF
		return flag(s.settings.Options&1024 != 0), integer, true, nil
	case "CURRENT_REQUEST_ID":
		return num(0), small, true, nil
	case "CURRENT_TRANSACTION_ID":
		if tx := s.current(); tx != nil {
			return num(tx.id), bigint, true, nil
		}
		return num(s.srv.transactions.Add(1)), bigint, true, nil
	case "@@MAX_CONNECTIONS":
		return num(32767), integer, true, nil
	}
	return null, t, false, nil
}

// connectionProperty is CONNECTIONPROPERTY (Microsoft: CONNECTIONPROPERTY (Transact-SQL)).
func (s *Session) connectionProperty(property string) sqltype.Value {
	word, address := sqltype.Str(sqltype.NVarChar, 40), sqltype.Str(sqltype.VarChar, 48)
	near, port := host(s.client.Local)
	far, _ := host(s.client.Remote)
	switch property {
	case "net_transport", "physical_net_transport":
		return asVariant(text("TCP"), word)
	case "protocol_type":
		return asVariant(text("TSQL"), word)
	case "auth_scheme":
		return asVariant(text("SQL"), word)
	case "local_net_address":
		return asVariant(near, address)
	case "local_tcp_port":
		return asVariant(port, integer)
	case "client_net_address":
		return asVariant(far, address)
	}
	return null
}

func typeName(db *Database, s *Session, id int64) sqltype.Value {
	for _, row := range sysTypes(s, db).Data {
		if row[2].Int() == id {
			return row[0]
		}
	}
	return null
}

func typeID(db *Database, s *Session, name string) sqltype.Value {
	parts := nameParts(name)
	for _, row := range sysTypes(s, db).Data {
		if sqltype.EqualName(row[0].Str(), parts[len(parts)-1]) && (len(parts) == 1 || sqltype.EqualName(parts[0], "sys")) {
			return row[2]
		}
	}
	return null
}

// databaseNamed gives the database that a name of an object in a text has as its first of three parts, the current one where it has
// none; nil is one that is not there, or into which the session may not look.
func (s *Session) databaseNamed(full string) *Database {
	parts := nameParts(full)
	if len(parts) < 3 {
		return s.db
	}
	db, err := s.at(tsql.Name{Database: parts[len(parts)-3]})
	if err != nil {
		return nil
	}
	return db
}

// columnLength is COL_LENGTH (Microsoft: COL_LENGTH (Transact-SQL)).
func (s *Session) columnLength(db *Database, table, column string) (sqltype.Value, error) {
	var cols []shown
	if o, err := s.helped(db, table); err == nil {
		cols = s.shownColumns(db, o)
	} else if s.systemObject(table) {
		v := s.viewCalled(db, table)
		if v == nil {
			return null, sqltype.Unsupported("COL_LENGTH of the system object %s", table)
		}
		for _, c := range v.Cols {
			cols = append(cols, shown{Column: c})
		}
		if slices.ContainsFunc(v.unbuilt, func(name string) bool { return sqltype.EqualName(name, column) }) {
			return null, sqltype.Unsupported("the column %s of %s, which SQL Server has and the simulator has not", column, table)
		}
	}
	if c := columnOf(cols, column); c != nil {
		n, _, _ := size(c.Type)
		return num(n), nil
	}
	return null, nil
}

// viewCalled gives the system view that a name in a text means, whose schema it must name; nil is none.
func (s *Session) viewCalled(db *Database, full string) *shapedView {
	parts := nameParts(full)
	if len(parts) < 2 {
		return nil
	}
	schema, name := lower(parts[len(parts)-2]), lower(parts[len(parts)-1])
	if schema != "sys" && schema != "information_schema" {
		return nil
	}
	v := systemViewNamed(schema, name)
	if v == nil {
		return nil
	}
	return s.shape(schema+"."+name, v(s, db))
}

// columnsByID lists the columns of a table that the session sees.
func (s *Session) columnsByID(db *Database, id int64) []shown {
	if o := s.objectByID(db, id); o != nil {
		return s.shownColumns(db, o)
	}
	return nil
}

func (s *Session) objectByID(db *Database, id int64) *object {
	for _, o := range s.objects(db) {
		if int64(o.id) == id {
			return &o
		}
	}
	return nil
}

func columnOf(cols []shown, name string) *shown {
	for i := range cols {
		if sqltype.EqualName(cols[i].Name, name) {
			return &cols[i]
		}
	}
	return nil
}

// columnProperty is COLUMNPROPERTY of a column or a parameter (Microsoft: COLUMNPROPERTY (Transact-SQL)).
func (s *Session) columnProperty(db *Database, id int64, name, property string) (sqltype.Value, error) {
	var t sqltype.Type
	c := columnOf(s.columnsByID(db, id), name)
	output := false
	if c != nil {
		t = c.Type
	} else {
		found := false
		for _, r := range s.routinesOf(db) {
			for _, p := range r.Parameters() {
				if int64(r.ID) == id && sqltype.EqualName(p.Name, name) {
					t, output, found = p.Type, p.Output, true
				}
			}
		}
		if !found {
			return null, nil
		}
		c = &shown{Column: tsql.Column{Nullable: true}}
	}
	_, prec, scale := size(t)
	k := t.Class()
	bit := func(on bool) (sqltype.Value, error) { return flag(on), nil }
	switch lower(property) {
	case "allowsnull":
		return bit(c.Nullable)
	case "columnid":
		return num(int64(c.place)), nil
	case "precision":
		if k == sqltype.ClassString || k == sqltype.ClassBinary {
			prec = describe(t).chars.Int()
		}
		return num(prec), nil
	case "scale":
		if k == sqltype.ClassString || k == sqltype.ClassBinary {
			return null, nil
		}
		return num(scale), nil
	case "iscomputed":
		return bit(c.Computed)
	case "isidentity":
		return bit(c.Identity)
	case "issparse":
		return bit(c.sparse)
	case "isoutparam":
		return bit(output)
	case "isidnotforrepl":
		return bit(c.defined != nil && c.defined.NotForReplication)
	case "isrowguidcol":
		return bit(c.defined != nil && c.defined.RowGUID)
	case "iscolumnset", "iscursortype", "isfulltextindexed", "ishidden", "isxmlindexable", "statisticalsemantics", "generatedalwaystype":
		return bit(false)
	case "isindexable":
		return bit(!t.LOB() && t.Kind != sqltype.XML)
	case "usesansitrim":
		return bit(k == sqltype.ClassString || k == sqltype.ClassBinary)
	case "isdeterministic", "isprecise", "issystemverified", "systemdataaccess", "userdataaccess", "fulltexttypecolumn":
		return null, sqltype.Unsupported("the property %s of COLUMNPROPERTY", property)
	}
	return null, nil
}

// indexProperty is INDEXPROPERTY (Microsoft: INDEXPROPERTY (Transact-SQL)).
func (s *Session) indexProperty(db *Database, id int64, name, property string) (sqltype.Value, error) {
	o := s.objectByID(db, id)
	if o == nil {
		return null, nil
	}
	for _, x := range o.storages() {
		if x.id == 0 || !sqltype.EqualName(x.name, name) {
			continue
		}
		bit := func(on bool) (sqltype.Value, error) { return flag(on), nil }
		switch lower(property) {
		case "indexid":
			return num(int64(x.id)), nil
		case "isclustered":
			return bit(x.clustered)
		case "isunique":
			return bit(x.unique)
		case "indexfillfactor", "ispadindex", "ispagelockdisallowed", "isrowlockdisallowed":
			of := x.of
			if of == nil {
				of = &index{}
			}
			return map[string]sqltype.Value{"indexfillfactor": num(of.fill), "ispadindex": flag(of.padded), "ispagelockdisallowed": flag(of.noPageLocks), "isrowlockdisallowed": flag(of.noRowLocks)}[lower(property)], nil
		case "isautostatistics", "isdisabled", "isfulltextkey", "ishypothetical", "isstatistics", "iscolumnstore", "isoptimizedforsequentialkey":
			return bit(false)
		case "indexdepth":
			return null, sqltype.Unsupported("the property %s of INDEXPROPERTY", property)
		}
		return null, nil
	}
	return null, nil
}

// indexKey gives the name and the id of a column of an index, and whether it descends; the name is "" where there is none.
func (o *object) indexKey(index, key int64) (name string, id int, descending bool) {
	for _, x := range o.storages() {
		if int64(x.id) != index || x.id == 0 || key < 1 || key > int64(len(x.cols)) {
			continue
		}
		id = x.cols[key-1]
		for _, c := range o.securable().cols {
			if c.id == id {
				return c.name, id, x.desc[key-1]
			}
		}
	}
	return "", 0, false
}

// indexKeyProperty is INDEXKEY_PROPERTY (Microsoft: INDEXKEY_PROPERTY (Transact-SQL)).
func (s *Session) indexKeyProperty(db *Database, id, index, key int64, property string) sqltype.Value {
	o := s.objectByID(db, id)
	if o == nil {
		return null
	}
	name, column, descending := o.indexKey(index, key)
	switch p := lower(property); {
	case name == "":
	case p == "columnid":
		return num(int64(column))
	case p == "isdescending":
		return flag(descending)
	}
	return null
}

// objectDefinition is OBJECT_DEFINITION (Microsoft: OBJECT_DEFINITION (Transact-SQL)) of a procedure, a CHECK or a DEFAULT.
func (s *Session) objectDefinition(db *Database, id int64) sqltype.Value {
	for _, r := range s.routinesOf(db) {
		if int64(r.ID) == id {
			return s.definition(db, r)
		}
	}
	for _, p := range s.parts(db) {
		switch {
		case int64(p.id) != id:
		case p.check != nil:
			return text(p.check.Condition.Text)
		case p.column != nil:
			return text(p.column.Named.Expr.Text)
		}
	}
	return null
}

// fileFunction answers FILE_NAME, FILE_ID, FILE_IDEX, FILEGROUP_NAME and FILEGROUP_ID.
func fileFunction(db *Database, name string, arg sqltype.Value) (sqltype.Value, sqltype.Type) {
	t := map[string]sqltype.Type{"FILE_NAME": sysname, "FILE_ID": small, "FILE_IDEX": integer, "FILEGROUP_NAME": sysname, "FILEGROUP_ID": integer}[name]
	switch {
	case name == "FILEGROUP_NAME" && whole(arg) == 1:
		return text("PRIMARY"), t
	case name == "FILEGROUP_ID" && sqltype.EqualName(arg.Str(), "PRIMARY"):
		return num(1), t
	}
	for _, f := range db.files() {
		switch {
		case name == "FILE_NAME" && f.id == whole(arg):
			return text(f.name), t
		case (name == "FILE_ID" || name == "FILE_IDEX") && sqltype.EqualName(f.name, arg.Str()):
			return num(f.id), t
		}
	}
	return null, t
}
