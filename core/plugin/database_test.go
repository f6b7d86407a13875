package plugin_test

import (
	"testing"

	"github.com/pipectl/pipectl/core/plugin"
)

func TestADatabaseThatJoinsOrLeavesAGroupIsTheSame(t *testing.T) {
	t.Parallel()
	alone, other := plugin.Database{Identity: "shop:A"}, plugin.Database{Identity: "shop:B"}
	grouped := plugin.Database{Identity: "group:1", Alias: "shop:A"}
	for name, tc := range map[string]struct {
		a, b plugin.Database
		same bool
	}{
		"itself":                          {alone, alone, true},
		"itself in its group":             {grouped, grouped, true},
		"joins and leaves":                {alone, grouped, true},
		"of an older state, in its group": {plugin.Database{Identity: "group:1"}, grouped, true},
		"another replica's name":          {grouped, plugin.Database{Identity: "group:1", Alias: "shop2:A"}, true},
		"two alone":                       {alone, other, false},
		"another one in a group":          {other, grouped, false},
		"a copy in a group of its own":    {grouped, plugin.Database{Identity: "group:2", Alias: "shop:A"}, false},
		"two without an alias":            {plugin.Database{Identity: "group:1"}, plugin.Database{Identity: "group:2"}, false},
		"an older state that left":        {plugin.Database{Identity: "group:1"}, alone, false},
		"nothing known":                   {plugin.Database{}, alone, false},
	} {
		if tc.a.Same(tc.b) != tc.same || tc.b.Same(tc.a) != tc.same {
			t.Errorf("%s: %+v and %+v: not %v both ways", name, tc.a, tc.b, tc.same)
		}
	}
}
