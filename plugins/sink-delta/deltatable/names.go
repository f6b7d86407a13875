package deltatable

import (
	"strings"

	"github.com/pipectl/pipectl/plugins/sink-delta/deltalog"
)

// mappingModeProperty is the table property of column mapping.
const mappingModeProperty = "delta.columnMapping.mode"

// hasOddName says whether a column at any depth has a name that needs column
// mapping.
func hasOddName(s *deltalog.Struct) bool { return len(oddColumns(s)) > 0 }

// oddColumns are the names that need column mapping.
func oddColumns(t deltalog.Type) []string {
	var out []string
	switch t := t.(type) {
	case *deltalog.Struct:
		for _, f := range t.Fields {
			if strings.ContainsAny(f.Name, oddNames) {
				out = append(out, f.Name)
			}
			out = append(out, oddColumns(f.Type)...)
		}
	case *deltalog.Array:
		out = oddColumns(t.Element)
	case *deltalog.Map:
		out = append(oddColumns(t.Key), oddColumns(t.Value)...)
	}
	return out
}
