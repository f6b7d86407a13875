package delta_test

import (
	"context"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/plugin"
	"github.com/pipectl/pipectl/plugins/sink-delta/delta"
)

func TestValidateConfig(t *testing.T) {
	t.Parallel()
	p := delta.New("test")
	description, err := p.Describe(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := description.Components[0].Connection.Check(nil); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		set  map[string]cty.Value
		path string
		says string
	}{
		"a folder":              {map[string]cty.Value{"root": cty.StringVal("./lake")}, "", ""},
		"a file URL":            {map[string]cty.Value{"root": cty.StringVal("file:///lake")}, "", ""},
		"no root":               {nil, "root", "has no root"},
		"blank root":            {map[string]cty.Value{"root": cty.StringVal(" ")}, "root", "has no root"},
		"an object store":       {map[string]cty.Value{"root": cty.StringVal("s3://bucket/lake")}, "root", `scheme "s3"`},
		"a size":                {map[string]cty.Value{"root": cty.StringVal("l"), "target_file_size": cty.StringVal("64MiB")}, "", ""},
		"a size without a unit": {map[string]cty.Value{"root": cty.StringVal("l"), "target_file_size": cty.StringVal("64")}, "target_file_size", "no size"},
		"a size too small":      {map[string]cty.Value{"root": cty.StringVal("l"), "target_file_size": cty.StringVal("64KiB")}, "target_file_size", "less than 1MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := description.Components[0].Connection.EmptyValue().AsValueMap()
			for k, v := range tc.set {
				body[k] = v
			}
			list, err := p.ValidateConfig(context.Background(), plugin.ComponentID{Role: plugin.RoleSink, Type: "delta"}, plugin.BodyConnection, cty.ObjectVal(body))
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case tc.says == "" && len(list) == 0:
			case tc.says != "" && len(list) == 1 && list[0].Path.String() == tc.path && strings.Contains(list[0].Summary, tc.says) && list[0].Detail != "":
			default:
				t.Fatalf("%+v", list)
			}
		})
	}
}
