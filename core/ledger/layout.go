package ledger

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// CodeTableOld is the code of the diagnostic about a table of the ledger that has
// to be migrated before this program writes to it.
const CodeTableOld = "ledger.table_old"

// CodeTableNewer is that of one which newer code has migrated, and which lacks
// columns that this program writes.
const CodeTableNewer = "ledger.table_newer"

// outdated is Due for tables of the ledger. They also have columns of pipectl's
// own, which the schema version does not count: it is shared with other writers.
func (l *Ledger) outdated(state plugin.TableState, s plugin.TableSpec, warn func(diag.Diagnostic)) (bool, error) {
	if err := strange(state, s); err != nil {
		return false, err
	}
	if state.Writable != "" {
		return false, diag.Errorf(diag.KindUnsupported, "table.not_writable", state.Writable+" "+l.elsewhere(s.Table), "Table %s cannot be written", s.Table.Name).Err()
	}
	due, err := Due(state, s, warn)
	if err != nil || due {
		return due, err
	}
	return len(lacking(state, s)) > 0, nil
}

// lacking are the columns of the spec that a table does not have.
func lacking(state plugin.TableState, s plugin.TableSpec) []string {
	var names []string
	for _, f := range s.Schema.Fields() {
		if !slices.ContainsFunc(state.Schema.Fields(), func(have arrow.Field) bool { return strings.EqualFold(have.Name, f.Name) }) {
			names = append(names, f.Name)
		}
	}
	return names
}

// versions are the schema version of a table and that of the spec. Both were read
// before, so neither fails here.
func versions(state plugin.TableState, s plugin.TableSpec) (have, known int) {
	have, _ = versionOf(state, PropertySchemaVersion)
	known, _ = strconv.Atoi(s.Properties[PropertySchemaVersion])
	return have, known
}

// forward is the spec for a table that is there already: a schema version of newer
// code stays, for it tells that code what the table has had.
func forward(state plugin.TableState, s plugin.TableSpec) plugin.TableSpec {
	if have, known := versions(state, s); state.Exists && have > known {
		s.Properties = maps.Clone(s.Properties)
		s.Properties[PropertySchemaVersion] = state.Properties[PropertySchemaVersion]
	}
	return s
}

// old is the error of a write to a table that is not as this program writes it. It
// says what the table is: a version tells older from newer; without our own columns
// it may be of an older pipectl or of another program of this layout.
func old(state plugin.TableState, s plugin.TableSpec) error {
	const migrate = "`pipectl plan` shows what it gets, and `pipectl apply` does it; its rows stay."
	name, columns := state.Table.Name, lacking(state, s)
	have, known := versions(state, s)
	lacks := ""
	switch len(columns) {
	case 0:
	case 1:
		lacks = "lacks the column " + columns[0]
	default:
		lacks = "lacks the columns " + strings.Join(columns, ", ")
	}
	age := func(release string) string {
		text := fmt.Sprintf("is of %s release, with the schema version %d (this pipectl writes %d)", release, have, known)
		if lacks != "" {
			text += ": it " + lacks
		}
		return text
	}
	switch {
	case have < known:
		return diag.Errorf(diag.KindStale, CodeTableOld, migrate, "Table %s %s", name, age("an older")).Err()
	case have > known:
		return diag.Errorf(diag.KindStale, CodeTableNewer,
			"A newer pipectl, or another program of this layout, has migrated it: use that one for this lake. If this one is to go on, `pipectl apply` adds what is missing, as `pipectl plan` shows; its rows and its version stay.",
			"Table %s %s", name, age("a newer")).Err()
	}
	return diag.Errorf(diag.KindStale, CodeTableOld, "It is of an older pipectl, or of another program of this layout, or somebody dropped them. "+migrate,
		"Table %s %s, which this pipectl writes", name, lacks).Err()
}
