package stream

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// CodeDiscontinued is of columns that the source has and its changes lack.
const CodeDiscontinued = "stream.column_discontinued"

// LeftOutProperty stands on bronze and lists, in JSON, the columns that its rows,
// or some of them, were read without: apply writes it, and with it accepts them.
const LeftOutProperty = "pipectl.left_out"

// PropertyNames reads a property of a table that lists names in JSON; known is
// false when the table has none.
func PropertyNames(have plugin.TableState, property string) (names []string, known bool) {
	text, ok := have.Properties[property]
	if !ok || json.Unmarshal([]byte(text), &names) != nil {
		return nil, false
	}
	return names, true
}

// accepts refuses a batch whose rows lack a column that bronze has and the table
// at the source too, unless apply accepted that. The plan of the run cannot have
// told it: the source changed since, as under a watch that runs for weeks. Silver
// would have NULL there, and nothing would stop it.
func (s *stream) accepts(discontinued []string) error {
	leftOut, _ := PropertyNames(s.bronze, LeftOutProperty)
	var names []string
	for _, name := range discontinued {
		if !slices.ContainsFunc(leftOut, func(accepted string) bool { return strings.EqualFold(accepted, name) }) {
			names = append(names, name)
		}
	}
	if names == nil {
		return nil
	}
	what := "column"
	if len(names) > 1 {
		what = "columns"
	}
	return diag.Errorf(diag.KindStale, CodeDiscontinued,
		"Nothing of the batch was read: rows of it have NULL there, and so would silver. Have the source give it again, or leave it out with exclude. Or look at it with `pipectl plan`, then accept it with `pipectl apply`.",
		"The source no longer gives the %s %s of %s, though it has it", what, strings.Join(names, ", "), s.Bronze.Name).At("target").Err()
}
