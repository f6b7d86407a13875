package command

import (
	"strings"
	"testing"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/model"
	"github.com/pipectl/pipectl/core/plugin"
)

// What a sink cannot do is told before a table is made.
func TestASinkMustMergeAndKeepState(t *testing.T) {
	t.Parallel()
	lake, err := addr.Parse("sink.lake")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		has   plugin.Capabilities
		state string
		want  []string
	}{
		{plugin.Capabilities{Merge: true, Objects: true}, "", nil},
		{plugin.Capabilities{Merge: true}, "/state", nil},
		{plugin.Capabilities{Merge: true}, "", []string{`The sink "heap" keeps no state`}},
		{plugin.Capabilities{Objects: true}, "", []string{`The sink "heap" does not merge rows into its tables`}},
		{plugin.Capabilities{}, "", []string{`The sink "heap" does not merge rows into its tables`, `The sink "heap" keeps no state`}},
	} {
		config := &model.Config{StatePath: tc.state, Sinks: []model.Sink{{Addr: lake, Type: "heap", Plugin: "heap"}}}
		list := capabilities(config, func(name string, role plugin.Role, typ string) plugin.Capabilities {
			if name != "heap" || role != plugin.RoleSink || typ != "heap" {
				t.Errorf("asked for %s %v %s", name, role, typ)
			}
			return tc.has
		})
		var got []string
		for _, d := range list {
			got = append(got, d.Summary)
			if d.Code != "plugin.capability" || d.Detail == "" || d.Address != "sink.lake" {
				t.Errorf("%+v", d)
			}
		}
		if strings.Join(got, "; ") != strings.Join(tc.want, "; ") {
			t.Errorf("%+v, state %q: %q, want %q", tc.has, tc.state, got, tc.want)
		}
	}
}
