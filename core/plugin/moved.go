package plugin

import (
	"slices"
	"strings"

	"github.com/pipectl/pipectl/core/diag"
)

// moved are the ends of the codes, behind the name of the sink's type and a dot, by
// which a sink says that a table is not the one that a call began with: it is not
// the one with the id that was asked for, another came in its place meanwhile, or
// there is none.
var moved = []string{".stale", ".replaced", ".no_table"}

// TableMoved reports whether a call failed because a sink found a table gone, or
// another one in its place. A call that begins anew goes by what is there. Other
// errors of kind stale are refusals, which stand.
func TableMoved(err error) bool {
	if diag.KindOf(err) != diag.KindStale {
		return false
	}
	return slices.ContainsFunc(diag.FromError(err), func(d diag.Diagnostic) bool {
		return d.Kind == diag.KindStale && slices.ContainsFunc(moved, func(end string) bool { return strings.HasSuffix(d.Code, end) })
	})
}
