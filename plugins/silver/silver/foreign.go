package silver

import (
	"encoding/json"
	"fmt"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/plugin"
)

// writer marks the commits of this plugin, by its name.
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

// warnForeign says that another writer changed rows.
func warnForeign(target string, foreign *int64) diag.List {
	if foreign == nil {
		return nil
	}
	return diag.List{plugin.ForeignCommit(target, *foreign)}
}
