package cdc

import (
	"slices"
	"strings"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
)

// neverProperties are properties that no object here has: they are 0 of the objects that they are about.
const neverProperties = `execisaftertrigger execisdeletetrigger execisfirstdeletetrigger execisfirstinserttrigger
	execisfirstupdatetrigger execisinserttrigger execisinsteadoftrigger execislastdeletetrigger execislastinserttrigger execislastupdatetrigger execisstartup execistriggerdisabled
	execistriggernotforrepl execisupdatetrigger execiswithnativecompilation hasaftertrigger hasdeletetrigger hasinserttrigger hasinsteadoftrigger hasupdatetrigger isdefault isencrypted
	isextendedproc isqueue isreplproc isrule isscalarfunction isschemabound issystemtable istrigger isview tabledeletetrigger tabledeletetriggercount tablefulltextmergestatus
	tablefulltextbackgroundupdateindexon tablefulltextcatalogid tablefulltextchangetrackingon tablefulltextpopulatestatus tablehasactivefulltextindex tablehasdeletetrigger 
	 tablehasinserttrigger tablehasupdatetrigger tablehasvardecimalstorageformat tableinserttrigger tableinserttriggercount tableisfake
	tableislockedonbulkload tableismemoryoptimized tableispinned tabletextinrowlimit tableupdatetrigger tableupdatetriggercount tablehascolumnset tabletemporaltype`

// untoldProperties are documented and not built.
const untoldProperties = `isdeterministic issystemverified systemdataaccess userdataaccess isprecise tablefulltextdocsprocessed tablefulltextfailcount tablefulltextitemcount tablefulltextkeycolumn
	tablefulltextpendingchanges tablefulltextsemanticextraction isindexable`

// objectProperty is OBJECTPROPERTY, and OBJECTPROPERTYEX in a sql_variant (Microsoft: OBJECTPROPERTY (Transact-SQL),
// OBJECTPROPERTYEX (Transact-SQL)): NULL of an object that is not there or may not be seen, and for what is no property.
func (s *Session) objectProperty(db *Database, id int64, property string, extended bool) (sqltype.Value, error) {
	var p *part
	for _, x := range s.parts(db) {
		if int64(x.id) == id {
			p = &x
			break
		}
	}
	if p == nil {
		return null, nil
	}
	property = lower(property)
	answer := func(v sqltype.Value, t sqltype.Type) (sqltype.Value, error) {
		if extended {
			return asVariant(v, t), nil
		}
		return v, nil
	}
	switch {
	case extended && property == "basetype":
		return answer(text(p.typ), sqltype.Str(sqltype.Char, 2))
	case extended && property == "cardinality":
		if p.typ != "U " || p.table == nil {
			return null, nil
		}
		return answer(num(p.object.count()), bigint)
	case property == "ownerid":
		return answer(num(int64(db.sec.ownerID(p.schema))), integer)
	case property == "schemaid":
		k, _ := db.schemaID(p.schema)
		return answer(num(int64(k)), integer)
	case slices.Contains(strings.Fields(untoldProperties), property):
		return null, sqltype.Unsupported("the property %s of OBJECTPROPERTY", property)
	case slices.Contains(strings.Fields(neverProperties), property):
		return answer(num(0), integer)
	}
	v := s.partProperty(db, p, property)
	if v.IsNull() {
		return v, nil
	}
	return answer(v, integer)
}

// partProperty gives the properties that are true of some objects.
func (s *Session) partProperty(db *Database, p *part, property string) sqltype.Value {
	switch property {
	case "ismsshipped":
		return flag(p.in != nil || p.shipped)
	case "isusertable", "istable":
		return flag(p.typ == "U ")
	case "isprocedure":
		return flag(p.typ == "P ")
	case "isexecuted":
		return flag(p.typ == "P " || p.typ == "IF")
	case "isinlinefunction", "istablefunction":
		return flag(p.typ == "IF")
	case "isprimarykey":
		return flag(p.typ == "PK")
	case "isuniquecnst":
		return flag(p.typ == "UQ")
	case "ischeckcnst":
		return flag(p.typ == "C ")
	case "isdefaultcnst":
		return flag(p.typ == "D ")
	case "isforeignkey":
		return flag(p.key != nil)
	case "isconstraint":
		return flag(p.index != nil || p.check != nil || p.column != nil || p.key != nil)
	case "cnstisdeletecascade", "cnstisupdatecascade":
		return flag(p.key != nil && (property == "cnstisdeletecascade" && p.key.OnDelete.String() == "CASCADE" || property == "cnstisupdatecascade" && p.key.OnUpdate.String() == "CASCADE"))
	case "cnstisdisabled":
		return flag(p.key != nil && p.key.disabled || p.check != nil && p.check.disabled)
	case "cnstisnotrepl":
		return flag(p.key != nil && p.key.NotForReplication || p.check != nil && p.check.NotForReplication)
	case "cnstisclustkey":
		return flag(p.index != nil && p.index.clustered)
	case "cnstisnonclustkey":
		return flag(p.index != nil && !p.index.clustered)
	case "cnstiscolumn":
		return flag(p.column != nil || p.check != nil && p.check.Column != "")
	case "cnstisnottrusted":
		return flag(p.check != nil && p.check.Unchecked || p.key != nil && p.key.untrusted)
	case "isansinullson", "execisansinullson", "isquotedidenton", "execisquotedidenton":
		for _, r := range s.routinesOf(db) {
			if r.ID == p.id {
				return flag(strings.Contains(property, "ansi") && r.AnsiNulls || strings.Contains(property, "quoted") && r.QuotedIdentifier)
			}
		}
		if strings.HasPrefix(property, "exec") {
			return null
		}
		return flag(true)
	}
	if p.typ != "U " || p.table == nil {
		return null
	}
	return p.tableProperty(property)
}

// tableProperty gives those of tables.
func (p *part) tableProperty(property string) sqltype.Value {
	own := p.in == nil // not a change table
	kinds := map[string]func(sqltype.Type) bool{
		"tablehastextimage": func(t sqltype.Type) bool {
			return t.Kind == sqltype.Text || t.Kind == sqltype.NText || t.Kind == sqltype.Image
		},
		"tablehastimestamp": func(t sqltype.Type) bool { return t.Kind == sqltype.RowVersion },
	}
	if is := kinds[property]; is != nil {
		cols := p.table.describe()
		if !own {
			cols = p.in.changeColumns()
		}
		found := false
		for _, c := range cols {
			found = found || is(c.Type)
		}
		return flag(found)
	}
	has := func(match func(x *storage) bool) sqltype.Value {
		for _, x := range p.object.storages() {
			if x.id > 0 && match(&x) {
				return flag(true)
			}
		}
		return flag(false)
	}
	switch property {
	case "tablehasprimarykey":
		return has(func(x *storage) bool { return x.primary })
	case "tablehasuniquecnst":
		return has(func(x *storage) bool { return x.unconstr })
	case "tablehasclustindex":
		return has(func(x *storage) bool { return x.clustered })
	case "tablehasnonclustindex":
		return has(func(x *storage) bool { return !x.clustered })
	case "tablehasindex", "isindexed":
		return has(func(*storage) bool { return true })
	case "tablehascheckcnst":
		return flag(own && len(p.table.checks) > 0)
	case "tablehasforeignkey":
		return flag(own && len(p.table.foreign) > 0)
	case "tablehasforeignref":
		from, _ := p.table.referenced(false)
		return flag(own && from != nil)
	case "tablehasidentity":
		return flag(own && p.table.identityColumn() != nil)
	case "tablehasrowguidcol":
		return flag(own && slices.ContainsFunc(p.table.columns, func(c *column) bool { return c.RowGUID }))
	case "tablehasdefaultcnst":
		found := false
		for _, c := range p.table.columns {
			found = found || c.Named != nil
		}
		return flag(own && found)
	}
	return null
}
