package mssql

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/source-mssql/mssql/tsql"
)

// shape is the structure of a table's rows. It is fixed for a session: columns
// that appear later need a new one.
type shape struct {
	columns   []outColumn
	commandID bool
}

// outColumn is one column after the metadata columns, in the spelling of the
// oldest instance that captures it.
type outColumn struct {
	name string
	typ  outType
	// chosen is true when a rule named the type; it is then not compared with
	// what the instances report.
	chosen bool
}

// reserved are the names that columns of a table cannot have.
var reserved = []string{
	plugin.ColumnCaptureInstance, plugin.ColumnStartLSN, plugin.ColumnSeqval, plugin.ColumnOperation, plugin.ColumnCommandID,
	plugin.ColumnCommitTS, plugin.ColumnBatchID, plugin.ColumnSnapshot, plugin.ColumnChunk,
}

// arrow is the shape of the rows; columns projects, nil means all.
func (s shape) arrow(columns []string) *arrow.Schema {
	fields := []arrow.Field{
		{Name: plugin.ColumnCaptureInstance, Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: plugin.ColumnStartLSN, Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: plugin.ColumnSeqval, Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: plugin.ColumnOperation, Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	}
	if s.commandID {
		fields = append(fields, arrow.Field{Name: plugin.ColumnCommandID, Type: arrow.PrimitiveTypes.Int32, Nullable: true})
	}
	fields = append(fields, arrow.Field{Name: plugin.ColumnCommitTS, Type: &arrow.TimestampType{Unit: arrow.Microsecond}, Nullable: true})
	for _, c := range s.columns {
		if columns == nil || slices.Contains(columns, c.name) {
			fields = append(fields, arrow.Field{Name: c.name, Type: c.typ.arrow(), Nullable: true})
		}
	}
	return arrow.NewSchema(fields, nil)
}

func (s shape) find(name string) (outColumn, bool) {
	for _, c := range s.columns {
		if strings.EqualFold(c.name, name) {
			return c, true
		}
	}
	return outColumn{}, false
}

// inferShape is the union of what the instances of a table capture, oldest
// first, after the rules. It reports what stands in the way, and computed
// columns that are left out.
func inferShape(instances []captured, cfg tableConfig) (shape, diag.List) {
	var list diag.List
	s := shape{commandID: cfg.read.commandID}
	used := make([]bool, len(cfg.rules))
	var computed []string
	for _, ci := range instances {
		for _, col := range ci.columns {
			ruled := findRule(cfg.rules, col.name)
			var r rule
			if ruled >= 0 {
				used[ruled], r = true, cfg.rules[ruled]
			}
			if r.drop {
				continue
			}
			if col.computed {
				if !slices.Contains(computed, col.name) {
					computed = append(computed, col.name)
				}
				continue
			}
			if problem := s.add(instances, ci, col, r); problem != nil {
				list = append(list, *problem)
			}
		}
	}
	for i, r := range cfg.rules {
		if !used[i] {
			list = append(list, unknownColumn(r.name, instances))
		}
	}
	if len(computed) > 0 {
		list = append(list, diag.Warningf(codeComputed, "Change data capture stores NULL for computed columns, so they are left out. Naming them in exclude says that this is known.",
			"%s: left out computed columns %s", cfg.label(), strings.Join(computed, ", ")))
	}
	return s, list
}

// add adds a column or widens it to what a newer instance reports.
func (s *shape) add(instances []captured, ci captured, col column, r rule) *diag.Diagnostic {
	place := func(d diag.Diagnostic) *diag.Diagnostic {
		d = d.At("columns", col.name)
		d.Data = map[string]string{"capture_instance": ci.name, "column": col.name}
		return &d
	}
	if slices.ContainsFunc(reserved, func(n string) bool { return strings.EqualFold(n, col.name) }) {
		return place(diag.Errorf(diag.KindConfiguration, codeReservedName, unusableName(col.name),
			"The column %s.%s has a name that the change log uses itself", ci.name, col.name))
	}
	if _, err := tsql.Quote(col.name); err != nil {
		return place(diag.Errorf(diag.KindConfiguration, codeColumnName, unusableName(col.name),
			"A column of %s cannot be named in a statement: %v", ci.name, err))
	}
	natural, ok := col.sql.output()
	if !ok {
		return place(diag.Errorf(diag.KindConfiguration, codeColumnType, fmt.Sprintf("Leave it out with columns = { %s = { drop = true } }.", inHCL(col.name)),
			"The column %s.%s has the type %s, which cannot be read", ci.name, col.name, col.sql))
	}
	typ, chosen := natural, r.as.kind != kindInvalid
	if chosen {
		if !natural.casts(r.as) {
			return place(diag.Errorf(diag.KindConfiguration, codeColumnRule, asAdvice(natural), "The column %s of type %s cannot be read as %s", col.name, col.sql, r.as))
		}
		typ = r.as
	}
	for i, have := range s.columns {
		switch {
		case !strings.EqualFold(have.name, col.name):
			continue
		case chosen || typ.fits(have.typ):
		case have.typ.fits(typ):
			s.columns[i].typ = typ
		default:
			older := instances[0].name
			detail := oneTypeAdvice(col.name, have.typ, typ)
			detail += fmt.Sprintf("eave it out with exclude = [%s]. Where no stream needs what %s has from before %s any more, that instance can be disabled instead.", inHCL(col.name), older, ci.start)
			return place(diag.Errorf(diag.KindSchemaChanged, codeSchemaChanged, detail,
				"The column %s is %s in %s and %s in %s: neither type holds the other", col.name, have.typ, older, col.sql, ci.name))
		}
		return nil
	}
	s.columns = append(s.columns, outColumn{name: col.name, typ: typ, chosen: chosen})
	return nil
}

// unusableName is what to do about a column whose name cannot be used. SQL Server
// renames no column that is captured: error 4928 (Microsoft: Database engine events and
// errors).
func unusableName(name string) string {
	return fmt.Sprintf("Leave it out with columns = { %s = { drop = true } }. SQL Server renames no captured column: to read it, disable capture of the table, rename the column, and enable capture anew.", inHCL(name))
}

// oneTypeAdvice says as what a column can be read that is of two types; what it can
// be left out with follows, without its first letter. Both can be text, but for
// bytes. The tables have the older type, which the newer may be read as, too.
func oneTypeAdvice(name string, older, newer outType) string {
	text := outType{kind: kindString}
	if !older.casts(text) || !newer.casts(text) {
		return "L"
	}
	advice := fmt.Sprintf("Read it as one type with columns = { %s = { as = \"string\" } }", inHCL(name))
	if older != text && newer.casts(older) {
		advice += fmt.Sprintf(", or as %q where all values are", older)
	}
	return advice + ". Tables with rows of another type cannot take that: `pipectl plan` tells. Or l"
}

// inHCL is a name as a string of the configuration, whose escapes are fewer
// than those of Go (HCL Native Syntax Specification: Template Expressions).
func inHCL(name string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range name {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case (r == '$' || r == '%') && strings.HasPrefix(name[i+1:], "{"):
			b.WriteRune(r)
			b.WriteRune(r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// asAdvice says what as can be for a column that is read as a type.
func asAdvice(natural outType) string {
	var fit []string
	for _, t := range outTypes {
		if natural.casts(t) {
			fit = append(fit, fmt.Sprintf("%q", t.word()))
		}
	}
	if len(fit) < 2 {
		return fmt.Sprintf("It can be read as %s only, which it is without as. Remove as.", natural)
	}
	return fmt.Sprintf("as can be %s here; without as it is read as %s.", strings.Join(fit, ", "), natural)
}

// findRule is the rule of a column: by its exact name, else ignoring case.
func findRule(rules []rule, name string) int {
	if i := slices.IndexFunc(rules, func(r rule) bool { return r.name == name }); i >= 0 {
		return i
	}
	return slices.IndexFunc(rules, func(r rule) bool { return strings.EqualFold(r.name, name) })
}

func unknownColumn(name string, instances []captured) diag.Diagnostic {
	var have []string
	var holders []string
	for _, ci := range instances {
		holders = append(holders, ci.name)
		for _, c := range ci.columns {
			if !slices.Contains(have, c.name) {
				have = append(have, c.name)
			}
		}
	}
	detail := "Captured are: " + diag.Columns(have) + "."
	if near := nearest(name, have); near != "" {
		detail += fmt.Sprintf(" Did you mean %s?", diag.Column(near))
	}
	return diag.Errorf(diag.KindConfiguration, codeColumnRule, detail, "No column %q is captured by %s", name, strings.Join(holders, " or ")).At("columns", name)
}

// nearest is the name that a misspelt one means, "" when none is near, or several
// are equally so. A third of the letters may differ, at least one and never all;
// letters in another order count half. The core has this for the words of its
// language, which is no part of the SDK: plugins know that alone.
func nearest(name string, have []string) string {
	name = strings.ToLower(name)
	length := len([]rune(name))
	best, least, alone := "", min(max(1, (length+1)/3), length-1), true
	for _, h := range have {
		lower := strings.ToLower(h)
		d := edits(name, lower)
		if slices.Equal(slices.Sorted(slices.Values([]rune(name))), slices.Sorted(slices.Values([]rune(lower)))) {
			d = (d + 1) / 2
		}
		switch {
		case d < least || d == least && best == "":
			best, least, alone = h, d, true
		case d == least && h != best:
			alone = false
		}
	}
	if !alone {
		return ""
	}
	return best
}

// nearestTable is the table that a misspelt one means: its schema or its name is
// written right.
func nearestTable(object tsql.Table, have []tsql.Table) string {
	byName, names := map[string]string{}, []string(nil)
	bySchema, schemas := map[string]string{}, []string(nil)
	for _, t := range have {
		if strings.EqualFold(t.Schema, object.Schema) {
			byName[t.Name], names = t.String(), append(names, t.Name)
		}
		if strings.EqualFold(t.Name, object.Name) {
			bySchema[t.Schema], schemas = t.String(), append(schemas, t.Schema)
		}
	}
	if near := nearest(object.Name, names); near != "" {
		return byName[near]
	}
	return bySchema[nearest(object.Schema, schemas)]
}

// edits is the Levenshtein distance in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// misfits lists captured columns whose type the shape cannot hold, and those
// that the shape lacks, as "name TYPE (read as type)".
func (s shape) misfits(ci captured, rules []rule) (unfit, unknown []string) {
	for _, col := range ci.columns {
		if i := findRule(rules, col.name); col.computed || i >= 0 && rules[i].drop {
			continue
		}
		out, ok := s.find(col.name)
		if !ok {
			unknown = append(unknown, col.name+" "+col.sql.String())
			continue
		}
		natural, known := col.sql.output()
		if !known || out.chosen && !natural.casts(out.typ) || !out.chosen && !natural.fits(out.typ) {
			unfit = append(unfit, fmt.Sprintf("%s %s (read as %s)", col.name, col.sql, out.typ))
		}
	}
	return unfit, unknown
}
