package model_test

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/model"
)

func config(change func(*model.Config)) *model.Config {
	c := &model.Config{
		Sources: []model.Source{{Addr: addr.New(addr.Source, "shop"), Type: "mssql", Body: cty.ObjectVal(map[string]cty.Value{
			"host": cty.StringVal("db"), "password": cty.StringVal("x"), "port": cty.NumberIntVal(1433)}),
			Origin: model.Origin{Sensitive: map[string]bool{"password": true}, Defaults: map[string]bool{"port": true}}}},
		Tables:  []model.Table{{Addr: addr.New(addr.Table, "orders"), Source: addr.New(addr.Source, "shop"), Body: cty.EmptyObjectVal}},
		Streams: []model.Stream{{Addr: addr.New(addr.Stream, "orders"), Table: addr.New(addr.Table, "orders"), Target: "bronze.orders", AppID: "bronze.orders"}},
	}
	change(c)
	return c
}

func body(parts map[string]cty.Value) func(*model.Config) {
	return func(c *model.Config) {
		values := c.Sources[0].Body.AsValueMap()
		for name, v := range parts {
			values[name] = v
		}
		c.Sources[0].Body = cty.ObjectVal(values)
	}
}

func TestDigestLeavesOutWhatIsNoStructure(t *testing.T) {
	t.Parallel()
	source, stream := addr.New(addr.Source, "shop"), addr.New(addr.Stream, "orders")
	base := config(func(*model.Config) {})
	for _, c := range []struct {
		name    string
		address addr.Address
		change  func(*model.Config)
		same    bool
	}{
		{"secrets", source, body(map[string]cty.Value{"password": cty.StringVal("y")}), true},
		{"defaults", source, body(map[string]cty.Value{"port": cty.NumberIntVal(5)}), true},
		{"nulls", source, body(map[string]cty.Value{"new": cty.NullVal(cty.String)}), true},
		{"unknown values", source, body(map[string]cty.Value{"new": cty.UnknownVal(cty.String)}), true},
		{"values", source, body(map[string]cty.Value{"host": cty.StringVal("other")}), false},
		{"fractions", source, body(map[string]cty.Value{"share": cty.NumberFloatVal(0.5)}), false},
		{"a connection", stream, body(map[string]cty.Value{"host": cty.StringVal("other")}), true},
		{"default words", stream, func(c *model.Config) {
			c.Streams[0].Bootstrap, c.Streams[0].Granularity, c.Streams[0].OnDataLoss = model.BootstrapNone, model.GranularityHour, model.OnDataLossFail
		}, true},
		{"tags", stream, func(c *model.Config) { c.Streams[0].Tags = []string{"a"} }, true},
		{"a key", stream, func(c *model.Config) { c.Tables[0].Key = []string{"id"} }, false},
	} {
		want, err := base.Digest(c.address)
		if err != nil {
			t.Fatal(err)
		}
		got, err := config(c.change).Digest(c.address)
		if err != nil {
			t.Fatal(err)
		}
		if (got == want) != c.same {
			t.Errorf("%s: the digest is the same: %v, want %v", c.name, got == want, c.same)
		}
	}
}

func TestDigestNeedsTheAddress(t *testing.T) {
	t.Parallel()
	c := config(func(c *model.Config) { c.Tables = nil })
	for _, a := range []addr.Address{addr.New(addr.Stream, "orders"), addr.New(addr.Check, "x"), addr.New(addr.Schedule, "x"), {}} {
		if d, err := c.Digest(a); err == nil {
			t.Errorf("%s has the digest %s", a, d)
		}
	}
}
