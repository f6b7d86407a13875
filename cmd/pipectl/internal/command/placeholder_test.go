package command

import (
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/schema"
)

// What a plugin says of the known part of a body counts beside a placeholder;
// what it says of the placeholder, or because of it, does not.
func TestAPlaceholderHidesNoOtherFault(t *testing.T) {
	t.Parallel()
	text := func(name string) schema.Attribute { return schema.Attribute{Name: name, Type: cty.String} }
	key := schema.Body{Attributes: []schema.Attribute{text("region"), text("key")}}
	s := schema.Body{
		Attributes: []schema.Attribute{
			text("url"), text("timeout"), text("password"), text("user"), text("host"), {Name: "list", Type: cty.List(cty.String)},
			{Name: "at", Type: cty.List(cty.String)}, {Name: "trust", Type: cty.Bool},
			{Name: "port", Type: cty.Number, Required: true}, {Name: "must", Type: cty.List(cty.String), Required: true},
			{Name: "zone", Type: cty.String, Default: cty.StringVal("auto")}, {Name: "mode", Type: cty.String, Required: true, Values: []string{"a", "b"}},
		},
		Blocks: []schema.Block{{Name: "s3", Body: key}, {Name: "mirror", Repeated: true, Body: key}, {Name: "mount", Labeled: true, Body: key},
			{Name: "no_mirror", Repeated: true, Body: key}, {Name: "gcs", Body: key}},
	}
	part := cty.ObjectVal(map[string]cty.Value{"region": cty.StringVal("mars"), "key": cty.UnknownVal(cty.String)})
	body := cty.ObjectVal(map[string]cty.Value{
		"url": cty.UnknownVal(cty.String), "timeout": cty.StringVal("1"), "password": cty.StringVal("x"), "user": cty.UnknownVal(cty.String),
		"host": cty.NullVal(cty.String), "port": cty.UnknownVal(cty.Number), "trust": cty.UnknownVal(cty.Bool), "list": cty.UnknownVal(cty.List(cty.String)),
		"must": cty.UnknownVal(cty.List(cty.String)), "zone": cty.UnknownVal(cty.String), "mode": cty.UnknownVal(cty.String),
		"s3": part, "mirror": cty.ListVal([]cty.Value{part}), "mount": cty.MapVal(map[string]cty.Value{"a": part}),
		"no_mirror": cty.ListValEmpty(key.ImpliedType()), "gcs": cty.NullVal(key.ImpliedType()),
		"at": cty.ListVal([]cty.Value{cty.StringVal("a"), cty.UnknownVal(cty.String)}),
	})
	ask := func(v cty.Value) diag.List {
		if !v.IsWhollyKnown() {
			t.Fatalf("a plugin was asked about %#v", v)
		}
		if !v.Type().Equals(s.ImpliedType()) {
			t.Fatalf("a plugin was asked about a %#v", v.Type())
		}
		for _, name := range []string{"port", "must", "zone", "mode"} {
			if v.GetAttr(name).IsNull() {
				t.Fatalf("%s is never null: %#v", name, v)
			}
		}
		if v.GetAttr("zone").AsString() != "auto" || v.GetAttr("mode").AsString() != "a" {
			t.Fatalf("%#v", v)
		}
		var list diag.List
		fault := func(code string, path ...any) {
			list = append(list, diag.Errorf(diag.KindConfiguration, code, "", "%s", code).At(path...))
		}
		fault("timeout", "timeout") // stays
		fault("region", "s3", "region")
		fault("mirror", "mirror", 0, "region")
		fault("mount", "mount", "a", "region")
		fault("first", "at", 0)
		fault("url", "url") // of placeholders
		fault("key", "s3", "key")
		fault("second", "at", 1)
		fault("third", "at", 7)
		fault("host", "host") // of what is not there
		fault("whole")
		if v.GetAttr("user").IsNull() { // because of placeholders
			fault("password without user", "password")
		} else {
			fault("password with user", "password")
		}
		return list
	}
	var got []string
	for _, d := range settled(s, body, ask) {
		got = append(got, d.Code)
	}
	if want := []string{"timeout", "region", "mirror", "mount", "first"}; !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
}
