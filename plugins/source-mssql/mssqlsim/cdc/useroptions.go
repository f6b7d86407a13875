package cdc

import (
	"cmp"
	"strconv"

	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/sqltype"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssqlsim/tsql"
)

// driverTextSize is the TEXTSIZE of a login that comes from a driver (Microsoft: [MS-TDS] LOGIN7, fODBC).
const driverTextSize = 1<<31 - 1

var isolationNames = map[tsql.Isolation]string{tsql.ReadUncommitted: "read uncommitted", tsql.ReadCommitted: "read committed", tsql.RepeatableRead: "repeatable read",
	tsql.Serializable: "serializable", tsql.Snapshot: "snapshot"}

// shownOptions are the options of which DBCC USEROPTIONS tells when they are set, with their bit of @@OPTIONS.
var shownOptions = []struct {
	bit  int64
	name string
}{{256, "quoted_identifier"}, {64, "arithabort"}, {128, "arithignore"}, {512, "nocount"}, {1024, "ansi_null_dflt_on"}, {2048, "ansi_null_dflt_off"}, {2, "implicit_transactions"},
	{4, "cursor_close_on_commit"}, {8, "ansi_warnings"}, {16, "ansi_padding"}, {32, "ansi_nulls"}, {4096, "concat_null_yields_null"}, {8192, "numeric_roundabort"}, {16384, "xact_abort"}}

// UserOptions is DBCC USEROPTIONS. Options come in the order of the page, the ones that it does not show behind their
// neighbours (Microsoft: DBCC USEROPTIONS (Transact-SQL)).
func (s *Session) UserOptions() *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{ncol("Set Option", sqltype.Str(sqltype.NVarChar, 128)), ncol("Value", sqltype.Str(sqltype.NVarChar, 46))}}
	add := func(name, value string) { r.Data = append(r.Data, sqltype.Row{text(name), text(value)}) }
	l := &s.settings.Locale
	add("textsize", strconv.FormatInt(s.textSize(), 10))
	add("language", l.Language().Name)
	add("dateformat", l.Order())
	add("datefirst", strconv.Itoa(l.First()))
	add("lock_timeout", strconv.FormatInt(s.LockTimeout(), 10))
	for _, o := range shownOptions {
		if s.settings.Options&o.bit != 0 {
			add(o.name, "SET")
		}
	}
	level := isolationNames[s.isolation]
	if s.isolation == tsql.ReadCommitted && s.db.rcsi.Load() {
		level = "read committed snapshot"
	}
	add("isolation level", level)
	return r
}

// option tells whether an option of @@OPTIONS is set, by its name.
func (s *Session) option(name string) bool {
	for _, o := range shownOptions {
		if o.name == name {
			return s.settings.Options&o.bit != 0
		}
	}
	return false
}

// sessionProperty is Microsoft: SESSIONPROPERTY (Transact-SQL). NULL is what is none of its names.
func (s *Session) sessionProperty(name sqltype.Value) (sqltype.Value, error) {
	switch n := lower(name.Str()); n {
	case "ansi_nulls", "ansi_padding", "ansi_warnings", "arithabort", "concat_null_yields_null", "numeric_roundabort", "quoted_identifier":
		return sqltype.Convert(flagNumber(s.option(n)), integer, sqltype.Of(sqltype.Variant), 0)
	}
	return null, nil
}

func flagNumber(on bool) sqltype.Value {
	if on {
		return num(1)
	}
	return num(0)
}

// textSize is @@TEXTSIZE.
func (s *Session) textSize() int64 { return cmp.Or(s.settings.TextSize, driverTextSize) }

// sysLanguages is Microsoft: sys.syslanguages (Transact-SQL).
func sysLanguages(*Session, *Database) *tsql.Rows {
	r := &tsql.Rows{Cols: []tsql.Column{col("langid", small), col("dateformat", sqltype.Str(sqltype.NChar, 3)), col("datefirst", tiny), col("upgrade", integer), col("name", sysname), col("alias", sysname),
		ncol("months", sqltype.Str(sqltype.NVarChar, 372)), ncol("shortmonths", sqltype.Str(sqltype.NVarChar, 132)), ncol("days", sqltype.Str(sqltype.NVarChar, 217)), col("lcid", integer), col("msglangid", small)}}
	for _, l := range sqltype.Languages() {
		r.Data = append(r.Data, sqltype.Row{num(int64(l.ID)), text(l.Order), num(int64(l.First)), num(0), text(l.Name), text(l.Alias), text(l.Months), text(l.Short), text(l.Days),
			num(int64(l.LCID)), num(int64(l.Messages))})
	}
	return r
}
