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

// changedByOthers compares the target with the version at which its position
// was stored. A table that is behind it lacks what was applied, which is an
// error. The answer is the newest version in which another writer changed rows,
// nil when none did. A version that nobody stored, as in control rows of older
// releases, tells nothing. before and after are the target as it was pinned
// before and after the ledger was read.
func changedByOthers(ctx context.Context, host plugin.Host, before, after plugin.TableState, position plugin.TargetPosition) (*int64, error) {
	foreign := position.Foreign
	if position.Version == nil || !before.Exists {
		return foreign, nil
	}
	stored, name := *position.Version, before.Table.Name
	if before.Version < stored {
		if after.Version >= stored {
			return nil, overtaken(name)
		}
		return nil, diag.Errorf(diag.KindStale, "silver.rows_lost",
			"It was put back to an older version, or files of its log were removed: rows that were applied are missing. Restore it. To build it anew from bronze, give the silver another target.",
			"%s is at version %d, but its changes up to %s were applied by version %d", name, before.Version, position.Applied, stored).Err()
	}
	if before.Version == stored {
		return foreign, nil
	}
	commits, err := host.Tables.History(ctx, plugin.HistoryRequest{Table: before.Table, After: stored})
	if diag.Is(err, diag.KindUnsupported) { // a sink without histories cannot tell
		return foreign, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for commits of others to %s: %w", name, err)
	}
	next := stored
	for _, c := range commits {
		next++
		if c.Version > before.Version {
			break
		}
		if c.Version != next { // cleanup of the log took some, so nobody knows what they were
			foreign, next = new(c.Version-1), c.Version
		}
		if c.DataChange && !ours(c) {
			foreign = new(c.Version)
		}
	}
	if next < before.Version { // the same of the newest ones
		foreign = new(before.Version)
	}
	return foreign, nil
}

// warnForeign says that another writer changed rows.
func warnForeign(target string, foreign *int64) diag.List {
	if foreign == nil {
		return nil
	}
	return diag.List{diag.Warningf("silver.foreign_commit",
		"Rows that it touched may differ from the source until they change there. A check with sample = 1 compares every row; when it finds them equal, this is said no more.",
		"Another program has changed rows of %s, last in version %d", target, *foreign)}
}
