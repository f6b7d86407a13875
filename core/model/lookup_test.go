package model_test

import (
	"testing"

	"github.com/pipectl/pipectl/core/addr"
	"github.com/pipectl/pipectl/core/diag"
	"github.com/pipectl/pipectl/core/model"
)

// What a source says of an argument of the table stands at the table's line,
// whichever step reads it; all else at the step's own block.
func TestLocateFindsTheArgumentOfTheTable(t *testing.T) {
	t.Parallel()
	origin := func(header string, line int, attributes map[string]int) model.Origin {
		o := model.Origin{Header: header, Block: diag.Range{Filename: "shop.hcl", Start: diag.Pos{Line: line}}, Attributes: map[string]diag.Range{}}
		for path, l := range attributes {
			o.Attributes[path] = diag.Range{Filename: "shop.hcl", Start: diag.Pos{Line: l}}
		}
		return o
	}
	table, stream := addr.New(addr.Table, "orders"), addr.New(addr.Stream, "orders")
	silver, check := addr.New(addr.Silver, "orders"), addr.New(addr.Check, "orders")
	cfg := &model.Config{
		Tables:  []model.Table{{Addr: table, Origin: origin(`table "orders"`, 1, map[string]int{"snapshot_keys": 2, "snapshot_keys[1]": 3, "path": 4})}},
		Streams: []model.Stream{{Addr: stream, Table: table, Origin: origin(`stream "orders"`, 10, map[string]int{"path": 11})}},
		Silvers: []model.Silver{{Addr: silver, From: stream, Origin: origin(`silver "orders"`, 20, nil)}},
		Checks:  []model.Check{{Addr: check, Silver: silver, Origin: origin(`check "orders"`, 30, nil)}},
	}
	for _, c := range []struct {
		step    addr.Address
		path    diag.Path
		line    int
		context string
	}{
		{stream, diag.Path{"snapshot_keys"}, 2, `table "orders"`},
		{stream, diag.Path{"snapshot_keys", 1}, 3, `table "orders"`},
		{check, diag.Path{"snapshot_keys", 1}, 3, `table "orders"`},
		{stream, diag.Path{"path"}, 11, `stream "orders"`},
		{stream, diag.Path{"nothing"}, 10, `stream "orders"`},
		{silver, nil, 20, `silver "orders"`},
		{table, diag.Path{"path"}, 4, `table "orders"`},
	} {
		got := cfg.Locate(c.step, diag.List{diag.Errorf(diag.KindConfiguration, "x.y", "", "wrong").At(c.path...)})
		if len(got) != 1 || got[0].Subject == nil || got[0].Subject.Start.Line != c.line || got[0].Context != c.context || got[0].Address != c.step.String() {
			t.Errorf("%s %s: %+v", c.step, c.path, got)
		}
	}
}
