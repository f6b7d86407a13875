package command

import (
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/planner"
)

// notAccepted warns that nothing was accepted in a lake: it may be another one than
// the one that is meant, as that of a relative root is in another folder.
func (w *workspace) notAccepted(lake *planner.Lake) diag.List {
	none := lake.NoState()
	if none == "" {
		return nil
	}
	return w.config.Locate(lake.Sink.Addr, diag.List{diag.Warningf("status.not_accepted",
		"`pipectl apply` begins one there. If there is one elsewhere, start pipectl where its path leads to it.", "Nothing was accepted yet: %s", none)})
}

// absent says why there is no table: nothing made it yet, in the lake that was
// looked at.
func absent(lake *planner.Lake) string {
	if none := lake.NoState(); none != "" {
		return "nothing was accepted yet: " + none + ". Run pipectl apply, or start pipectl where its path leads to the lake"
	}
	return "the table does not exist yet: run pipectl apply"
}
