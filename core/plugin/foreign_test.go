package plugin_test

import (
	"context"
	"testing"

	"github.com/pipectl/pipectl/core/plugin"
)

// history is a table of which only the commits are known.
type history struct {
	plugin.Tables
	commits []plugin.Commit
}

func (h history) History(_ context.Context, req plugin.HistoryRequest) ([]plugin.Commit, error) {
	var out []plugin.Commit
	for _, c := range h.commits {
		if c.Version > req.After {
			out = append(out, c)
		}
	}
	return out, nil
}

// A commit that changes rows is another program's unless it names the writer.
func TestChangedByOthers(t *testing.T) {
	t.Parallel()
	commit := func(version int64, changes bool, mark string) plugin.Commit {
		return plugin.Commit{Version: version, DataChange: changes, UserMetadata: mark}
	}
	own, other := `{"writer": "pipectl/silver"}`, `{"writer": "another"}`
	for _, c := range []struct {
		name    string
		commits []plugin.Commit
		known   *int64
		want    int64 // -1 = none
	}{
		{"ours", []plugin.Commit{commit(3, true, own)}, nil, -1},
		{"another's", []plugin.Commit{commit(3, true, other)}, nil, 3},
		{"without a mark", []plugin.Commit{commit(3, true, ""), commit(4, true, own)}, nil, 3},
		{"upkeep", []plugin.Commit{commit(3, false, "")}, nil, -1},
		{"before the position", []plugin.Commit{commit(2, true, other), commit(3, true, own)}, nil, -1},
		{"known before", []plugin.Commit{commit(3, true, own)}, new(int64(1)), 1},
		{"a gap", []plugin.Commit{commit(5, true, own)}, nil, 4},
	} {
		newest := c.commits[len(c.commits)-1].Version
		position := plugin.TargetPosition{Version: new(int64(2)), Foreign: c.known}
		got, err := plugin.ChangedByOthers(t.Context(), history{commits: c.commits}, plugin.TableState{Exists: true, Version: newest}, position, "pipectl/silver")
		if err != nil || (got == nil) != (c.want == -1) || got != nil && *got != c.want {
			t.Errorf("%s: %v, %v, want %d", c.name, got, err, c.want)
		}
	}
	position := plugin.TargetPosition{}
	if got, err := plugin.ChangedByOthers(t.Context(), nil, plugin.TableState{Exists: true, Version: 5}, position, "w"); got != nil || err != nil {
		t.Errorf("a position without a version: %v, %v", got, err)
	}
}
