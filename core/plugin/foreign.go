package plugin

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pipectl/pipectl/core/diag"
)

// ChangedByOthers is the newest version of a target in which another writer
// changed rows, nil when none did: the one that is known with the position, or a
// newer one. A commit of the silver plugin names it in its user metadata, a JSON
// text with the member writer. A version that nobody stored, as in control rows
// of older releases, and a sink without histories tell nothing.
func ChangedByOthers(ctx context.Context, tables Tables, target TableState, position TargetPosition, writer string) (*int64, error) {
	foreign := position.Foreign
	if position.Version == nil || !target.Exists {
		return foreign, nil
	}
	stored, name := *position.Version, target.Table.Name
	if target.Version == stored {
		return foreign, nil
	}
	commits, err := tables.History(ctx, HistoryRequest{Table: target.Table, After: stored})
	if diag.Is(err, diag.KindUnsupported) { // a sink without histories cannot tell
		return foreign, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for commits of others to %s: %w", name, err)
	}
	next := stored
	for _, c := range commits {
		next++
		if c.Version > target.Version {
			break
		}
		if c.Version != next { // cleanup of the log took some, so nobody knows what they were
			foreign, next = new(c.Version-1), c.Version
		}
		if c.DataChange && !c.madeBy(writer) {
			foreign = new(c.Version)
		}
	}
	if next < target.Version { // the same of the newest ones
		foreign = new(target.Version)
	}
	return foreign, nil
}

// madeBy reports whether a commit names its writer so.
func (c Commit) madeBy(writer string) bool {
	var mark struct {
		Writer string `json:"writer"`
	}
	return json.Unmarshal([]byte(c.UserMetadata), &mark) == nil && mark.Writer == writer
}

// ForeignCommit is the warning that another program has changed rows of a
// target, last in a version of it.
func ForeignCommit(target string, version int64) diag.Diagnostic {
	return diag.Warningf("silver.foreign_commit",
		"Rows that it touched may differ from the source until they change there. A check with sample = 1 compares every row; when it finds them equal, this is said no more.",
		"Another program has changed rows of %s, last in version %d", target, version)
}
