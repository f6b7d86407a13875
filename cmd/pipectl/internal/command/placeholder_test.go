package command

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/diag"
)

// What a plugin says of the known part of a body counts beside a placeholder;
// what it says of the placeholder, or because of it, does not.
func TestAPlaceholderHidesNoOtherFault(t *testing.T) {
	t.Parallel()
	body := cty.ObjectVal(map[string]cty.Value{
		"url": cty.UnknownVal(cty.String), "timeout": cty.StringVal("1"), "password": cty.StringVal("x"), "user": cty.UnknownVal(cty.String),
		"host": cty.NullVal(cty.String), "port": cty.UnknownVal(cty.Number), "trust": cty.UnknownVal(cty.Bool), "list": cty.UnknownVal(cty.List(cty.String)),
		"s3": cty.ObjectVal(map[string]cty.Value{"region": cty.StringVal("mars"), "key": cty.UnknownVal(cty.String)}),
		"at": cty.ListVal([]cty.Value{cty.StringVal("a"), cty.UnknownVal(cty.String)}),
	})
	ask := func(v cty.Value) diag.List {
		if !v.IsWhollyKnown() {
			t.Fatalf("a plugin was asked about %#v", v)
		}
		var list diag.List
		fault := func(code string, path ...any) {
			list = append(list, diag.Errorf(diag.KindConfiguration, code, "", "%s", code).At(path...))
		}
		fault("timeout", "timeout") // stays
		fault("region", "s3", "region")
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
	for _, d := range settled(body, ask) {
		got = append(got, d.Code)
	}
	if len(got) != 3 || got[0] != "timeout" || got[1] != "region" || got[2] != "first" {
		t.Errorf("kept %q", got)
	}
}
