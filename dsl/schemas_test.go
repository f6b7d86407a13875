package dsl_test

import (
	"path/filepath"
	"testing"

	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/schema"
	"github.com/pipectl/pipectl/dsl"
)

func text(name string) schema.Attribute { return schema.Attribute{Name: name, Type: cty.String} }

func number(name string) schema.Attribute { return schema.Attribute{Name: name, Type: cty.Number} }

func secret(name string) schema.Attribute {
	return schema.Attribute{Name: name, Type: cty.String, Sensitive: true}
}

// plugins are schemas of the shape that the project's own plugins have, and a
// second source to tell types apart.
func plugins() dsl.Components {
	return dsl.Components{
		{Plugin: "mssql", PluginVersion: "0.1.0", Role: addr.Source, Type: "mssql",
			Connection: schema.Body{Attributes: []schema.Attribute{
				secret("url"), text("host"), text("database"), text("user"), secret("password"), secret("access_token"),
				{Name: "encrypt", Type: cty.String, Default: cty.StringVal("true"), Values: []string{"true", "false", "strict"}},
				text("certificate"), text("source_time_zone"), text("connect_timeout"), text("lock_timeout"),
				{Name: "isolation", Type: cty.String, Values: []string{"snapshot", "read_committed"}},
				{Name: "instance", Type: cty.String, Deprecated: "Write the instance into host."},
			}},
			Object: schema.Body{Attributes: []schema.Attribute{
				text("object"), text("capture_instance"), {Name: "snapshot_keys", Type: cty.List(cty.String)},
				{Name: "hints", Type: cty.Map(cty.Object(map[string]cty.Type{"index": cty.String, "rows": cty.Number}))},
			}},
			Read: schema.Body{Attributes: []schema.Attribute{
				{Name: "partitions", Type: cty.Number, Default: cty.NumberIntVal(1)}, number("batch_rows"),
				{Name: "schema_change_policy", Type: cty.String, Default: cty.StringVal("classify"), Values: []string{"classify", "fail"}},
				{Name: "include_command_id", Type: cty.Bool},
			}}},
		{Plugin: "delta", Role: addr.Sink, Type: "delta", Connection: schema.Body{
			Attributes: []schema.Attribute{
				{Name: "root", Type: cty.String, Required: true, Description: "Folder or object store."},
				{Name: "deletion_vectors", Type: cty.Bool, Default: cty.False}, {Name: "timestamps", Type: cty.String, Default: cty.StringVal("ntz"), Values: []string{"ntz"}},
				text("target_file_size")},
			Blocks: []schema.Block{
				{Name: "s3", Body: schema.Body{Attributes: []schema.Attribute{{Name: "region", Type: cty.String, Required: true}, secret("secret_key")}}},
				{Name: "mount", Labeled: true, Body: schema.Body{Attributes: []schema.Attribute{text("at")}}},
				{Name: "mirror", Repeated: true, Body: schema.Body{Attributes: []schema.Attribute{text("root")}}},
			}}},
		{Plugin: "silver", Role: addr.Silver, Type: "current", Object: schema.Body{Attributes: []schema.Attribute{
			{Name: "clustering", Type: cty.List(cty.String)}}}},
		{Plugin: "reconcile", Role: addr.Check, Type: "reconcile", Object: schema.Body{Attributes: []schema.Attribute{
			number("bucket_rows"), number("sample"), number("sample_seed"), text("report")}}},
		{Plugin: "one", Role: addr.Check, Type: "counts"},
		{Plugin: "two", Role: addr.Check, Type: "counts"},
	}
}

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}

func glob(tb testing.TB, pattern string) []string {
	tb.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		tb.Fatalf("%s: %v, %v", pattern, paths, err)
	}
	return paths
}

// Every name of the core's, built or not, is refused in a plugin's schema, so
// that a later word of the core's breaks no plugin. Only timestamps is a
// sink's as well.
func TestNoPluginMayUseANameOfTheCores(t *testing.T) {
	t.Parallel()
	reserved := dsl.Reserved()
	for _, list := range [][]dsl.BlockType{dsl.Blocks(), dsl.Nested()} {
		for _, b := range list {
			for _, a := range b.Arguments {
				if got, want := slices.Contains(reserved, a.Name), a.Name != "timestamps"; got != want {
					t.Errorf("%s of %s is reserved: %v", a.Name, b.Name, got)
				}
			}
		}
	}
	for _, word := range []string{"health", "mask", "secret", "key_id", "facts", "control", "environment", "datetime_zone", "moved", "removed", "schedule"} {
		if !slices.Contains(reserved, word) {
			t.Errorf("%s is not reserved", word)
		}
	}
}
