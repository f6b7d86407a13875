package silver

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// writer marks the commits of this plugin.
const writer = "pipectl/silver"

// mark is the user metadata of a merge: who made it, and how far it brought
// the table.
type mark struct {
	Writer  string `json:"writer"`
	Target  string `json:"target"`
	Applied string `json:"applied_lsn"`
	Rebuilt string `json:"snapshot_lsn,omitempty"`
}

// text is the mark as it stands in the commit.
func (m mark) text() (string, error) {
	data, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("marking the commit to %s: %w", m.Target, err)
	}
	return string(data), nil
}

// ours reports whether this plugin made a commit.
func ours(c plugin.Commit) bool {
	var m mark
	return json.Unmarshal([]byte(c.UserMetadata), &m) == nil && m.Writer == writer
}

// changedByOthers is the newest version in which another writer changed rows,
// nil when none did: the one that is known with the position, or a newer one. A
// version that nobody stored, as in control rows of older releases, tells nothing.
func changedByOthers(ctx context.Context, host plugin.Host, target plugin.TableState, position plugin.TargetPosition) (*int64, error) {
	foreign := position.Foreign
	if position.Version == nil || !target.Exists {
		return foreign, nil
	}
	stored, name := *position.Version, target.Table.Name
	if target.Version == stored {
		return foreign, nil
	}
	commits, err := host.Tables.History(ctx, plugin.HistoryRequest{Table: target.Table, After: stored})
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
		if c.DataChange && !ours(c) {
			foreign = new(c.Version)
		}
	}
	if next < target.Version { // the same of the newest ones
		foreign = new(target.Version)
	}
	return foreign, nil
}

// warnForeign says that another writer changed rows.
func warnForeign(target string, foreign *int64) diag.List {
	if foreign == nil {
		return nil
	}
	return diag.List{plugin.ForeignCommit(target, *foreign)}
}
