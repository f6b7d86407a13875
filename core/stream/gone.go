package stream

import (
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// TableGone is the diagnostic of a bronze table that does not exist, while the
// log of its stream knows of batches, the last of which ended at a position.
func TableGone(target string, end plugin.Position) error {
	return diag.Errorf(diag.KindStale, "stream.table_gone", "Restore the table. "+plugin.LoadAnew,
		"Table %s does not exist, but the stream has written to it up to %s", target, end.Text).Err()
}
