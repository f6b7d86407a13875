package cdc

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// helpProcedures are the procedures with which a person looks around.
var helpProcedures = map[string]procedure{
	"sp_help":                {[]tsql.Param{may("@objname", sqltype.Str(sqltype.NVarChar, 776))}, spHelp},
	"sp_helpindex":           {[]tsql.Param{need("@objname", sqltype.Str(sqltype.NVarChar, 776))}, spHelpIndex},
	"sp_configure":           {configureParams, configure},
	"sp_set_session_context": {[]tsql.Param{need("@key", sysname), need("@value", variantType), may("@read_only", bit)}, setContext},
	"sp_who":                 {[]tsql.Param{may("@loginame", sysname)}, spWho},
}

var desc128 = sqltype.Str(sqltype.VarChar, 128)

// helpKinds are what sp_help calls the kinds of objects: the rows of master.dbo.spt_values of type O9T, as others printed them.
var helpKinds = map[string]string{"AF": "aggregate function", "C": "check cns", "D": "default (maybe cns)", "F": "foreign key cns", "FN": "scalar function", "IF": "inline function",
	"IT": "internal table", "P": "stored procedure", "PK": "primary key cns", "S": "system table", "SN": "synonym", "TF": "table function", "TR": "trigger", "U": "user table", "UQ": "unique key cns",
	"V": "view", "X": "extended stored proc"}

// spHelp is Microsoft: sp_help (Transact-SQL): of a table several results, of the database its objects.
func spHelp(s *Session, db *Database, a args) (*tsql.Rows, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	if a["@objname"].IsNull() {
		r := &tsql.Rows{Cols: []tsql.Column{col("Name", sysname), ncol("Owner", sysname), col("Object_type", sqltype.Str(sqltype.NVarChar, 31))}}
		for _, p := range s.parts(db) {
			r.Data = append(r.Data, sqltype.Row{text(p.name), text("dbo"), text(helpKinds[strings.TrimSpace(p.typ)])})
		}
		return r, nil
	}
	o, err := s.about(db, a.str("@objname"))
	if err != nil {
		return nil, err
	}
	r := &tsql.Rows{Cols: []tsql.Column{col("Name", sysname), ncol("Owner", sysname), col("Type", sqltype.Str(sqltype.NVarChar, 31)), col("Created_datetime", stamp)},
		Data: []sqltype.Row{{text(o.name), text("dbo"), text("user table"), sqltype.FromTicks(o.created)}}}
	cols, columns := s.shownColumns(db, o), &tsql.Rows{Cols: []tsql.Column{ncol("Column_name", sysname), ncol("Type", sysname), ncol("Computed", desc128), ncol("Length", integer), ncol("Prec", sqltype.Str(sqltype.Char, 5)),
		ncol("Scale", sqltype.Str(sqltype.Char, 5)), ncol("Nullable", desc128), ncol("TrimTrailingBlanks", desc128), ncol("FixedLenNullInSource", desc128), ncol("Collation", sysname)}}
	rowguid := "No rowguidcol column defined."
	ident, seed, step, replicated := "No identity column defined.", null, null, null
	for _, c := range cols {
		n, p, sc := size(c.Type)
		prec, scale, trim, fixed, collation := text("     "), text("     "), text("(n/a)"), text("(n/a)"), null
		switch c.Type.Class() {
		case sqltype.ClassInt, sqltype.ClassDecimal, sqltype.ClassFloat, sqltype.ClassTime:
			prec, scale = text(fmt.Sprintf("%-5d", p)), text(fmt.Sprintf("%-5d", sc))
		case sqltype.ClassString:
			collation = text(collationOf(c.Type))
			trim, fixed = text("no"), text("no")
		}
		if c.defined != nil && c.defined.RowGUID {
			rowguid = c.Name
		}
		if c.Identity {
			ident, seed, step, replicated = c.Name, num(o.table.identity.seed), num(o.table.identity.step), num(0)
			if c.defined != nil && c.defined.NotForReplication {
				replicated = num(1)
			}
		}
		columns.Data = append(columns.Data, sqltype.Row{text(c.Name), text(c.Type.Kind.String()), text(strings.ToLower(yesNo(c.Computed))), num(n), prec, scale, text(strings.ToLower(yesNo(c.Nullable))), trim, fixed, collation})
	}
	identity := &tsql.Rows{Cols: []tsql.Column{ncol("Identity", sysname), ncol("Seed", sqltype.Dec(38, 0)), ncol("Increment", sqltype.Dec(38, 0)), ncol("Not For Replication", integer)}, Data: []sqltype.Row{{text(ident), asDecimal(seed), asDecimal(step), replicated}}}
	rowGUID := &tsql.Rows{Cols: []tsql.Column{ncol("RowGuidCol", sysname)}, Data: []sqltype.Row{{text(rowguid)}}}
	place := &tsql.Rows{Cols: []tsql.Column{ncol("Data_located_on_filegroup", sysname)}, Data: []sqltype.Row{{text("PRIMARY")}}}
	r.More = []*tsql.Rows{columns, identity, rowGUID, place}
	if x := helpIndex(o); len(x.Data) > 0 {
		r.More = append(r.More, x)
	}
	if x := helpConstraints(o); len(x.Data) > 0 {
		r.More = append(r.More, x)
	}
	return r, nil
}

func asDecimal(v sqltype.Value) sqltype.Value {
	if v.IsNull() {
		return v
	}
	return sqltype.FromScaled(v.Int(), 0)
}

func collationOf(t sqltype.Type) string {
	if t.Collation != "" {
		return t.Collation
	}
	return sqltype.DefaultCollation
}

// helped finds the table that a procedure is about.
func (s *Session) helped(db *Database, full string) (*object, error) {
	parts := nameParts(full)
	schema := s.defaultSchema(db)
	if len(parts) > 1 && parts[len(parts)-2] != "" {
		schema = parts[len(parts)-2]
	}
	if name := parts[len(parts)-1]; db.Name == tempdb && isTemporary(name) {
		for _, k := range slices.Backward(s.temporaries) { // the newest of the name, which the catalog shows at length
			if sqltype.EqualName(k.name, name) {
				parts, schema = []string{k.kept}, "dbo"
				break
			}
		}
	}
	for _, o := range s.objects(db) {
		if sqltype.EqualName(o.name, parts[len(parts)-1]) && sqltype.EqualName(o.schema, schema) {
			return &o, nil
		}
	}
	return nil, sqltype.Errorf(15009, "The object '%s' does not exist in database '%s' or is invalid for this operation.", full, db.Name)
}

// about finds the table that a procedure is asked about. A system object is refused: it has more to be told than there is here (Microsoft:
// sp_help (Transact-SQL), sp_helptext (Transact-SQL)).
func (s *Session) about(db *Database, full string) (*object, error) {
	if err := inDatabase(db, full); err != nil {
		return nil, err
	}
	o, err := s.helped(db, full)
	if err != nil && s.systemObject(full) {
		return nil, sqltype.Unsupported("what is to be told of the system object %s", full)
	}
	return o, err
}

// inDatabase refuses the name of an object of another database (Microsoft: Database engine events and errors, 15250).
func inDatabase(db *Database, full string) error {
	if parts := nameParts(full); len(parts) > 2 && parts[len(parts)-3] != "" && !sqltype.EqualName(parts[len(parts)-3], db.Name) {
		return sqltype.Errorf(15250, "The database name component of the object qualifier must be the name of the current database.")
	}
	return nil
}

// systemObject tells whether a server has a system object of a name, be it here or not.
func (s *Session) systemObject(full string) bool {
	parts := nameParts(full)
	schema, name := "", parts[len(parts)-1]
	if len(parts) > 1 {
		schema = lower(parts[len(parts)-2])
	}
	switch schema {
	case "", "dbo", "sys":
		return s.documented(anywhere, name) || s.documented("sys", name)
	}
	return s.documented(schema, name)
}

// spHelpIndex is Microsoft: sp_helpindex (Transact-SQL).
func spHelpIndex(s *Session, db *Database, a args) (*tsql.Rows, error) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	o, err := s.about(db, a.str("@objname"))
	if err != nil {
		return nil, err
	}
	r := helpIndex(o)
	if len(r.Data) == 0 {
		return &tsql.Rows{Messages: []*sqltype.Error{{Number: 15472, State: 1, Message: fmt.Sprintf("The object '%s' does not have any indexes, or you do not have permissions.", a.str("@objname"))}}}, nil
	}
	return r, nil
}

func helpIndex(o *object) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{ncol("index_name", sysname), ncol("index_description", sqltype.Str(sqltype.VarChar, 210)), ncol("index_keys", sqltype.Str(sqltype.NVarChar, 2078))}}
	names := map[int]string{}
	for _, c := range o.securable().cols {
		names[c.id] = c.name
	}
	for _, x := range o.storages() {
		if x.id == 0 {
			continue
		}
		_, typ := x.typ()
		words := []string{strings.ToLower(typ)}
		for _, w := range []struct {
			on   bool
			word string
		}{{x.unique, "unique"}, {x.primary, "primary key"}, {x.unconstr, "unique key"}} {
			if w.on {
				words = append(words, w.word)
			}
		}
		var keys []string
		for i, id := range x.cols {
			k := names[id]
			if x.desc[i] {
				k += "(-)"
			}
			keys = append(keys, k)
		}
		r.Data = append(r.Data, sqltype.Row{text(x.name), text(strings.Join(words, ", ") + " located on PRIMARY"), text(strings.Join(keys, ", "))})
	}
	return r
}

func helpConstraints(o *object) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{ncol("constraint_type", sqltype.Str(sqltype.NVarChar, 146)), ncol("constraint_name", sysname), ncol("delete_action", sqltype.Str(sqltype.NVarChar, 9)), ncol("update_action", sqltype.Str(sqltype.NVarChar, 9)),
		ncol("status_enabled", sqltype.Str(sqltype.VarChar, 8)), ncol("status_for_replication", sqltype.Str(sqltype.VarChar, 19)), ncol("constraint_keys", sqltype.Str(sqltype.NVarChar, 2126))}}
	if o.in != nil {
		return r
	}
	na := text("(n/a)")
	add := func(typ, name string, enabled sqltype.Value, keys string) {
		r.Data = append(r.Data, sqltype.Row{text(typ), text(name), na, na, enabled, na, text(keys)})
	}
	status := func(disabled bool) sqltype.Value {
		return text(map[bool]string{true: "Disabled", false: "Enabled"}[disabled])
	}
	for _, c := range o.table.checks {
		add("CHECK", c.Name, status(c.disabled), c.Condition.Text)
	}
	for _, k := range o.table.foreign {
		replicated := text("Is_For_Replication")
		if k.NotForReplication {
			replicated = text("Not_For_Replication")
		}
		action := func(a tsql.ReferentialAction) sqltype.Value {
			words := strings.Fields(strings.ToLower(a.String()))
			for i, w := range words {
				words[i] = strings.ToUpper(w[:1]) + w[1:]
			}
			return text(strings.Join(words, " "))
		}
		r.Data = append(r.Data, sqltype.Row{text("FOREIGN KEY"), text(k.name), action(k.OnDelete), action(k.OnUpdate), status(k.disabled), replicated, text(strings.Join(o.table.names(k.cols), ", "))},
			sqltype.Row{text(" "), text(" "), text(" "), text(" "), text(" "), text(" "), text("REFERENCES " + k.to.db.Name + "." + k.to.FullName() + " (" + strings.Join(k.to.names(k.refs), ", ") + ")")})
	}
	for _, c := range o.table.columns {
		if c.Named != nil {
			add("DEFAULT on column "+c.Name, c.Named.Name, na, c.Named.Expr.Text)
		}
	}
	for _, x := range o.table.indexes {
		if x.kind == tsql.PlainIndex {
			continue
		}
		typ := map[bool]string{true: "PRIMARY KEY (", false: "UNIQUE ("}[x.kind == tsql.PrimaryKey] + map[bool]string{true: "clustered)", false: "non-clustered)"}[x.clustered]
		add(typ, x.name, na, strings.Join(o.table.names(x.cols), ", "))
	}
	return r
}

// spWho is Microsoft: sp_who (Transact-SQL): all sessions for those with VIEW SERVER STATE, else one's own.
func spWho(s *Session, _ *Database, a args) (*tsql.Rows, error) {
	r := &tsql.Rows{Cols: []tsql.Column{col("spid", small), col("ecid", small), col("status", sqltype.Str(sqltype.NChar, 30)), ncol("loginame", sysname), col("hostname", sqltype.Str(sqltype.NChar, 128)), col("blk", sqltype.Str(sqltype.Char, 5)),
		ncol("dbname", sysname), col("cmd", sqltype.Str(sqltype.NChar, 26)), col("request_id", integer)}}
	who := a.str("@loginame")
	if who != "" && !strings.EqualFold(who, "active") && s.srv.Login(who) == nil {
		if _, err := fmt.Sscanf(who, "%d", new(int)); err != nil {
			return nil, sqltype.Errorf(15007, "'%s' is not a valid login or you do not have permission.", who)
		}
	}
	for _, x := range s.sessions() {
		if who != "" && !strings.EqualFold(who, "active") && !sqltype.EqualName(x.login, who) && fmt.Sprint(x.SPID) != who {
			continue
		}
		status, cmd := "sleeping", "AWAITING COMMAND"
		if x.SPID == s.SPID {
			status, cmd = "runnable", "SELECT"
		} else if strings.EqualFold(who, "active") {
			continue
		}
		r.Data = append(r.Data, sqltype.Row{num(int64(x.SPID)), num(0), text(fmt.Sprintf("%-30s", status)), text(x.login), text(fmt.Sprintf("%-128s", "")), text("0    "), orNull(x.database), text(fmt.Sprintf("%-26s", cmd)), num(0)})
	}
	return r, nil
}
